# SPDX-License-Identifier: MIT
"""
Every fault that a plan of the soft device can name, once, at the client and at the server of each
driver: core's own client and server, verbmark run and serve over rdma_cm and over queue pairs
connected directly, a pool, repeated connections, and grants. Either the program survives the
fault, or it ends with a message and an exit status, or with a failed case in a valid document. It
does so in time and leaves nothing behind, and the server serves the next client as usual. The
device first counts the calls of a run. FAULT=substring selects faults, ROWS=1 prints the messages
of each.
"""

import collections
import concurrent.futures
import os
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import unittest

import documents
from verbmark import ALIVE, VERBMARK, Frames, Impostor, frame

ENDS = os.environ["ENDS"]
# Only one fault in SHARE is planted; ci/test --whole plants all of them.
SHARE = int(os.environ.get("SHARE", "1"))
# Seconds until client and server must have ended, on a busy machine and with sanitizers.
LIMIT = 60
WORKERS = 5
# Calls that fail if a function is called often, besides the one in the middle.
OFTEN = (1, 2, 3)
# Control messages of a run with one case, in both directions; nobody waits for the last one.
MESSAGES = 10
# The message or completion that a fault hits, if there are that many.
LATER = 3
# Timing may decide if a call is made once more, so a fault that did not occur is tried again.
TRIES = 4
STATUSES = (
    "LOC_LEN_ERR LOC_QP_OP_ERR LOC_EEC_OP_ERR LOC_PROT_ERR WR_FLUSH_ERR MW_BIND_ERR BAD_RESP_ERR "
    "LOC_ACCESS_ERR REM_INV_REQ_ERR REM_ACCESS_ERR REM_OP_ERR RETRY_EXC_ERR RNR_RETRY_EXC_ERR "
    "LOC_RDD_VIOL_ERR REM_INV_RD_REQ_ERR REM_ABORT_ERR INV_EECN_ERR INV_EEC_STATE_ERR FATAL_ERR "
    "RESP_TIMEOUT_ERR GENERAL_ERR"
).split()
WIRE = (
    ("message", "duplicate"), ("message", "delay:50ms"), ("link", "down:50ms"),
    ("link", "down:60s"), ("device", "removed"), ("peer", "stall:5ms"),
)  # fmt: skip
OTHERS = "ADDR_ERROR ROUTE_ERROR CONNECT_ERROR UNREACHABLE REJECTED DISCONNECTED DEVICE_REMOVAL"
# An object that cannot be destroyed keeps what it uses: not a leak of the program.
REFUSED = re.compile(r"ibv_(destroy|dealloc|dereg|close)|rdma_destroy")
LEFT = "leak:soft_\n"
# After these faults the device is unusable.
LASTING = re.compile(r"removed|DEVICE_REMOVAL|down:60s")
# The number of these calls depends on how much work each one finds.
WAITING = re.compile(r"(ibv|rdma)_(poll|get|ack|req|post_recv)|receive|completion")
UNCLEAR = re.compile(r"Success\b|Unknown error|\(null\)|: *$|control message received")
# Messages that some faults must cause, by the program that prints them.
SAID = {
    "rdma_accept#1=EIO": r"client 1: .*cannot accept the client: Input",
    "rdma_connect#1=EIO": r"client 1: .*cannot connect: Input/output error",
    "rdma_create_qp_ex#1=EIO": r"client 1: .*cannot create a queue pair: Input/output error",
    "cm:ADDR_RESOLVED#1=DISCONNECTED": r"client 1: .*the peer closed the connection",
    "cm:ESTABLISHED#1=UNREACHABLE": r"client 1: .*the peer does not answer",
    "send#3=RETRY_EXC_ERR": r"transport retry counter exceeded: no acknowledgment",
    "link#3=down:60s": r"transport retry counter exceeded|the port of the device went down",
    "device#3=removed": r"the RDMA device .*(was removed|failed)|Flushed",
}
HELD = "the pool has no free range of that size; retry later"
DIRT = re.compile(r"Sanitizer|runtime error|Assertion|dumped|Traceback")


