# SPDX-License-Identifier: MIT
"""
Code shared by the whole-program tests: programs whose output a test can wait for, a server, a
peer that speaks the control protocol, and a relay between client and server that holds back
messages. Nothing here sleeps for a guessed time.
"""

import json
import os
import select
import signal
import socket
import struct
import subprocess
import threading
import time
import unittest

import documents

VERBMARK = os.environ["VERBMARK"]
# The same program with the faults of fault/pausing.c linked in.
FAULTY = os.environ.get("PAUSING")
# The program with the slow server of fault/slowed.c.
SLOW = os.environ.get("SLOW")
ADDRESS = os.environ.get("SOFTROCE_ADDRESS", "127.0.0.1")
DEVICE = os.environ.get("SOFTROCE_DEVICE", "rxe0")
# soft0 runs in user space: it has no files in /sys and no network interface of its own.
IS_SOFT = DEVICE == "soft0"

with open(VERBMARK, "rb") as program:
    # AddressSanitizer holds back freed memory for a while.
    IS_SANITIZED = b"__asan_init" in program.read()

# Seconds after which a program counts as hung. Emulated CPUs are slow, and a run may have many
# cases.
PATIENCE = 60
RUN_PATIENCE = 300
# Short: an emulated machine rarely stabilizes, and no test depends on it.
WARMUP_MS = 100
WARMUP = ("--warmup", f"{WARMUP_MS}ms")


def wait_until(condition, limit=PATIENCE, what="the condition"):
    """Returns the first true value of condition()."""
    deadline = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"timed out after {limit} s waiting for {what}")
        time.sleep(0.01)


