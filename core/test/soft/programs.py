# SPDX-License-Identifier: MIT
"""
Unmodified third-party programs on soft0, or on the device of ci/softroce. Each row of a table is a
server and a client in two processes. Checks the output of the programs, their data (payload.c does
so for programs that do not), and that no process leaves files in soft0's directory.
"""

import glob
import os
import re
import shutil
import struct
import subprocess
import tempfile
import time
import unittest

DEVICE = os.environ.get("SOFTROCE_DEVICE", "soft0")
IS_SOFT = DEVICE == "soft0"
ADDRESS = os.environ.get("SOFTROCE_ADDRESS", "127.0.0.1")
ADDRESS6 = os.environ.get("SOFTROCE_ADDRESS6", "::1")
# Soft-RoCE lists its link-local GID first, and then the GID of its IPv4 address.
GID = 0 if IS_SOFT else 1
SOFTRDMA = os.environ["VERBMARK"]
PAYLOAD = os.environ.get("PAYLOAD_LIBRARY")
LIBRARY = os.path.join(os.path.dirname(SOFTRDMA), "libverbmark-soft.so")
PATIENCE = 300
JUDGES = (
    "ibv_devices ibv_devinfo ibv_rc_pingpong ibv_uc_pingpong ibv_ud_pingpong "
    "ibv_srq_pingpong ibv_xsrq_pingpong ib_send_lat ib_send_bw ib_write_lat ib_write_bw ib_read_lat "
    "ib_read_bw ib_atomic_lat ib_atomic_bw rping ucmatose udaddy rdma_client rdma_server mckey"
).split()

PINGPONGS = [
    f"ibv_{kind}_pingpong -g {GID}{options}"
    for kind in ("rc", "uc", "ud", "srq")
    for options in ("", " -e", " -c", " -e -c", " -n 200 -s 1 -c", " -n 200 -s 2048 -c -e")
] + [
    f"ibv_rc_pingpong -g {GID} -n 50 -s 1048576 -c",
    f"ibv_rc_pingpong -g {GID} -t -c",
    f"ibv_rc_pingpong -g {GID} -N -c",
    f"ibv_rc_pingpong -g {GID} -r 1 -n 20 -c",
    f"ibv_rc_pingpong -g {GID} -m 256 -c",
    f"ibv_rc_pingpong -g {3 if IS_SOFT else 2} -c",
    f"ibv_srq_pingpong -g {GID} -q 64 -r 700 -c",
    f"ibv_xsrq_pingpong -g {GID}",
    f"ibv_xsrq_pingpong -g {GID} -e -s 65536",
]

PERFTESTS = (
    [
        f"ib_{name}_{kind} -n 500{options}"
        for name, kinds in (
            ("send", ("lat", "bw")),
            ("write", ("lat", "bw")),
            ("read", ("lat", "bw")),
            ("atomic", ("lat", "bw")),
        )
        for kind in kinds
        for options in ((" -s 64", " -s 4096") if name != "atomic" else ("", " -A CMP_AND_SWAP"))
    ]
    + [f"ib_{name}_bw -n 500 -b -q 8 -s 1024" for name in ("send", "write", "read")]
    + ["ib_atomic_bw -n 500 -b -q 8"]
    # For each size, they calibrate the CPU clock for a quarter of a second.
    + [f"ib_{name} -n 20 -a" for name in ("send_lat", "write_bw")]
    + [f"ib_{name} -n 20 -s 8388608" for name in ("write_lat", "read_lat")]
    + [
        "ib_send_lat -n 500 -e -s 64",
        "ib_read_lat -n 500 -e -s 64",
        "ib_atomic_lat -n 500 -e",
        "ib_send_bw -n 500 -e",
        "ib_read_bw -n 500 -e",
        "ib_send_lat -n 500 -c UC -s 64",
        "ib_send_lat -n 500 -c UD -s 64",
        "ib_send_bw -n 500 -c UC -r 512 -t 64",
        "ib_send_bw -n 500 -c UD -s 2048 -r 512 -t 64",
        "ib_write_lat -n 500 -c UC -s 64",
        "ib_write_bw -n 500 -c UC",
        "ib_send_lat -n 500 --use-srq -s 64",
        "ib_send_bw -n 500 --use-srq -q 4",
        "ib_write_bw -n 512 -l 8",
        "ib_send_lat -n 500 -I 64 -s 64",
        "ib_send_bw -n 500 --use_old_post_send",
        "ib_send_lat -n 500 -c XRC -s 64",
        "ib_send_lat -n 500 -c XRC -e -s 4096",
        "ib_send_bw -n 500 -c XRC -q 4",
        "ib_send_bw -n 500 -c XRC -b",
        "ib_write_lat -n 500 -c XRC -s 64",
        "ib_write_bw -n 500 -c XRC -b -q 3",
        "ib_read_lat -n 500 -c XRC",
        "ib_atomic_bw -n 500 -c XRC",
        "ib_send_lat -n 500 -c UD -s 64 -g",
        # The server waits for every message.
        "ib_send_bw -n 500 -c UD -s 2048 -g -r 512 -M 0:0:0:0:0:0:0:0:0:0:255:255:239:1:2:3",
        "ib_write_bw -n 500 -s 4096 -W counters/port_xmit_packets,hw_counters/sent_pkts",
    ]
)

