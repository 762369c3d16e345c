# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # ci/softroce sets the options
# Virtual machines: chooses the accelerator, boots, waits for the command and cleans up. The guests
# write lines "HOST WORD..." to a pipe: up (the kernel runs), ready, say TEXT, fail TEXT, and
# exit STATUS BYTES BYTES.

. "$parts/attach.bash"
. "$parts/modules.bash"

qemu="qemu-system-x86_64"
kvm_boot_limit=15
tcg_boot_limit=60

vm_tools() {
	local tool
	[[ $(uname -m) == x86_64 ]] ||
		die "virtual machines require x86-64; use --native or the device soft0"
	for tool in "$qemu" busybox modprobe cpio rdma /etc/libibverbs.d/rxe.driver; do
		[[ -e $tool ]] || command -v "$tool" >/dev/null || {
			"$ci/setup" softroce || exit 125
			break
		}
	done
}

# Sets image, base and version: the kernel, and base/lib/modules/version.
vm_kernel() {
	local found
	version=
	if [[ ! $kernel ]]; then
		base=$("$parts/kernel") || exit 125
		image=$base/image
		version=$(basename "$base"/lib/modules/*)
		return
	fi
	image=$kernel base=$run
	[[ -r $image ]] || die "cannot read the kernel $image"
	[[ $modules ]] || return 0
	find_modules "$modules" || die "$(no_modules "$modules")"
	found=$(realpath "$found")
	version=${found##*/}
	mkdir -p "$run/lib/modules"
	ln -s "$found" "$run/lib/modules/$version"
}

vm_size() {
	local available
	available=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
	case $memory in
	'') memory=$((available / 2 / hosts < 4096 ? available / 2 / hosts : 4096)) ;;
	*G) memory=$((${memory%G} * 1024)) ;;
	*M) memory=${memory%M} ;;
	esac
	((memory >= 384)) || die "--memory: a virtual machine needs at least 384 MB, not $memory MB"
	((memory * hosts <= available)) ||
		die "not enough memory: $hosts machines of $memory MB, but only $available MB are available"
	[[ ! $virtual ]] || cpus=1
	[[ $cpus ]] || cpus=$(($(nproc) < 4 ? $(nproc) : 4))
}

# Prints the key of a failed start with KVM. It depends on the kernel, QEMU and the machine, so that
# KVM is tried again after any of them changes.
kvm_key() {
	{
		stat -L -c '%n %s %Y' "$image" "$(command -v "$qemu")"
		uname -r
		grep -m 1 '^model name' /proc/cpuinfo
	} | sha256sum | cut -c 1-16
}

choose_accel() {
	accel=tcg
	[[ ! $virtual ]] || accel=icount
	[[ $accel == tcg && -e /dev/kvm ]] || return 0
	if [[ ! -r /dev/kvm || ! -w /dev/kvm ]]; then
		say "no permission for /dev/kvm, using slower emulation; to permit it, add the udev rule" \
			"KERNEL==\"kvm\", GROUP=\"kvm\", MODE=\"0666\", OPTIONS+=\"static_node=kvm\""
		return
	fi
	kvm_fails=$cache/no-kvm/$(kvm_key)
		# Forget a failure after a day: the machine may have been busy.
	[[ ! $(find "$kvm_fails" -mmin +1440 2>/dev/null) ]] || rm -f "$kvm_fails"
	[[ -e $kvm_fails ]] || accel=kvm
}

share_of() { # ID FOLDER OPTIONS: QEMU doubles a comma
	qemu_args+=(
		-fsdev "local,id=$1,path=${2//,/,,},security_model=none,multidevs=remap$3"
		-device "virtio-9p-pci,fsdev=$1,mount_tag=$1"
	)
}

port() { # NUMBER ID
	qemu_args+=(
		-chardev "file,id=$2,path=${run//,/,,}/$2"
		-device "virtserialport,bus=ports.0,nr=$1,chardev=$2"
	)
}

link() { # HOST ID MAC
	local server=on
	(($1 == 1)) || server=off
	qemu_args+=(
		-netdev "stream,id=$2,server=$server,addr.type=unix,addr.path=${run//,/,,}/$2"
		-device "virtio-net-pci,netdev=$2,mac=$3,host_mtu=4200"
	)
}

