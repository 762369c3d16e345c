# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # ci/softroce sets the options
# The end of a run: finds faults in the kernel log and reports where the results are.

faults='(^|[^[:alnum:]_])(WARN|WARNING|BUG|UBSAN|KASAN|KCSAN|KMSAN|KFENCE): |kernel BUG at'
faults+='|Oops: |general protection fault[:,]|Kernel panic - not syncing'
faults+='|INFO: (possible|suspicious|task .* blocked|rcu.* stall)|suspicious RCU usage'
faults+='|inconsistent lock state|refcount_t: |detected stalls? on'

# Prints the first line of the logs that reports a fault.
fault_in() { # FILE...
	grep -hsaEm 1 "$faults" "$@" | head -n 1 | sed 's/^\[[^]]*\] *//; s/\r$//'
}

# Removes a folder for results that was created for this run if it contains nothing of interest.
name_results() { # STATUS
	[[ $made_out ]] || return 0
	if [[ $(find "$OUT" -mindepth 1 ! -name 'dmesg*.txt' -print -quit) ]] ||
		{ (($1 >= 123 && $1 <= 125)) && [[ -s $OUT/dmesg.txt ]]; }; then
		say "the results are in $OUT"
	else
		rm -rf "$OUT"
	fi
}