CONNECTIONS = [
    f"{program}{options}"
    for program in (f"rping -a {ADDRESS}", f"rping -a {ADDRESS6}", "rping -a HOST")
    for options in (" -C 10 -V -v", " -C 10 -S 300 -V -v", " -C 3 -S 1000 -V -v -q")
] + [
    "ucmatose",
    "ucmatose -c 20 -C 10 -S 3000",
    "ucmatose -m",
    "ucmatose -t 8 -a 14",
    "udaddy",
    "udaddy -c 5 -C 10 -S 3000",
    "rdma_server",
    "rdma_xserver -c x",
    "rdma_xserver -c r",
]

BY_CONNECTION = [
    f"ib_{name} -R -n 300{options}"
    for name in ("send_lat", "send_bw", "write_lat", "write_bw", "read_lat", "read_bw")
    for options in (" -s 64", " -s 4096")
] + [
    "ib_atomic_lat -R -n 300",
    "ib_atomic_bw -R -n 300 -b",
    "ib_write_bw -R -n 300 -q 8",
    "ib_send_bw -R -n 300 -b -q 4",
    "ib_send_lat -R -n 300 -e -s 64",
    "ib_read_bw -R -n 300 -e",
    "ib_send_lat -R -n 300 -c UD -s 64",
    "ib_send_bw -R -n 300 -c UD -s 2048 -r 512 -t 64",
    "ib_write_lat -R -n 20 -s 8388608",
]


# Groups of mckey, and their GIDs with RoCEv2.
MCKEY_GID = {"239.1.2.3": "::ffff:239.1.2.3", "ff0e::7": "ff0e::7"}