class Core:
    """Client and server of core, which print only the port and what failed."""

    def __init__(self, wait):
        self.name = f"core/{wait}"
        self.wait = wait

    def server(self):
        return [ENDS, "serve", self.wait]

    def client(self, port, document):
        return [ENDS, "connect", self.wait, str(port)]


class Run:
    """verbmark run and serve: one case with a few messages."""

    def __init__(self, name, *options):
        self.name = f"run/{name}"
        self.options = options

    def server(self):
        return [VERBMARK, "serve", "-p", "0"]

    def client(self, port, document):
        return [
            VERBMARK, "run", "127.0.0.1", "-p", str(port), "-n", "20", "--trials", "1",
            "--warmup", "1ms", "--json", document, *self.options,
        ]  # fmt: skip


class Pool:
    """
    verbmark serve with a pool, and verbmark pool: a grant of the whole pool, which the next
    client gets only if nothing of it was leaked, and some doorbells.
    """

    def __init__(self, wait):
        self.name = f"pool/{wait}"
        self.wait = wait

    def server(self):
        return [VERBMARK, "serve", "-p", "0", "--pool", "1m", "--pool-cq", self.wait]

    def client(self, port, document):
        return [
            VERBMARK, "pool", "127.0.0.1", "-p", str(port), "--alloc", "1m", "--writes", "30",
            "--doorbell-every", "5", "--cq", self.wait,
        ]  # fmt: skip


DRIVERS = [
    Core("event"),
    Run("cm", "--op", "send", "--cq", "event"),
    Run("qp", "--op", "write-imm", "--connect", "qp", "--metric", "bw", "-s", "64"),
    Pool("event"),
    Run("connecting", "--op", "connect", "--step", "whole"),
    Run("granting", "--op", "alloc", "--cq", "event"),
    Pool("poll"),
    Run("xrc", "--op", "send", "-c", "xrc", "--cq", "event"),
    Run("multicast", "--metric", "bw", "-c", "ud", "--multicast", "239.1.2.3", "-q", "2", "-s", "64"),
    Run("dc", "--op", "send", "--metric", "bw", "-q", "2", "-c", "dc"),
    Run("srd", "--op", "send", "-c", "srd", "--cq", "event"),
]


