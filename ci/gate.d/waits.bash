# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034 # for who sources it
# How ends wait that share the one processor of ci/softroce --virtual-time: those that spin for each
# other do not get on there.

waits=()
wait_by_events() { # OPTION OF verbmark...
	waits=(--cq event)
	[[ " $* " != *' --cq'[\ =]* && " $* " != *' --plan'[\ =]* ]] || waits=()
}
