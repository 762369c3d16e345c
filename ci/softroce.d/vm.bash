# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # ci/softroce sets the options
# Virtual machines: the choice of the accelerator, the start, the wait for the
# command, the end. The guests write lines "HOST WORD..." into a pipe:
# up (the kernel runs), ready, say TEXT, fail TEXT, exit STATUS BYTES BYTES.

. "$parts/attach.bash"
. "$parts/modules.bash"

qemu="qemu-system-x86_64"
kvm_boot_limit=15
tcg_boot_limit=60

vm_tools() {
	local tool
	[[ $(uname -m) == x86_64 ]] ||
		die "machines are of x86-64 so far: here a device of the kernel's (--native), or soft0"
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
	((memory >= 384)) || die "$memory MB are too little memory for a machine"
	((memory * hosts <= available)) || die "there are only $available MB of memory"
	[[ ! $virtual ]] || cpus=1
	[[ $cpus ]] || cpus=$(($(nproc) < 4 ? $(nproc) : 4))
}

# What a failed start with KVM is remembered by: another kernel, QEMU or machine
# gets another try.
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
		say "/dev/kvm is not permitted and emulation is slower: a udev rule mends it," \
			"KERNEL==\"kvm\", GROUP=\"kvm\", MODE=\"0666\", OPTIONS+=\"static_node=kvm\""
		return
	fi
	kvm_fails=$cache/no-kvm/$(kvm_key)
	# It may have been busy, or slow for once.
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
	# Emulation starves: what looks like a stall is the host's load.
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
	# Of each instruction 2^2 ns.
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

# Whether one of the processes has ended.
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
		say "the time was over after $timeout s"
		exit 124
	}
}

# Sets line to the next one; fails when it has not come within half a second. A read
# that times out in the midst of a line has taken what there was of it.
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

# Waits until every machine has said WORD; sets rest to the last one's words.
# Fails when a machine ends or LIMIT seconds are over.
await() { # WORD COUNT LIMIT
	local host word line left=$2 limit=$((SECONDS + $3)) gone=
	while ((left)); do
		if ! next_line; then
			out_of_time
			# What a machine wrote before it ended still counts.
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
		echo "it says nothing"
}

# The console has the log of a machine that could not write its own.
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
	# Its time tells nothing of that here.
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
	# An emulated kernel has been seen to stand still a second into its boot.
	vm_boot || { ! ended "${vms[@]}" && vm_kill && vm_boot; } || {
		end_logs
		die "the kernel did not come up: $(last_words | tail -n 1)"
	}
	[[ ${kvm_fails-} && ! -e $kvm_fails ]] || return 0
	say "KVM does not boot this kernel here, which is remembered for a day: going on with" \
		"emulation; to try again before that, rm $kvm_fails"
	{ mkdir -p "${kvm_fails%/*}" && : >"$kvm_fails"; } 2>/dev/null || :
}

written() { # PID
	awk '/^wchar:/ { n = $2 } END { print n + 0 }' "/proc/$1/io" 2>/dev/null
}

# A port holds output back when its reader is slow; the guest cannot know.
flush() { # RELAY BYTES
	while ! ended "$1" "${vms[@]}" && (($(written "$1") < $2)); do
		((SECONDS < timeout)) || break
		sleep 0.02
	done
}

# Ends the machines; what they wrote is still to be had.
vm_end() {
	local tries
	vm_kill
	exec {hold_out}>&- {hold_err}>&-
	# A reader that does not read has had its time; kill fails when all are gone.
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
	run=$(mktemp -d "${TMPDIR:-/tmp}/softroce.XXXXXX") || die "cannot make a temporary folder"
	vms=() relays=()
	trap vm_cleanup EXIT
	mkdir -p "$run/share/first" "$run/share/jobs"
	attempt "write in $run" cp -R "$parts"/{guest,job,keep,call,serve,serve-command,bin} "$run/share"
	PATH=$PATH:/run/softroce/bin describe "$run/share/first" "$@"
	attempt "make pipes in $run" mkfifo "$run/ctl" "$run/out" "$run/err"
	attempt "remove what is in $OUT" rm -f "$OUT"/{dmesg.txt,dmesg-2.txt,processes.txt}
}

relay() {
	# Not cat: newer ones move pages, which the kernel does not count as written.
	LC_ALL=C dd bs=64k status=none <"$run/out" &
	relays+=($!)
	LC_ALL=C dd bs=64k status=none <"$run/err" >&2 &
	relays+=($!)
	# Held open, so that a second try finds the relays still there.
	exec {ctl}<>"$run/ctl" {hold_out}<>"$run/out" {hold_err}<>"$run/err"
}

vm_keep() {
	say "the machine stays until interrupted: ci/softroce --attach $run -- COMMAND"
	trap 'vm_kept; exit "$status"' HUP INT TERM
	while ! ended "${vms[@]}"; do
		sleep 1 &
		wait $! || :
	done
	say "the machine is gone"
	vm_kept
}

# What its kernel said after the first command.
vm_kept() {
	tr -d '\r' <"$run/console-1" >"$OUT/console.txt" 2>/dev/null || :
	vm_judge
}

# A fault makes the run one that failed, however the command ended.
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
		[[ $status ]] || die "the machine ended before the command did: $(last_words | tail -n 1)"
		exit "$status"
	fi
	flush "${relays[0]}" "$out_bytes"
	flush "${relays[1]}" "$err_bytes"
	vm_judge
	[[ ! $keep ]] || vm_keep
	exit "$status"
}
