# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Code shared by the scripts of ci/softroce.

PATH=$PATH:/usr/sbin:/sbin
# shellcheck disable=SC2034
cache=${XDG_CACHE_HOME:-${HOME:-~}/.cache}/verbmark

say() {
	printf 'softroce: %s\n' "$*" >&2
}

die() {
	say "$@"
	exit 125
}

# Runs a command without output. If it fails, dies with its last line of output as the reason.
attempt() { # WHAT COMMAND...
	local what=$1 output
	shift
	output=$("$@" 2>&1) && return
	[[ $output != *"No space left on device"* ]] || output="No space left on device"
	die "cannot $what: ${output##*$'\n'}"
}