vm_start() { # HOST
	local cpu=max line tries
	line="console=ttyS0 loglevel=5 log_buf_len=4M panic=-1 oops=panic mitigations=off"
	line+=" tsc=reliable clocksource=tsc random.trust_cpu=on SOFTROCE_HOST=$1"
	# An emulated guest may appear to stall when the host is busy.
	[[ $accel == kvm ]] || line+=" watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=120"
	[[ $accel != kvm ]] || cpu=host
	# shellcheck disable=SC2054
	qemu_args=(
		-accel "${accel/icount/tcg}" -cpu "$cpu" -smp "$cpus" -m "$memory"
		-machine q35 -nodefaults -display none -no-reboot
		-kernel "$image" -initrd "$initramfs" -append "$line"
		-serial "file:$run/console-$1"
		-device virtio-serial-pci,id=ports
	)
	# Each instruction takes 2^2 ns.
	[[ $accel != icount ]] || qemu_args+=(-icount "shift=2${skip_waits:+,sleep=off}")
	share_of root / ,readonly=on
	share_of run "$run/share" ''
	share_of out "$OUT" ''
	[[ ! $version ]] || share_of modules "$base/lib/modules/$version" ,readonly=on
	port 3 ctl
	if (($1 == 1)); then
		port 1 out
		port 2 err
	fi
	if ((hosts == 2)); then
		link "$1" data "52:54:00:88:00:0$1"
		link "$1" control "52:54:00:88:01:0$1"
	fi
	setpriv --pdeathsig KILL -- "$qemu" "${qemu_args[@]}" \
		</dev/null >"$run/qemu-$1" 2>&1 {ctl}>&- {hold_out}>&- {hold_err}>&- &
	vms[$1]=$!
	((hosts == 2 && $1 == 1)) || return 0
	for ((tries = 0; tries < 100; tries++)); do
		[[ ! -S $run/control ]] || break
		sleep 0.05
	done
}

vm_kill() {
	local pid
	for pid in "${vms[@]}"; do
		kill -KILL "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
	done
	vms=()
	rm -f "$run/data" "$run/control"
}

# Returns whether at least one of the processes has ended.
ended() { # PID...
	local pid
	for pid; do
		kill -0 "$pid" 2>/dev/null || return 0
	done
	return 1
}

out_of_time() {
	((SECONDS < timeout)) || {
		vm_end
		say "the time limit of $timeout s expired; see --timeout"
		exit 124
	}
}

# Sets line to the next line; fails if none arrives within half a second. A read that times out may
# return the first part of a line, which is kept in pending.
next_line() {
	local part=
	if IFS= read -r -t 0.5 -u "$ctl" part; then
		line=$pending$part
		pending=
		return
	fi
	pending+=$part
	return 1
}

# Waits until COUNT machines have sent WORD; sets rest to the words after the last one. Fails if a
# machine ends or LIMIT seconds pass.
await() { # WORD COUNT LIMIT
	local host word line left=$2 limit=$((SECONDS + $3)) gone=
	while ((left)); do
		if ! next_line; then
			out_of_time
			# Lines that a machine wrote before it ended still count.
			[[ ! $gone ]] && ((SECONDS < limit)) || return 1
			ended "${relays[@]}" && exit 141
			! ended "${vms[@]}" || gone=1
			continue
		fi
		read -r host word rest <<<"$line"
		case $word in
		"$1") left=$((left - 1)) ;;
		say) say "$rest" ;;
		fail)
			vm_end
			die "machine $host: $rest"
			;;
		esac
	done
}

last_words() {
	cat "$run"/qemu-* "$run"/console-* 2>/dev/null | tr -d '\r' >"$run/words" || :
	sed -n 's/^softroce: //p; /Kernel panic/p' "$run/words" | grep -a . || grep -a . "$run/words" ||
		echo "no output"
}

# If a machine could not write its log, the log is taken from its console.
end_logs() {
	local n name
	for ((n = 1; n <= hosts; n++)); do
		name=dmesg-$n.txt
		((n > 1)) || name=dmesg.txt
		[[ -s $OUT/$name ]] || tr -d '\r' <"$run/console-$n" >"$OUT/$name" || :
	done 2>/dev/null
}

vm_boot() {
	local n limit=$((tcg_boot_limit * hosts)) end=$((EPOCHSECONDS - SECONDS + timeout))
	pending=
	[[ $accel != kvm ]] || limit=$((kvm_boot_limit * hosts))
	# The clock of the guest runs ahead of the host's.
	[[ ! $skip_waits ]] || end=$((end + timeout * 1000))
	printf '%s=%q\n' OUT "$OUT" HOSTS "$hosts" ACCEL "$accel" END "$end" >"$run/share/settings"
	for ((n = 1; n <= hosts; n++)); do
		vm_start "$n"
	done
	await up "$hosts" "$limit"
}

