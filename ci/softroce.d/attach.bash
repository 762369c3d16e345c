# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # ci/softroce sets the options
# Runs another command on a machine that --keep keeps. The command and its output travel through the
# shared folder.

describe() { # FOLDER COMMAND...
	env -0 >"$1/environ"
	printf '%s\0' "$PWD" >"$1/cwd"
	printf '%s\0' "${@:2}" >"$1/command"
}

attach_run() { # COMMAND...
	local jobs=$attach/share/jobs new job waiter status
	[[ -d $jobs ]] || die "no machine is kept in $attach"
	new=$(mktemp -d "$jobs/making.XXXXXX") || die "cannot write to $jobs"
	job=$jobs/job.${new##*.}
	describe "$new" "$@"
	touch "$new/in" "$new/out" "$new/err"
	# Only a file is copied: any other standard input may never end.
	[[ ! -f /dev/stdin ]] || cat >"$new/in"
	trap ': 2>/dev/null >"$job/stop"' EXIT
	mv "$new" "$jobs/new.${new##*.}"
	while [[ -d $jobs && ! -e $job/out ]]; do
		sleep 0.1
	done
	while [[ -d $job && ! -e $job/status ]]; do
		sleep 0.1
	done &
	waiter=$!
	tail -c +1 -s 0.1 --pid="$waiter" -f "$job/out" &
	tail -c +1 -s 0.1 --pid="$waiter" -f "$job/err" >&2 &
	wait
	status=$(cat "$job/status" 2>/dev/null) || die "the machine is gone"
	trap - EXIT
	rm -rf "$job"
	exit "$status"
}