def has_connection_listener(directory):
    """Returns whether the registry (struct soft_registry_port) has an rdma_cm listener."""
    if not IS_SOFT:
        shown = subprocess.run(
            ["rdma", "resource", "show", "cm_id"], capture_output=True, text=True, check=True
        )
        return "state LISTEN" in shown.stdout
    paths = glob.glob(os.path.join(directory, "*", "registry"))
    if not paths:
        return False
    with open(paths[0], "rb") as registry:
        registry.seek(8 + 2048 * 4 + 8)
        table = registry.read(64 * 40)
    table = table[: len(table) // 40 * 40]
    return any(row[0] and row[-1] for row in struct.iter_unpack("=IIQ16sHBBBBxx", table))


def has_listener(port):
    """Returns whether a process listens on the TCP port."""
    for name in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(name) as table:
            for line in table.readlines()[1:]:
                words = line.split()
                if words[3] == "0A" and int(words[1].rsplit(":", 1)[1], 16) == port:
                    return True
    return False


class OnDevice(unittest.TestCase):
    port = 21000

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="soft")
        self.addCleanup(shutil.rmtree, self.directory)
        self.environment = dict(os.environ, VERBMARK_SOFT_DIR=self.directory)
        self.seen = tempfile.mkdtemp(prefix="seen")
        self.addCleanup(shutil.rmtree, self.seen)

    def start(self, *command, end=None):
        """Starts a program; with an end ("near" or "far"), its received data is checked."""
        environment = self.environment
        if end:
            environment = environment | {
                "PAYLOAD_END": end, "PAYLOAD": f"{self.seen}/{end}", "PAYLOAD_LIBRARY": PAYLOAD,
            }
            beneath = 'LD_PRELOAD=$PAYLOAD_LIBRARY:$LD_PRELOAD exec "$@"'
            command = ("sh", "-c", beneath, "sh", *command)
        process = subprocess.Popen(
            [SOFTRDMA, *command] if IS_SOFT else command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

        def end():
            process.kill()
            process.communicate()

        self.addCleanup(end)
        return process

    def run_alone(self, *command):
        process = self.start(*command)
        output, _ = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, output)
        return output

    def received(self, end):
        """Returns for each region the longest run of bytes from the peer."""
        with open(f"{self.seen}/{end}", encoding="ascii") as lines:
            return [int(line) for line in lines]

    def run_pair(self, command, **options):
        """Runs client and server of a program. Returns their outputs."""
        OnDevice.port += 1
        words = [*command.split(), "-p", str(OnDevice.port)]
        return self.run_both(
            words, [*words, ADDRESS], lambda: has_listener(OnDevice.port), **options
        )

    def run_both(self, server_words, client_words, is_ready, is_seen=True):
        server = self.start(*server_words, end="far" if is_seen else None)
        deadline = time.monotonic() + PATIENCE
        while not is_ready():
            self.assertIsNone(server.poll(), "the server ended early")
            self.assertLess(time.monotonic(), deadline, "the server does not listen")
            time.sleep(0.01)
        client = self.start(*client_words, end="near" if is_seen else None)
        command = " ".join(client_words)
        printed = []
        for process in (client, server):
            output, _ = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 0, f"{command}: {output}")
            printed.append(output)
        left = [name for *_, names in os.walk(self.directory) for name in names]
        self.assertEqual(left, ["registry"] if IS_SOFT else [], "a process left a socket")
        return printed


def option(command, letter, default):
    found = re.search(rf" {letter} (\S+)", command)
    return int(found.group(1)) if found else default


@unittest.skipUnless(IS_SOFT, "values of soft0")
class Queries(OnDevice):
    def test_device_list(self):
        self.assertIn("soft0", self.run_alone("ibv_devices"))

    def test_device_attributes(self):
        printed = self.run_alone("ibv_devinfo", "-v")
        facts = dict(re.findall(r"^\s*([a-zA-Z_\[\] 0-9]+?):\s+(.*?)\s*$", printed, re.MULTILINE))
        for name, value in {
            "hca_id": "soft0",
            "transport": "InfiniBand (0)",
            "fw_ver": "soft",
            "vendor_id": "0x2766d",
            "phys_port_cnt": "1",
            "max_qp_rd_atom": "128",
            "atomic_cap": "ATOMIC_HCA (1)",
            "state": "PORT_ACTIVE (4)",
            "active_mtu": "4096 (5)",
            "link_layer": "Ethernet",
        }.items():
            self.assertEqual(facts[name], value, name)
        self.assertGreaterEqual(int(facts["max_qp"]), 4096)
        self.assertGreaterEqual(int(facts["max_sge"]), 16)

    def test_gids_are_the_addresses_of_the_host(self):
        printed = self.run_alone("ibv_devinfo", "-v")
        gids = re.findall(r"GID\[.*\]:\s+(\S+), RoCE v2", printed)
        self.assertIn("::ffff:127.0.0.1", gids)
        shown = subprocess.run(
            ["hostname", "-I"], capture_output=True, text=True, check=True
        ).stdout.split()
        for address in shown:
            self.assertIn(address if ":" in address else f"::ffff:{address}", gids)

    def test_rejects_path_that_the_loader_would_split(self):
        for name in ("a b", "a:b", "a\tb"):
            place = os.path.join(self.directory, name)
            os.mkdir(place)
            for file in (SOFTRDMA, LIBRARY):
                shutil.copy(file, place)
            softrdma = os.path.join(place, os.path.basename(SOFTRDMA))
            said = subprocess.run([softrdma, "true"], capture_output=True, text=True, check=False)
            self.assertEqual(said.returncode, 2, said)
            self.assertIn("its path has a blank or a colon", said.stderr)
            shutil.rmtree(place)

    def test_another_users_directory_is_not_used(self):
        os.chmod(self.directory, 0o755)
        process = self.start("ibv_devinfo")
        output, _ = process.communicate(timeout=PATIENCE)
        self.assertNotEqual(process.returncode, 0, output)