vm_boot_somehow() {
	choose_accel
	if [[ $accel == kvm ]]; then
		! vm_boot || return 0
		vm_kill
		accel=tcg
	fi
	# Retry once: an emulated kernel sometimes hangs a second into its boot.
	vm_boot || { ! ended "${vms[@]}" && vm_kill && vm_boot; } || {
		end_logs
		die "the kernel did not boot: $(last_words | tail -n 1)"
	}
	[[ ${kvm_fails-} && ! -e $kvm_fails ]] || return 0
	say "KVM cannot boot this kernel here; using emulation for a day; to retry KVM earlier," \
		"run rm $kvm_fails"
	{ mkdir -p "${kvm_fails%/*}" && : >"$kvm_fails"; } 2>/dev/null || :
}

written() { # PID
	awk '/^wchar:/ { n = $2 } END { print n + 0 }' "/proc/$1/io" 2>/dev/null
}

# Waits until the relay has written BYTES: a port buffers output while its reader is slow, which the
# guest cannot see.
flush() { # RELAY BYTES
	while ! ended "$1" "${vms[@]}" && (($(written "$1") < $2)); do
		((SECONDS < timeout)) || break
		sleep 0.02
	done
}

# Kills the machines and lets the relays write the remaining output.
vm_end() {
	local tries
	vm_kill
	exec {hold_out}>&- {hold_err}>&-
	# Give a slow reader 5 seconds. kill fails once all relays have ended.
	for ((tries = 0; tries < 100; tries++)); do
		kill -0 "${relays[@]}" 2>/dev/null || break
		sleep 0.05
	done
	end_logs
}

vm_cleanup() {
	local status=$?
	vm_kill
	kill "${relays[@]}" 2>/dev/null || :
	rm -rf "$run"
	name_results "$status"
}

vm_prepare() { # COMMAND...
	run=$(mktemp -d "${TMPDIR:-/tmp}/softroce.XXXXXX") || die "cannot create a temporary folder"
	vms=() relays=()
	trap vm_cleanup EXIT
	mkdir -p "$run/share/first" "$run/share/jobs"
	attempt "write to $run" cp -R "$parts"/{guest,job,keep,call,serve,serve-command,bin} "$run/share"
	PATH=$PATH:/run/softroce/bin describe "$run/share/first" "$@"
	attempt "create pipes in $run" mkfifo "$run/ctl" "$run/out" "$run/err"
	attempt "remove old results in $OUT" rm -f "$OUT"/{dmesg.txt,dmesg-2.txt,processes.txt}
}

relay() {
	# Not cat: newer versions splice, which the kernel does not count as writing (wchar).
	LC_ALL=C dd bs=64k status=none <"$run/out" &
	relays+=($!)
	LC_ALL=C dd bs=64k status=none <"$run/err" >&2 &
	relays+=($!)
	# The pipes stay open so that the relays survive a second boot.
	exec {ctl}<>"$run/ctl" {hold_out}<>"$run/out" {hold_err}<>"$run/err"
}

vm_keep() {
	say "the machine stays until interrupted: ci/softroce --attach $run -- COMMAND"
	trap 'vm_kept; exit "$status"' HUP INT TERM
	while ! ended "${vms[@]}"; do
		sleep 1 &
		wait $! || :
	done
	say "the machine ended"
	vm_kept
}

# Saves the console, which has the kernel log since the first command.
vm_kept() {
	tr -d '\r' <"$run/console-1" >"$OUT/console.txt" 2>/dev/null || :
	vm_judge
}

# A kernel fault fails the run, whatever the status of the command.
vm_judge() {
	local fault
	end_logs
	fault=$(fault_in "$OUT"/dmesg*.txt "$run"/console-*) || :
	[[ ! $fault ]] || {
		say "the guest's kernel reported a fault: $fault"
		status=123
	}
}

vm_run() { # COMMAND...
	local out_bytes err_bytes
	vm_tools
	vm_prepare "$@"
	vm_kernel
	initramfs=$("$parts/initramfs" ${version:+"$base" "$version"}) || exit 125
	vm_size
	relay
	vm_boot_somehow
	status=
	await ready "$hosts" 120 && await exit 1 "$timeout" &&
		read -r status out_bytes err_bytes <<<"$rest"
	if [[ ! $status ]]; then
		vm_end
		vm_judge
		[[ $status ]] || die "the machine ended before the command: $(last_words | tail -n 1)"
		exit "$status"
	fi
	flush "${relays[0]}" "$out_bytes"
	flush "${relays[1]}" "$err_bytes"
	vm_judge
	[[ ! $keep ]] || vm_keep
	exit "$status"
}
