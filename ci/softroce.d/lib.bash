# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What the scripts of ci/softroce share.

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

# Runs a command quietly; when it fails, the last line it wrote says why.
attempt() { # WHAT COMMAND...
	local what=$1 output
	shift
	output=$("$@" 2>&1) && return
	[[ $output != *"No space left on device"* ]] || output="No space left on device"
	die "cannot $what: ${output##*$'\n'}"
}