def read(path):
    """Returns the only line of a file, or "" if the file is gone."""
    try:
        with open(path, encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


class Program:
    """A process whose output lines are collected as they arrive."""

    def __init__(self, *command, **options):
        self.started = time.monotonic()
        options.setdefault("stdin", subprocess.DEVNULL)
        self.process = subprocess.Popen(
            [str(word) for word in command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            **options,
        )
        self.pid = self.process.pid
        self.out = []
        self.err = []
        self.readers = [
            threading.Thread(target=self.read, args=(stream, lines), daemon=True)
            for stream, lines in ((self.process.stdout, self.out), (self.process.stderr, self.err))
        ]
        for reader in self.readers:
            reader.start()

    @staticmethod
    def read(stream, lines):
        with stream:
            for line in stream:
                lines.append(line.rstrip("\n"))

    def wait(self, limit=PATIENCE):
        """Returns the exit status. Kills the process and fails if it does not end in time."""
        try:
            status = self.process.wait(limit)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(
                f"{self.process.args} did not end within {limit} s: {self.out} {self.err}"
            ) from None
        self.ended = time.monotonic()
        for reader in self.readers:
            reader.join()
        return status

    @property
    def errors(self):
        return "\n".join(self.err)

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for reader in self.readers:
            reader.join()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.kill()


def ready_line(lines):
    """Returns a server's ready line (soft0 prints a notice before it), or None."""
    return next((line for line in list(lines) if line.startswith("ready ")), None)


class Server(Program):
    """verbmark serve on a free port, once it is ready."""

    def __init__(self, *options, before=(), program=VERBMARK):
        port = () if {"-p", "--port"} & set(options) else ("-p", "0")
        super().__init__(*before, program, "serve", *port, *options)
        try:
            wait_until(
                lambda: ready_line(self.out) or self.process.poll() is not None, what="the ready line"
            )
            self.ready = ready_line(self.out).split()
            self.port = int(self.ready[1].rpartition(":")[2])
        except (AssertionError, AttributeError, IndexError, ValueError):
            self.kill()
            raise AssertionError(f"no ready line: {self.out} {self.err}") from None

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def threads(self):
        """Counts the server's own threads, without the one that soft0 adds to each process."""
        tasks = [f"/proc/{self.pid}/task/{task}/comm" for task in os.listdir(f"/proc/{self.pid}/task")]
        return sum(read(task) != "verbmark-soft" for task in tasks)

    def rss_kib(self):
        """Sums the resident pages; the kernel's own RSS counter lags behind by a few pages."""
        with open(f"/proc/{self.pid}/smaps_rollup", encoding="ascii") as pages:
            return next(int(line.split()[1]) for line in pages if line.startswith("Rss:"))


class ServedRemotely(unittest.TestCase):
    """Tests that share a server on the second machine."""

    @classmethod
    def setUpClass(cls):
        cls.server = Program("on-second", VERBMARK, "serve")
        wait_until(lambda: cls.server.out, what="the server on the second machine")

    @classmethod
    def tearDownClass(cls):
        cls.server.kill()


class Served(unittest.TestCase):
    """Tests that share a server."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.kill()

    def complete(self, *options, count, **members):
        """Returns the cases, all of which must complete and have these members."""
        cases = measure(self.server, *options).document["cases"]
        self.assertEqual(len(cases), count)
        for case in cases:
            self.assertEqual(case["status"], "complete", case)
            self.assertEqual({name: case[name] for name in members}, members)
        return cases


def client(*options, port=None, host=ADDRESS, before=(), program=VERBMARK):
    """
    Starts verbmark run: one trial of send unless the options say otherwise, and no result file
    unless they ask for one.
    """
    where = () if port is None else ("-p", port)
    save = () if "--json" in options else ("--no-save",)
    defaults = {"--op": "send", "--trials": 1, "--warmup": f"{WARMUP_MS}ms"} | small_messages(options)
    if "--budget" in options:
        del defaults["--trials"]
    plain = [word for name, value in defaults.items() if name not in options for word in (name, value)]
    return Program(*before, program, "run", host, *where, *plain, *save, *options)


def small_messages(options):
    """The size for a bandwidth without one: its default of 64 KiB is slow on an emulated machine."""
    values = dict(zip(options, options[1:]))
    metrics = str(values.get("--metric", "bw" if "--pattern" in options else "lat")).split(",")
    atomics = set(values.get("--op", "send").split(",")) <= {"fetch-add", "compare-swap"}
    if "bw" not in metrics or atomics or {"-s", "--size", "-a", "--preset", "--plan"} & set(options):
        return {}
    return {"-s": 64}


class Ended:
    """Runs a program to its end: its exit status, its output as text, and the seconds it ran."""

    def __init__(self, program, limit=PATIENCE):
        with program:
            self.status = program.wait(limit)
            self.out = "\n".join(program.out)
            self.err = "\n".join(program.err)
            self.seconds = program.ended - program.started


def below_heading(lines):
    """Returns the lines without empty ones and the heading of output of a software device."""
    return [line for line in lines if line and not line.startswith("SOFTWARE DEVICE")]


def verbmark(*words, **options):
    return Ended(Program(VERBMARK, *words, **options))


def measure(server, *options, host=ADDRESS):
    """
    Runs verbmark run to its end and parses its document. Every document must match the schema,
    and 'verbmark report' must be able to read it. If server is None, the client connects to
    the default port of host.
    """
    port = server and server.port
    # On a slow machine, progress would appear among the lines of the table.
    quiet = () if {"--progress", "--quiet"} & set(options) else ("--quiet",)
    ended = Ended(client(*options, *quiet, "--json", "-", port=port, host=host), RUN_PATIENCE)
    if ended.status:
        raise AssertionError(f"status {ended.status}: {ended.err}")
    ended.document = documents.parse(ended.out)
    again = subprocess.run(
        [VERBMARK, "report", "-"], input=ended.out, capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )
    if again.returncode:
        raise AssertionError(f"verbmark report cannot read the result: {again.stderr}")
    return ended


def warmed_up(trial):
    """Tells if a warm-up ran for the minimum (100 messages and 20 ms) or, unconverged, in full."""
    warmup = trial["warmup"]
    if not warmup["converged"]:
        return warmup["duration_ns"] >= WARMUP_MS * 1e6
    return warmup["messages"] >= 100 and warmup["duration_ns"] >= 20e6


# The control protocol.

HELLO = {"type": "hello", "protocol": 5, "version": "0"}
CASE = {
    "type": "case", "address": ADDRESS, "device": DEVICE, "port": 1,
    "parameters": {"op": "send", "iterations": 50},
}


def gid_of(address):
    """Returns the GID that the port's table has for an IPv4 address."""
    return "0" * 20 + "ffff" + socket.inet_aton(address).hex()


def by_hand(gid=gid_of(ADDRESS), **parameters):
    """Returns a case whose client queue pair does not exist: nobody receives packets to it."""
    pair = {
        "lid": 0, "gid": gid, "qpn": 4711, "psn": 1, "mtu": 1024, "reads": 1, "qkey": 1,
        "address": 0, "size": 64, "rkey": 1,
    }
    plain = {"op": "send", "metric": "lat", "connect": "qp"}
    return CASE | {"parameters": plain | parameters, "pairs": [pair]}


# The port that a server impersonated by a test reports: one that the client can reach.
PORT = {
    "device": DEVICE, "port": 1, "kind": "soft" if IS_SOFT else "rxe", "state": "ACTIVE",
    "link_layer": "Ethernet", "rate_mbps": 10000, "mtu": 4096, "max_mtu": 4096, "numa_node": -1,
    "addresses": [{"address": ADDRESS, "prefix": 24, "interface": "ve0"}],
}


def frame(message):
    body = json.dumps(message).encode()
    return struct.pack(">I", len(body)) + body


ALIVE = {"type": "alive"}


class Frames:
    """Reads messages from a socket."""

    def __init__(self, sock):
        self.sock = sock
        self.bytes = b""

    def take(self):
        """Returns the next complete message, or None."""
        if len(self.bytes) < 4:
            return None
        length = struct.unpack(">I", self.bytes[:4])[0]
        if len(self.bytes) < 4 + length:
            return None
        message = json.loads(self.bytes[4 : 4 + length])
        self.bytes = self.bytes[4 + length :]
        return message

    def fill(self):
        """Reads more bytes; returns False at the end of the connection."""
        try:
            more = self.sock.recv(65536)
        except ConnectionError:
            more = b""
        self.bytes += more
        return bool(more)


class Peer:
    """One side of a control connection. Sends heartbeats while it waits."""

    def __init__(self, sock):
        self.sock = sock
        self.frames = Frames(sock)

    @classmethod
    def dial(cls, port, host=ADDRESS):
        return cls(socket.create_connection((host, port), PATIENCE))

    @classmethod
    def greeted(cls, port, host=ADDRESS):
        peer = cls.dial(port, host)
        peer.send(HELLO)
        peer.expect("welcome")
        return peer

    def send(self, message):
        self.sock.sendall(frame(message))

    def receive(self, limit=PATIENCE):
        """Returns the next message other than heartbeats, or None at the end of the connection."""
        deadline = time.monotonic() + limit
        while True:
            message = self.frames.take()
            if message and message["type"] != "alive":
                return message
            if message:
                continue
            if time.monotonic() > deadline:
                raise AssertionError(f"no message arrived within {limit} s")
            if select.select([self.sock], [], [], 0.5)[0]:
                if not self.frames.fill():
                    return None
            else:
                self.send(ALIVE)

    def expect(self, kind):
        message = self.receive()
        if not message or message["type"] != kind:
            raise AssertionError(f"expected {kind}, got {message}")
        return message

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()


class Impostor:
    """A TCP server that hands each connection to a function of the test."""

    def __init__(self, serve):
        self.listener = socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True)
        self.port = self.listener.getsockname()[1]
        self.serve = serve
        self.sockets = []
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while True:
            try:
                sock = self.listener.accept()[0]
            except OSError:
                return
            self.sockets.append(sock)
            threading.Thread(target=self.serve_one, args=(sock,), daemon=True).start()

    def serve_one(self, sock):
        try:
            self.serve(sock)
        except OSError:
            pass  # the peer closed the connection

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        # A thread still in accept() would go on to the next listener with the same descriptor.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.listener.close()
        for sock in self.sockets:
            sock.close()


class Relay(Impostor):
    """
    Stands between a client and a server. Holds back messages of one type, possibly changing
    them, until released; passes heartbeats at all times. When one side closes, closes the
    other side's connection too.
    """

    def __init__(self, server, held):
        self.server = server
        self.held = held
        self.caught = threading.Event()
        self.released = threading.Event()
        self.over = threading.Event()  # one side has closed its connection
        self.change = lambda message: None
        super().__init__(self.relay)

    def relay(self, client_side):
        server_side = socket.create_connection((ADDRESS, self.server.port), PATIENCE)
        self.sockets.append(server_side)
        locks = {client_side: threading.Lock(), server_side: threading.Lock()}
        back = threading.Thread(
            target=self.pump, args=(server_side, client_side, locks), daemon=True
        )
        back.start()
        self.pump(client_side, server_side, locks)

    def pump(self, source, sink, locks):
        frames = Frames(source)
        try:
            while frames.fill():
                message = frames.take()
                while message:
                    if message["type"] == self.held and not self.released.is_set():
                        threading.Thread(
                            target=self.hold, args=(message, sink, locks[sink]), daemon=True
                        ).start()
                    else:
                        self.pass_on(message, sink, locks[sink])
                    message = frames.take()
        except OSError:
            pass
        self.over.set()
        for sock in (source, sink):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    @staticmethod
    def pass_on(message, sink, lock):
        with lock:
            sink.sendall(frame(message))

    def hold(self, message, sink, lock):
        self.caught.set()
        self.released.wait()
        self.change(message)
        try:
            self.pass_on(message, sink, lock)
        except OSError:
            pass  # closed in the meantime

    def wait(self):
        if not self.caught.wait(PATIENCE):
            raise AssertionError(f"no {self.held} message arrived")

    def release(self, **changes):
        self.change = lambda message: message.update(changes)
        self.released.set()

    def __exit__(self, *unused):
        self.released.set()
        super().__exit__()


# The device.

COUNTERS = f"/sys/class/infiniband/{DEVICE}/ports/1/hw_counters/"


def counter(name):
    """Returns one of the device's counters, which cover client and server: both use the device."""
    if IS_SOFT:
        words = run("rdma", "statistic", "show").split()
        return int(words[words.index(name) + 1])
    with open(COUNTERS + name, encoding="ascii") as file:
        return int(file.read())


def wait_until_settled():
    """Returns sent_pkts once it stops changing between readings that are not cached."""
    last = [counter("sent_pkts")]

    def settled():
        time.sleep(0.02)
        last.append(counter("sent_pkts"))
        return last[-1] == last[-2] and last[-1]

    return wait_until(settled, what="the last packet")


def resources():
    """Returns the counts of all RDMA resources of the machine."""
    shown = subprocess.run(["rdma", "-j", "resource", "show"], check=True, capture_output=True)
    return json.loads(shown.stdout)


def connection_states(pid):
    """Returns the states of a process's connection identifiers."""
    shown = subprocess.run(
        ["rdma", "-j", "resource", "show", "cm_id"], check=True, capture_output=True
    )
    return [row.get("state") for row in json.loads(shown.stdout) if row.get("pid") == pid]


def stop(program):
    """Sends SIGSTOP and waits until all threads have stopped."""
    program.signal(signal.SIGSTOP)

    def stopped():
        with open(f"/proc/{program.pid}/stat", encoding="ascii") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "T"

    wait_until(stopped, what="the program to stop")


# The wire between two machines.


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def match_packets(netdev, *match, machine=(), protocol=17, port=4791):
    """Directs a machine's matching packets to that port into the class that netem impairs."""
    kind = "protocol ip parent 1: u32 match ip protocol"
    rule = f"{kind} {protocol} 0xff match ip dport {port} 0xffff"
    run(*machine, "tc", "filter", "add", "dev", netdev, *rule.split(), *match, "flowid", "1:3")


def impair(test, netdev, how, *match, machine=(), **kind):
    """Applies a netem setting to the matching packets until the end of the test."""
    for command in ("root handle 1: prio", f"parent 1:3 netem {how}"):
        run(*machine, "tc", "qdisc", "add", "dev", netdev, *command.split())
    test.addCleanup(run, *machine, "tc", "qdisc", "del", "dev", netdev, "root")
    match_packets(netdev, *match, machine=machine, **kind)


def lose(test, netdev, percent, *match, **kind):
    """Drops a percentage of the matching packets until the end of the test."""
    impair(test, netdev, f"loss {percent}%", *match, **kind)
