# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # ci/gate-kernels sets the variables
# Machines that stay, each the process of a ci/softroce, and gates between two of them.

declare -A machines=() places=()

boot() { # NAME KERNEL
	local kernel=(--vm) log=$OUT/machine-$1.log line='' tries
	[[ $2 == - ]] || kernel=(--kernel "${2%%:*}")
	[[ $2 != *:* ]] || kernel+=(--modules "${2#*:}")
	: >"$log" # that is looked at before there is anything in it
	OUT=$OUT/machine-$1 "$ci/softroce" "${kernel[@]}" --cpus 2 --memory "$memory" --keep -- true \
		</dev/null >"$log" 2>&1 &
	machines[$1]=$!
	for ((tries = 0; tries < 3000; tries++)); do
		line=$(sed -n 's/.*ci\/softroce --attach \([^ ]*\) -- COMMAND$/\1/p' "$log")
		[[ ! $line ]] || break
		kill -0 "${machines[$1]}" 2>/dev/null || break
		sleep 0.1
	done
	[[ $line ]] || {
		cat "$log" >&2
		say "the machine of $2 did not come up"
		exit 125
	}
	places[$1]=$line
}

end_machine() { # NAME
	kill -TERM "${machines[$1]}" 2>/dev/null || :
	wait "${machines[$1]}" || :
	unset "machines[$1]" "places[$1]"
}

end_machines() {
	local name
	for name in "${!machines[@]}"; do
		end_machine "$name"
	done
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
