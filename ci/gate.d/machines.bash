# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # ci/gate-kernels sets the variables
# Machines that stay, each the process of a ci/softroce, and gates between two of them.

declare -A machines=() places=() kernels_of=()
faulty=()

boot() { # NAME KERNEL
	local kernel=(--vm) log=$OUT/machine-$1.log line='' tries
	[[ $2 == - ]] || kernel=(--kernel "${2%%:*}")
	[[ $2 != *:* ]] || kernel+=(--modules "${2#*:}")
	: >"$log" # that is looked at before there is anything in it
	OUT=$OUT/machine-$1 "$ci/softroce" "${kernel[@]}" --cpus 2 --memory "$memory" --keep -- true \
		</dev/null >"$log" 2>&1 &
	machines[$1]=$!
	for ((tries = 0; tries < 3000; tries++)); do
		line=$(sed -n 's/.*ci\/softroce --attach \(.*\) -- COMMAND$/\1/p' "$log")
		[[ ! $line ]] || break
		kill -0 "${machines[$1]}" 2>/dev/null || break
		sleep 0.1
	done
	[[ $line ]] || {
		cat "$log" >&2
		say "the machine of $2 did not come up"
		exit 125
	}
	[[ $line != *[[:blank:]]* ]] || refuse "commands are split at blanks: TMPDIR, $line"
	places[$1]=$line
	kernels_of[$1]=$2
}

end_machine() { # NAME
	local status=0
	kill -TERM "${machines[$1]}" 2>/dev/null || :
	wait "${machines[$1]}" || status=$?
	# Its kernel has told of a fault, whatever the gate found.
	((status != 123)) || {
		grep '^softroce: ' "$OUT/machine-$1.log" | tail -n 1 >&2
		faulty+=("${kernels_of[$1]-}")
	}
	unset "machines[$1]" "places[$1]" "kernels_of[$1]"
}

end_machines() {
	local name
	for name in "${!machines[@]}"; do
		end_machine "$name"
	done
}

# A faulty head is worse, though it has taken the gates with it. Beside a faulty base nothing is
# known of it, which may have the same fault.
finish() {
	local status=$? kernel of_base='' of_head=''
	end_machines
	for kernel in ${faulty[@]+"${faulty[@]}"}; do
		if [[ $kernel == "$base" ]]; then of_base=1; else of_head=1; fi
	done
	[[ ! $of_head ]] || say "the kernel of the head has faults: see $OUT/machine-*/console.txt"
	[[ ! $of_base ]] || say "the kernel of the base has faults: see $OUT/machine-*/console.txt"
	case $of_base:$of_head:$status in
	1:*:[01]) status=3 ;;
	:1:[03]) status=1 ;;
	esac
	exit "$status"
}

gate() { # FOLDER BASE HEAD
	local out=$OUT/$1
	mkdir -p -- "$out"
	"$driver" gate --base "$ci/softroce --attach ${places[$2]} -- $driver" \
		--head "$ci/softroce --attach ${places[$3]} -- $driver" \
		--differs tool,kernel,environment --json "$out/gate.json" --markdown "$out/gate.md" \
		--junit "$out/gate.xml" ${options[@]+"${options[@]}"} </dev/null
}

# No figure of it is beyond its floor, to either side.
is_alike() { # FOLDER
	! grep -q '"verdict": "\(REGRESSED\|IMPROVED\)"' "$OUT/$1/gate.json"
}