def symbols(path, which):
    """Returns the names of a dynamic symbol table: {name: version or ''}."""
    lines = subprocess.run(
        ["nm", "-D", which, path], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    names = (line.split()[-1].partition("@") for line in lines if len(line.split()) > 1)
    return {name: version.lstrip("@") for name, _, version in names}


# These functions take no objects, or, as rsockets, create theirs with other functions, so those of the
# real library work.
WITHOUT_OBJECTS = re.compile(
    r"(ibv_(rate_to_|copy_|.*_str$|dofork|dontfork|get_sysfs_path|read_sysfs_file|register_driver)"
    r"|(mbps|mult)_to_ibv_rate|rdma_event_str|r(?!dma_))"
)


def is_needed(name, version):
    """Returns whether the device must export a symbol. PRIVATE versions are for drivers."""
    return not WITHOUT_OBJECTS.match(name) and "PRIVATE" not in version


@unittest.skipUnless(IS_SOFT, "symbols of soft0")
class Exports(unittest.TestCase):
    def test_exports_all_symbols_of_the_programs(self):
        ours = symbols(LIBRARY, "--defined-only")
        asked = {}
        for judge in JUDGES:
            asked.update(symbols(shutil.which(judge), "--undefined-only"))
        wanted = {
            name
            for name, version in asked.items()
            if version.startswith(("IBVERBS_", "RDMACM_")) and is_needed(name, version)
        }
        self.assertGreater(len(wanted), 50)
        self.assertEqual(wanted - set(ours), set())

    def test_exports_all_symbols_of_both_libraries(self):
        ours = symbols(LIBRARY, "--defined-only")
        for library in ("libibverbs.so.1", "librdmacm.so.1"):
            path = subprocess.run(
                ["sh", "-c", f"ldconfig -p | grep -m1 {library} | sed 's/.*=> //'"],
                capture_output=True,
                text=True,
                check=True,
            ).stdout.strip()
            theirs = {
                name
                for name, version in symbols(path, "--defined-only").items()
                if not name.startswith(("IBVERBS_", "RDMACM_")) and is_needed(name, version)
            }
            self.assertGreater(len(theirs), 30)
            self.assertEqual(theirs - set(ours), set())

    def test_exports_nothing_else_and_no_versions(self):
        for name, version in symbols(LIBRARY, "--defined-only").items():
            self.assertEqual(version, "")
            self.assertRegex(
                name, r"^(_*(ibv_|rdma_|mlx5dv_|efadv_)|(open|stat|access|read|realpath)$)"
            )

    def test_does_not_need_the_libraries(self):
        needed = subprocess.run(
            ["objdump", "-p", LIBRARY], capture_output=True, text=True, check=True
        ).stdout
        self.assertNotRegex(needed, r"NEEDED.*(ibverbs|rdmacm)")


class Pingpong(OnDevice):
    def check(self, command):
        if "xsrq" in command:
            self.check_xsrq(command)
            return
        count = option(command, "-n", 1000)
        size = option(command, "-s", 1024 if "_ud_" in command else 4096)
        looks_itself = " -c" in command
        for output in self.run_pair(command, is_seen=not looks_itself):
            self.assertIn(f"{2 * count * size} bytes in", output)
            self.assertIn(f"{count} iters in", output)
            self.assertNotIn("invalid data", output)
        # The programs send from their receive buffer: the first message travels back and forth.
        if not looks_itself:
            self.assertEqual(self.received("far"), [size])

    def check_xsrq(self, command):
        """The program prints no figures."""
        for output in self.run_pair(command, is_seen=False):
            self.assertTrue(output.endswith("success\n"), output)


class Connected(OnDevice):
    def has_server(self):
        return has_connection_listener(self.directory)

    def run_connected(self, server_words, client_words, **options):
        return self.run_both(server_words, client_words, self.has_server, **options)


class ByConnection(Connected):
    """Programs that connect by rdma_cm."""

    def check_pings(self, command):
        words = command.split()
        if "HOST" in words:
            hosts = subprocess.run(
                ["hostname", "-I"], capture_output=True, text=True, check=True
            ).stdout.split()
            words[words.index("HOST")] = hosts[0] if hosts else ADDRESS
        size = option(command, "-S", 64)
        for output in self.run_connected([*words, "-s"], [*words, "-c"], is_seen=False):
            pings = re.findall(r"ping data: (.*)", output)
            self.assertEqual(len(pings), option(command, "-C", None), output)
            for n, ping in enumerate(pings):
                head = f"rdma-ping-{n}: "
                letters = (chr(65 + (n + i) % 58) for i in range(size - len(head) - 1))
                self.assertEqual(ping, head + "".join(letters))

    def check(self, command):
        words = command.split()
        if words[0] == "rping":
            self.check_pings(command)
            return
        if words[0] == "rdma_xserver":
            client = ["rdma_xclient", *words[1:]]
            for output in self.run_connected(words, [*client, "-s", ADDRESS], is_seen=False):
                self.assertIn(": end 0", output)
            return
        client = ["rdma_client"] if words[0] == "rdma_server" else words
        end = "end 0" if words[0] == "rdma_server" else "return status 0"
        for output in self.run_connected(words, [*client, "-s", ADDRESS]):
            self.assertIn(end, output)
            if words[0] != "rdma_server":
                self.assertIn("test complete", output)
        self.check_payload(words[0], option(command, "-S", 100), option(command, "-c", 1))

    def check_payload(self, program, size, connections):
        """Programs send from their receive buffer, and one side starts."""
        received = self.received("near" if program == "ucmatose" else "far")
        # Inline data is not registered, and so has no pattern.
        self.assertEqual(received, [0] if program == "rdma_server" else [size] * connections)

    def test_rejected_without_listener(self):
        process = self.start("rping", "-c", "-a", ADDRESS)
        output, _ = process.communicate(timeout=PATIENCE)
        self.assertIn("RDMA_CM_EVENT_REJECTED, error 8", output)

    def test_client_notices_killed_server(self):
        server = self.start("rping", "-s", "-a", ADDRESS)
        while not self.has_server():
            self.assertIsNone(server.poll())
            time.sleep(0.01)
        client = self.start("rping", "-c", "-a", ADDRESS, "-v")
        self.assertIn("rdma-ping-0", client.stdout.readline())
        server.kill()
        output, _ = client.communicate(timeout=PATIENCE)
        self.assertIn("client DISCONNECT EVENT", output)


class Multicast(OnDevice):
    """mckey: one sender, and receivers that each wait for all messages."""

    def check(self, command):
        address = "::1" if "::" in command else "127.0.0.1"
        words = ["stdbuf", "-oL", *command.split(), "-b", address]
        receivers = [self.start(*words) for _ in range(3)]
        printed = [""] * len(receivers)
        for i, receiver in enumerate(receivers):
            while "receiving data transfers" not in printed[i]:
                line = receiver.stdout.readline()
                self.assertTrue(line, printed[i])
                printed[i] += line
        sender = self.run_alone(*words, "-s")
        for process, before in zip(receivers, printed):
            output, _ = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 0, before + output)
            self.assertIn("data transfers complete", output)
            self.assertIn(MCKEY_GID[command.split()[2]], before)
        self.assertIn("return status 0", sender)


