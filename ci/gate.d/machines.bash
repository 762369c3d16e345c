# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # ci/gate-kernels sets the variables
# Virtual machines, each kept by a ci/softroce process, and gates between two of them.

declare -A machines=() places=() kernels_of=() folders=()
booted=0 fault_of_base='' fault_of_head=''

# Boots a machine and sets places[NAME]. Each boot gets its own output folder, even for one NAME.
boot() { # NAME KERNEL
	local folder=$OUT/machine-$((++booted)) kernel=() line='' tries
	local log=$folder.log
	[[ $2 == - ]] || kernel=(--kernel "${2%%:*}")
	[[ $2 != *:* ]] || kernel+=(--modules "${2#*:}")
	kernels_of[$1]=$2 folders[$1]=$folder
	: >"$log" # the loop below reads it before ci/softroce writes to it
	OUT=$folder "$ci/softroce" "${machine[@]}" ${kernel[@]+"${kernel[@]}"} --memory "$memory" \
		--keep -- true </dev/null >"$log" 2>&1 &
	machines[$1]=$!
	for ((tries = 0; tries < 3000; tries++)); do
		line=$(sed -n 's/.*ci\/softroce --attach \(.*\) -- COMMAND$/\1/p' "$log")
		[[ ! $line ]] || break
		kill -0 "${machines[$1]}" 2>/dev/null || break
		sleep 0.1
	done
	[[ $line ]] || {
		cat "$log" >&2
		say "the machine with kernel $2 did not boot"
		exit 125
	}
	[[ $line != *[[:blank:]]* ]] ||
		refuse "the machine folder '$line' contains a blank; set TMPDIR to a path without blanks"
	places[$1]=$line
}

end_machine() { # NAME
	local status=0
	kill -TERM "${machines[$1]}" 2>/dev/null || :
	wait "${machines[$1]}" || status=$?
	# The kernel reported a fault, which overrides the verdict of the gate.
	if ((status == 123)); then
		grep '^softroce: ' "${folders[$1]}.log" | tail -n 1 >&2
		if [[ ${kernels_of[$1]} == "$base" ]]; then
			fault_of_base=${folders[$1]}
		else
			fault_of_head=${folders[$1]}
		fi
	fi
	unset "machines[$1]" "places[$1]" "kernels_of[$1]" "folders[$1]"
}

end_machines() {
	local name
	for name in "${!machines[@]}"; do
		end_machine "$name"
	done
}

# A fault of the head is a regression, even if it broke the gate. A fault of the base says nothing
# about the head, which may have the same fault.
finish() {
	local status=$?
	end_machines
	[[ ! $fault_of_head ]] ||
		say "the kernel of the head reported faults: see $fault_of_head/console.txt"
	[[ ! $fault_of_base ]] ||
		say "the kernel of the base reported faults: see $fault_of_base/console.txt"
	case ${fault_of_base:+base}:${fault_of_head:+head}:$status in
	base:*:[01]) status=3 ;;
	:head:[03]) status=1 ;;
	esac
	exit "$status"
}

# Facts that depend on the kernel and may differ between two otherwise identical machines.
differs=tool,kernel,device,port,netdev,flow,iommu,cpu,frequency,idle,numa,clock,cgroup,environment

gate() { # FOLDER BASE HEAD
	local out=$OUT/$1
	mkdir -p -- "$out"
	"$driver" gate --base "$ci/softroce --attach ${places[$2]} -- $driver" \
		--head "$ci/softroce --attach ${places[$3]} -- $driver" \
		--differs "$differs" --json "$out/gate.json" --markdown "$out/gate.md" \
		--junit "$out/gate.xml" ${options[@]+"${options[@]}"} </dev/null
}

# Returns whether no figure is better or worse.
is_alike() { # FOLDER
	! grep -q '"verdict": "\(worse\|better\)"' "$OUT/$1/gate.json"
}