class Cut(Impostor):
    """Relays the control channel and cuts it at the n-th message, counted over both directions."""

    def __init__(self, port, n):
        self.server_port = port
        self.left = n
        self.lock = threading.Lock()
        self.seen = 0
        super().__init__(self.relay)

    def relay(self, client_side):
        server_side = socket.create_connection(("127.0.0.1", self.server_port), LIMIT)
        self.sockets.append(server_side)
        back = threading.Thread(target=self.pump, args=(server_side, client_side), daemon=True)
        back.start()
        self.pump(client_side, server_side)

    def passes(self, message):
        """Tells if the message may still pass. Heartbeats are not counted."""
        if message["type"] == ALIVE["type"]:
            return True
        with self.lock:
            self.seen += 1
            return self.seen != self.left

    def pump(self, source, sink):
        frames = Frames(source)
        try:
            while frames.fill():
                while (message := frames.take()) is not None:
                    if not self.passes(message):
                        raise OSError
                    sink.sendall(frame(message))
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Process:
    """A process that writes to files in the row's folder."""

    def __init__(self, row, role, command, plan=None):
        self.row = row
        self.role = role
        self.paths = {kind: f"{row.folder}/{role}.{kind}" for kind in ("out", "err", "report")}
        environment = {**os.environ, "VERBMARK_SOFT_DIR": f"{row.folder}/soft"}
        environment.pop("VERBMARK_SOFT_FAULTS", None)
        if plan is not None:
            environment["VERBMARK_SOFT_FAULTS"] = f"{plan};report={self.paths['report']}"
        if REFUSED.search(plan or ""):
            with open(f"{row.folder}/left", "w", encoding="utf-8") as file:
                file.write(LEFT)
            environment["LSAN_OPTIONS"] = f"suppressions={row.folder}/left:print_suppressions=0"
        with open(self.paths["out"], "w") as out, open(self.paths["err"], "w") as err:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment
            )

    def read(self, kind):
        try:
            with open(self.paths[kind], encoding="utf-8", errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def wait(self):
        try:
            return self.process.wait(max(0.1, self.row.deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.row.fail(f"the {self.role} did not end within {LIMIT} s")
            self.kill()
            return None

    def port(self):
        """Returns the port that the server printed, or None if the server ended without one."""
        while time.monotonic() < self.row.deadline:
            lines = self.read("out").split("\n")[:-1]
            # A notice about the software device comes first.
            if lines and lines[0].startswith("SOFTWARE DEVICE"):
                del lines[0]
            if lines:
                return int(re.search(r"(\d+)( |$)", lines[0].replace("ready", ""))[1])
            if self.process.poll() is not None:
                return None
            time.sleep(0.002)
        self.row.fail("the server did not become ready")
        return None

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class Row:
    """One fault, at the client or server of a driver. Deviations are listed in complaints."""

    def __init__(self, driver, role, plan, cut=None):
        self.driver = driver
        self.role = role
        self.plan = plan
        self.cut = cut
        self.name = f"{driver.name} {role} {plan}{cut or ''}"
        self.complaints = []
        self.borne = False
        self.counts = {}
        self.words = []

    def fail(self, words):
        self.complaints.append(words)

    def run(self):
        # A process that may end before the fault has missed it four times in a row, once.
        for _ in range(2 * TRIES):
            self.complaints = []
            self.fired = True
            self.run_once()
            # Report complaints even if the fault did not occur.
            if self.fired or self.complaints:
                return self
        self.fail(self.missed)
        return self

    def run_once(self):
        self.folder = tempfile.mkdtemp(prefix="verbmark-matrix-", dir="/dev/shm")
        os.mkdir(f"{self.folder}/soft", 0o700)
        self.deadline = time.monotonic() + LIMIT
        self.started = time.monotonic()
        try:
            self.play()
        except Exception as error:  # the row fails; the others continue
            self.fail(repr(error))
        self.seconds = time.monotonic() - self.started
        shutil.rmtree(self.folder)

    def play(self):
        plan = {self.role: self.plan} if not self.cut else {}
        server = Process(self, "server", self.driver.server(), plan.get("server"))
        try:
            port = server.port()
            if port:
                self.meet(server, port, plan.get("client"))
            elif "server" not in plan:
                self.fail(f"the server failed to start without a fault: {server.read('err')}")
                return
            elif server.process.poll() is not None:
                self.judge(server, server.wait(), must_fail=True)
        finally:
            server.kill()
        if not self.cut:
            self.judge_plan({"server": server}.get(self.role) or self.first)

    def meet(self, server, port, plan):
        with Cut(port, self.cut) if self.cut else _Nothing() as relay:
            self.first = self.connect("client", relay.port if self.cut else port, plan)
            status = self.first.wait()
        self.judge(self.first, status)
        self.borne = status == 0
        # The failed client must not affect the next one.
        self.deadline = time.monotonic() + LIMIT
        if isinstance(self.driver, Core) and status == 0 and self.ends_soon(server):
            pass
        elif not LASTING.search(self.plan) and self.plan != "count":
            second, status = self.connect_again("next", port)
            # Core's server may have been about to end, having served the first client well.
            ended = status and isinstance(self.driver, Core) and (
                server.wait() == 0 or (self.borne and server.wait() == 1)
            )
            # A pool's clients share its objects, so the call that fails may be this client's.
            held = isinstance(self.driver, Pool) and REFUSED.search(self.plan)
            # A server that sleeps polls less often, so the fault may hit the next client instead.
            late = self.role == "server" and self.borne and WAITING.match(self.plan)
            if status and (held or late):
                second, status = self.connect_again("third", port)
            if status and not ended:
                self.fail(f"the next client: {status}: {second.read('err')}")
            self.look(second)
        if server.process.poll() is None and not isinstance(self.driver, Core):
            server.process.terminate()
        self.judge(server, server.wait())

    def connect_again(self, who, port):
        """Runs another client and returns its status; tries again while the pool is still held."""
        while True:
            client = self.connect(who, port, None)
            status = client.wait()
            if not status or HELD not in client.read("err") or time.monotonic() > self.deadline:
                return client, status
            self.look(client)
            time.sleep(0.02)

    @staticmethod
    def ends_soon(server):
        """Tells if core's server ends within a second, as it does after serving a client well."""
        try:
            return server.process.wait(1) is not None
        except subprocess.TimeoutExpired:
            return False

    def connect(self, role, port, plan):
        command = self.driver.client(port, f"{self.folder}/{role}.json")
        return Process(self, role, command, plan)

    def look(self, process):
        """Complains about sanitizer reports and the like in a program's output."""
        errors = process.read("err")
        if DIRT.search(errors):
            self.fail(f"the {process.role}: {errors[-3000:]}")

    def judge(self, process, status, must_fail=False):
        errors = process.read("err").strip()
        self.look(process)
        if status is None:
            return
        sentences = [line for line in errors.splitlines() if re.match(r"(verbmark|ends): .", line)]
        document = f"{self.folder}/{process.role}.json"
        failed = self.failed_cases(document) if os.path.exists(document) else None
        self.words += [f"{process.role} {status}: {line}" for line in [*sentences, *(failed or [])]]
        if status not in (0, 1) or (must_fail and not status):
            self.fail(f"the {process.role} exited with {status}: {errors[-500:]}")
        if status == 1 and not sentences and not failed:
            self.fail(f"the {process.role} failed without a message: {errors[-500:]}")
        for words in sentences + (failed or []):
            if UNCLEAR.search(words):
                self.fail(f"the {process.role} printed an unclear message: {words}")

    def failed_cases(self, path):
        with open(path, encoding="utf-8") as file:
            document = documents.parse(file.read())
        failed = [case for case in document["cases"] if case["status"] != "complete"]
        for case in failed:
            if case["status"] == "failed" and not case.get("error"):
                self.fail(f"{case['id']} failed without a reason")
        return [case.get("error", case["status"]) for case in failed]

    def judge_plan(self, process):
        report = process.read("report")
        for count, name in re.findall(r"count (\d+): (\S+)", report):
            self.counts[name] = int(count)
        if "never fired" in report or (self.plan != "count" and "fired" not in report):
            self.fired = False
            self.missed = f"the fault did not occur: {report}{process.read('err')[-300:]}"


class _Nothing:
    def __enter__(self):
        return self

    def __exit__(self, *unused):
        pass


def often(count):
    if count <= len(OFTEN) + 1:
        return range(1, count + 1)
    return (*OFTEN, max(len(OFTEN) + 1, count // 2))


def rows_of(driver, role, counts):
    """Returns (kind of fault, row) pairs for every fault."""
    rows = collections.defaultdict(list)
    for name, count in counts.items():
        # The client disconnects first and may be gone before the event arrives.
        if not count or (role == "client" and name == "cm:DISCONNECTED"):
            continue
        if name.startswith("cm:"):
            rows["events lost"] += [f"{name}#{n}=lost" for n in often(count)]
            rows["events late"].append(f"{name}#1=late:100ms")
            rows["other events"] += [
                f"{name}#1={other}" for other in OTHERS.split() if f"cm:{other}" != name
            ]
        elif name.startswith(("ibv_", "rdma_")):
            rows["calls"] += [f"{name}#{n}=EIO" for n in often(count)]
    for side in ("send", "receive"):
        n = min(LATER, counts.get(side, 0))
        rows["statuses"] += [f"{side}#{n}={status}" for status in STATUSES if n]
    n = min(LATER, counts.get("message", 0))
    rows["wire"] += [f"{what[0]}#{n}={what[1]}" for what in WIRE if n]
    return [
        (kind, Row(driver, role, plan)) for kind, plans in rows.items() for plan in plans
    ]  # fmt: skip


def run_all(rows):
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        done = {pool.submit(row.run): kind for kind, row in rows}
        for future in concurrent.futures.as_completed(done):
            yield done[future], future.result()


class Drivers(unittest.TestCase):
    def check(self, driver, rows):
        tally = collections.Counter()
        borne = collections.Counter()
        longest = (0, "")
        bad = []
        for kind, row in run_all(rows):
            tally[kind] += 1
            borne[kind] += row.borne
            longest = max(longest, (row.seconds, row.name))
            # A failed message must be reported, even if it did no harm to the process.
            messages = "; ".join(row.words)
            if kind == "statuses" and not messages and "WR_FLUSH_ERR" not in row.plan:
                row.fail("nobody reported the failure")
            if not isinstance(driver, Pool) and not re.search(SAID.get(row.plan, ""), messages):
                row.fail(f"the expected message is missing from: {messages}")
            if "ROWS" in os.environ:
                print(f"# {row.name}: {messages}")
            if row.complaints:
                bad.append(f"{row.name}: {'; '.join(row.complaints)}")
        for kind in tally:
            print(f"# {driver.name}: {tally[kind]} {kind}, {borne[kind]} of them survived")
        print(f"# {driver.name}: the slowest took {longest[0]:.1f} s: {longest[1]}", flush=True)
        self.assertTrue(tally)
        if bad:
            raise AssertionError("\n".join(sorted(bad)))

    def count(self, driver, role):
        """Returns the calls that every run makes; counts that vary are reduced."""
        rows = [Row(driver, role, "count").run() for _ in range(TRIES)]
        self.assertEqual([row.complaints for row in rows], [[]] * TRIES)
        counts = {}
        for name in rows[0].counts:
            seen = [row.counts.get(name, 0) for row in rows]
            varies = len(set(seen)) > 1 or WAITING.match(name)
            counts[name] = min(len(OFTEN), (min(seen) + 7) // 8) if varies else seen[0]
        return counts

    def faults(self, driver):
        only = os.environ.get("FAULT", "")
        rows = [
            (kind, row)
            for role in ("client", "server")
            for kind, row in rows_of(driver, role, self.count(driver, role))
            if only in row.name
        ]
        self.check(driver, rows[::SHARE])

    def cuts(self, driver):
        """Cuts the channel at each message and after the last one."""
        rows = [Row(driver, "client", "cut ", n) for n in range(1, MESSAGES + 2)]
        self.check(driver, [("ends of the control channel", row) for row in rows])
        self.assertFalse(any(row.borne for row in rows[:-2]))
        self.assertTrue(rows[-1].borne, "the run has more than {MESSAGES} messages")


class Matrix(Drivers):
    def test_core(self):
        self.faults(DRIVERS[0])

    def test_run_by_rdma_cm(self):
        self.faults(DRIVERS[1])

    def test_run_without_rdma_cm(self):
        self.faults(DRIVERS[2])

    def test_pool(self):
        self.faults(DRIVERS[3])

    def test_control_channel(self):
        for driver in DRIVERS[1:3]:
            self.cuts(driver)


class Others(Drivers):
    """Slow: by default ci/test skips these."""

    def test_connecting(self):
        self.faults(DRIVERS[4])

    def test_granting(self):
        self.faults(DRIVERS[5])

    def test_polling_pool(self):
        self.faults(DRIVERS[6])

    def test_xrc(self):
        self.faults(DRIVERS[7])

    def test_multicast(self):
        self.faults(DRIVERS[8])

    def test_dc(self):
        self.faults(DRIVERS[8])

    def test_srd(self):
        self.faults(DRIVERS[9])