class Tables:
    def rows(self, output):
        """Returns the table: {size: [iterations, figures...]}; t_stdev can be -nan."""
        table = {}
        for line in output.splitlines():
            words = line.split()
            if len(words) > 3 and all(re.fullmatch(r"-?(nan|[\d.]+)", word) for word in words):
                table[int(words[0])] = [float(word) for word in words[1:]]
        return table

    def check(self, command):
        output, _ = self.run_perftest(command)
        table = self.rows(output)
        if " -a" in command:
            self.assertEqual(list(table), [2**n for n in range(1, 24)], output)
        elif " -s " in command:
            self.assertEqual(list(table), [option(command, "-s", None)], output)
        else:
            self.assertEqual(len(table), 1, output)
        if " -W " in command:
            # Each message fits into one packet.
            self.assertIn(f"sent_pkts={option(command, '-n', None)}\n", output)
        pairs = option(command, "-q", 1)
        for iterations, *figures in table.values():
            self.assertEqual(iterations, option(command, "-n", None) * pairs)
            self.assertGreater(max(figures), 0)
        self.check_payload(command, max(table))

    def check_payload(self, command, size):
        least = size
        if "atomic" in command:
            least = 5  # the additions change the lowest bytes
        elif "write_lat" in command:
            # Sequence numbers are written after the data; those of smaller messages overwrite it.
            least = size // 2 - 1
        elif "-R" in command and "-c UD" in command:
            least -= 44  # an earlier datagram of the program overwrote part of its send buffer
        is_pull = "read" in command or "atomic" in command
        is_both = " -b" in command or ("_lat" in command and not is_pull)
        for end, gets in (("near", is_pull or is_both), ("far", not is_pull or is_both)):
            if gets:
                self.assertGreaterEqual(max(self.received(end)), least, end)


