# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # ci/softroce sets the options
# Runs on the host itself, on an existing device or on one created for the run.

address_of() { # FAMILY NETDEV
	ip -o "-$1" addr show dev "$2" scope global 2>/dev/null |
		sed -n '1s|.* inet6* \([^/ ]*\).*|\1|p'
}

# Sets device to an active device with an address. Skips devices of other runs, which may vanish.
native_device() {
	local port netdev
	((EUID == 0)) || return
	for port in /sys/class/infiniband/*/ports/*; do
		device=${port#/sys/class/infiniband/} device=${device%%/*}
		[[ $device != softroce* ]] || continue
		[[ $native ]] || native_is_software "$device" || continue
		grep -qs ACTIVE "$port/state" || continue
		native_opens "$device" || continue
		netdev=$(cat "$port/gid_attrs/ndevs/0" 2>/dev/null) ||
			netdev=$(basename "$port"/../../device/net/*)
		native_address "$netdev" && return
	done
	native_make
}

# Runs may change the settings of a device, so hardware is used only with --native. Only Soft-RoCE
# has the file "parent" (see core/verbs/device_kind.c).
native_is_software() { # DEVICE
	local class=/sys/class/infiniband/$1
	[[ -e $class/parent || $(cat "$class/node_desc" 2>/dev/null) == "Software iWARP stack" ]]
}

# A container may see devices of the host without having their device nodes.
native_opens() { # DEVICE
	local node
	for node in /sys/class/infiniband_verbs/uverbs*; do
		[[ $(cat "$node/ibdev" 2>/dev/null) == "$1" ]] || continue
		node=/dev/infiniband/${node##*/}
		[[ -r $node && -w $node ]] && return
	done
	return 1
}

native_address() { # NETDEV
	interface=$1
	address=$(address_of 4 "$interface")
	address6=$(address_of 6 "$interface")
	[[ $address ]]
}

native_make() {
	local n
	native_made='' native_loaded=''
	if [[ ! -d /sys/module/rdma_rxe ]]; then
		modprobe -q rdma_rxe 2>/dev/null || return
		native_loaded=1
	fi
	modprobe -qa rdma_ucm ib_uverbs veth 2>/dev/null
	trap 'name_results $?; native_unmake' EXIT
	for n in {1..99}; do
		ip link add "softroce$n" mtu 4200 type veth peer name "softroce$n-b" mtu 4200 \
			2>/dev/null && native_made=softroce$n && break
	done
	[[ $native_made ]] &&
		ip link set "$native_made-b" up && ip link set "$native_made" up &&
		ip addr add "10.88.$n.1/24" dev "$native_made" &&
		ip addr add "fd88:$n::1/64" dev "$native_made" nodad &&
		rdma link add "$native_made" type rxe netdev "$native_made" 2>/dev/null &&
		device=$native_made && native_address "$native_made" && return
	native_unmake
	trap 'name_results $?' EXIT
	return 1
}

native_unmake() {
	if [[ ${native_made-} ]]; then
		rdma link delete "$native_made" 2>/dev/null || :
		ip link delete "$native_made" 2>/dev/null || :
		native_made=
	fi
	[[ ! ${native_loaded-} ]] || modprobe -qr rdma_rxe 2>/dev/null || :
}

native_cleanup() { # STATUS
	kill -TERM "$command" 2>/dev/null || :
	wait "$command" || :
	# timeout leads a process group, which is killed as a whole.
	kill -KILL -- "-$command" 2>/dev/null || :
	kill "$follower" 2>/dev/null || :
	native_unmake
	name_results "$1"
}

native_run() { # COMMAND...
	local status=0 fault
	export SOFTROCE_ACCEL=native SOFTROCE_HOSTS=1 SOFTROCE_DEVICE=$device
	export SOFTROCE_NETDEV=$interface SOFTROCE_ADDRESS=$address SOFTROCE_ADDRESS6=$address6
	ulimit -l unlimited 2>/dev/null || :
	dmesg --follow-new >"$OUT/dmesg.txt" 2>/dev/null &
	follower=$!
	timeout --kill-after=5 "$timeout" "$@" </dev/null &
	command=$!
	trap 'native_cleanup $?' EXIT
	wait "$command" || status=$?
	sleep 0.1
	# timeout kills a command that ignores SIGTERM.
	((status != 137 || SECONDS < timeout)) || status=124
	((status != 124)) || say "the time limit of $timeout s expired; see --timeout"
	fault=$(fault_in "$OUT/dmesg.txt") || :
	if [[ $fault ]]; then
		say "the kernel reported a fault: $fault"
		status=123
	fi
	exit "$status"
}
