# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034 # used by the scripts that source this file
# Completion mode for --virtual-time: client and server share one emulated CPU, where two processes
# that poll for each other make almost no progress.

waits=()
wait_by_events() { # OPTION OF verbmark...
	waits=(--cq event)
	[[ " $* " != *' --cq'[\ =]* && " $* " != *' --plan'[\ =]* ]] || waits=()
}