class Perftest(Tables, OnDevice):
    def run_perftest(self, command):
        return self.run_pair(command)


@unittest.skipUnless(IS_SOFT, "other devices do not yield the CPU to the peer")
class OneProcessor(Tables, OnDevice):
    """Both programs on one CPU: polling must yield, or each message would need a time slice."""

    def run_perftest(self, command):
        return self.run_pair(f"taskset -c {min(os.sched_getaffinity(0))} {command}")


class PerftestByConnection(Tables, Connected):
    """
    perftest's server listens once for the exchange of parameters, and again for the measurement. A
    client that is faster is rejected, as on any device, and exits; it is then run again.
    """

    TRIES = 20

    def run_perftest(self, command):
        words = command.split()
        for _ in range(self.TRIES):
            try:
                return self.run_connected(words, [*words, ADDRESS])
            except AssertionError as failure:
                if "RDMA_CM_EVENT_REJECTED; error: 8" not in str(failure):
                    raise
            self.doCleanups()
            self.setUp()
        self.fail(f"{command}: rejected {self.TRIES} times")


def add(case, commands):
    for command in commands:
        if not IS_SOFT and re.search("XRC|xsrq|xserver -c x", command):
            continue  # Soft-RoCE has no XRC
        name = re.sub(r"[^a-z0-9]+", "_", command.replace("-A CMP", "cmp").lower())
        setattr(case, f"test_{name}", lambda self, command=command: self.check(command))


add(Pingpong, PINGPONGS)
add(Perftest, PERFTESTS)
add(OneProcessor, (f"ib_{name}_lat -n 20000" for name in ("send", "read", "atomic")))
add(ByConnection, CONNECTIONS)
add(PerftestByConnection, BY_CONNECTION)
add(Multicast, ("mckey -m 239.1.2.3", "mckey -m ff0e::7 -c 3 -S 2048"))
