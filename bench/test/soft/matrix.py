# SPDX-License-Identifier: MIT
"""
Every fault that a plan of the soft device can make, once, at either end of each driver:
core's own ends, verbmark run and serve over rdma_cm and over queue pairs connected by hand,
a pool, connections that are made again and again, and grants. A fault is borne, or it ends in
a sentence and an exit status, or in a failed case of a valid document; in time, with nothing
left behind; and a server takes the next client as if nothing had been. What a run calls is
counted first, by the device. FAULT=substring picks faults, ROWS=1 shows what was said of each.
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
# One fault of so many is planted: ci/test --whole plants all.
SHARE = int(os.environ.get("SHARE", "1"))
# What a fault may take until both ends have ended; sanitizers and a busy machine included.
LIMIT = 60
WORKERS = 5
# Of a function that is called often: these calls, and the one in the middle.
OFTEN = (1, 2, 3)
# Of a run of one case, in both directions; nobody waits for the last one.
MESSAGES = 10
# The message, or completion, that a fault meets, where there are so many.
LATER = 3
# Whether a call is made once more may be a matter of who is first: it gets another chance.
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
# What cannot be destroyed stays, and all that it stands on: no leak of the program's.
REFUSED = re.compile(r"ibv_(destroy|dealloc|dereg|close)|rdma_destroy")
LEFT = "leak:soft_\n"
# After these there is nothing to be had of the device.
LASTING = re.compile(r"removed|DEVICE_REMOVAL|down:60s")
# How often these are called is a matter of what there is to be had at a time.
WAITING = re.compile(r"(ibv|rdma)_(poll|get|ack|req|post_recv)|receive|completion")
UNCLEAR = re.compile(r"Success\b|Unknown error|\(null\)|: *$|a control message came")
# What is to be said of some: by whom, and in which words.
SAID = {
    "rdma_accept#1=EIO": r"client 1: .*cannot accept the client: Input",
    "rdma_connect#1=EIO": r"client 1: .*cannot connect: Input/output error",
    "rdma_create_qp_ex#1=EIO": r"client 1: .*cannot create a queue pair: Input/output error",
    "cm:ADDR_RESOLVED#1=DISCONNECTED": r"client 1: .*the other end closed the connection",
    "cm:ESTABLISHED#1=UNREACHABLE": r"client 1: .*the other end does not answer",
    "send#3=RETRY_EXC_ERR": r"transport retry counter exceeded: no acknowledgement",
    "link#3=down:60s": r"transport retry counter exceeded|the port of the device went down",
    "device#3=removed": r"the RDMA device .*(was removed|failed)|Flushed",
}
HELD = "the pool has not so much left in one piece: come back later"
DIRT = re.compile(r"Sanitizer|runtime error|Assertion|dumped|Traceback")


class Core:
    """The ends of core, which say their port, and what failed, and nothing else."""

    def __init__(self, wait):
        self.name = f"core/{wait}"
        self.wait = wait

    def server(self):
        return [ENDS, "serve", self.wait]

    def client(self, port, document):
        return [ENDS, "connect", self.wait, str(port)]


class Run:
    """verbmark run and serve: one case of few messages."""

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
    verbmark pool, and serve with one: a grant of all of it, which the next client gets only if
    nothing of it has been left, and some doorbells.
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
]


class Cut(Impostor):
    """A relay of the control channel that ends at the n-th message, of either direction."""

    def __init__(self, port, n):
        self.far = port
        self.left = n
        self.lock = threading.Lock()
        self.seen = 0
        super().__init__(self.relay)

    def relay(self, near):
        far = socket.create_connection(("127.0.0.1", self.far), LIMIT)
        self.sockets.append(far)
        back = threading.Thread(target=self.pump, args=(far, near), daemon=True)
        back.start()
        self.pump(near, far)

    def passes(self, message):
        """Whether the message is still let through; heartbeats do not count."""
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
    """One that writes to files of the row's folder."""

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
            self.row.fail(f"the {self.role} has not ended within {LIMIT} s")
            self.kill()
            return None

    def port(self):
        """That the server has said, or None if it ended without."""
        while time.monotonic() < self.row.deadline:
            lines = self.read("out").split("\n")[:-1]
            # What is on the software device says so first.
            if lines and lines[0].startswith("SOFTWARE DEVICE"):
                del lines[0]
            if lines:
                return int(re.search(r"(\d+)( |$)", lines[0].replace("ready", ""))[1])
            if self.process.poll() is not None:
                return None
            time.sleep(0.002)
        self.row.fail("the server does not get ready")
        return None

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class Row:
    """One fault, at one end of a driver: in complaints is what was not as it should be."""

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
        # Of an end that may have left before, four in turn had not come about, once.
        for _ in range(2 * TRIES):
            self.complaints = []
            self.fired = True
            self.run_once()
            # What went wrong is told, whether the fault came about before it or not.
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
        except Exception as error:  # the row fails, the others go on
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
                self.fail(f"the server, which has no fault, has no port: {server.read('err')}")
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
        # Who was unlucky is no burden to who comes next.
        self.deadline = time.monotonic() + LIMIT
        if isinstance(self.driver, Core) and status == 0 and self.ends_soon(server):
            pass
        elif not LASTING.search(self.plan) and self.plan != "count":
            second, status = self.come("next", port)
            # Core's server may have been about to end, as it had served the first client well.
            ended = status and isinstance(self.driver, Core) and (
                server.wait() == 0 or (self.borne and server.wait() == 1)
            )
            # What a pool has of its device is for all of its clients: it may be this one's turn.
            held = isinstance(self.driver, Pool) and REFUSED.search(self.plan)
            # A server that slept while its messages came waits, and polls, less often for them.
            late = self.role == "server" and self.borne and WAITING.match(self.plan)
            if status and (held or late):
                second, status = self.come("third", port)
            if status and not ended:
                self.fail(f"the next client: {status}: {second.read('err')}")
            self.look(second)
        if server.process.poll() is None and not isinstance(self.driver, Core):
            server.process.terminate()
        self.judge(server, server.wait())

    def come(self, who, port):
        """Another client, and its status: again, while one before it is on its way out."""
        while True:
            client = self.connect(who, port, None)
            status = client.wait()
            if not status or HELD not in client.read("err") or time.monotonic() > self.deadline:
                return client, status
            self.look(client)
            time.sleep(0.02)

    @staticmethod
    def ends_soon(server):
        """Core's server ends by itself when one client was served well."""
        try:
            return server.process.wait(1) is not None
        except subprocess.TimeoutExpired:
            return False

    def connect(self, role, port, plan):
        command = self.driver.client(port, f"{self.folder}/{role}.json")
        return Process(self, role, command, plan)

    def look(self, process):
        """Sanitizers, and what else has no place among the words of a program."""
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
            self.fail(f"the {process.role} ends with {status}: {errors[-500:]}")
        if status == 1 and not sentences and not failed:
            self.fail(f"the {process.role} fails without a word: {errors[-500:]}")
        for words in sentences + (failed or []):
            if UNCLEAR.search(words):
                self.fail(f"the {process.role} says: {words}")

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
            self.missed = f"the fault did not come about: {report}{process.read('err')[-300:]}"


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
    """By kind of fault."""
    rows = collections.defaultdict(list)
    for name, count in counts.items():
        # Whoever leaves first may hear that the other one has left, too, or be gone by then.
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
            # A message that failed is said to have, even by the end that had no harm of it.
            said = "; ".join(row.words)
            if kind == "statuses" and not said and "WR_FLUSH_ERR" not in row.plan:
                row.fail("nobody has a word for it")
            if not isinstance(driver, Pool) and not re.search(SAID.get(row.plan, ""), said):
                row.fail(f"this is all that is said: {said}")
            if "ROWS" in os.environ:
                print(f"# {row.name}: {said}")
            if row.complaints:
                bad.append(f"{row.name}: {'; '.join(row.complaints)}")
        for kind in tally:
            print(f"# {driver.name}: {tally[kind]} {kind}, of which {borne[kind]} were borne")
        print(f"# {driver.name}: the longest took {longest[0]:.1f} s: {longest[1]}", flush=True)
        self.assertTrue(tally)
        if bad:
            raise AssertionError("\n".join(sorted(bad)))

    def count(self, driver, role):
        """What every run calls; what only some do is left to chance."""
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
        """At each message, and behind the last one."""
        rows = [Row(driver, "client", "cut ", n) for n in range(1, MESSAGES + 2)]
        self.check(driver, [("ends of the control channel", row) for row in rows])
        self.assertFalse(any(row.borne for row in rows[:-2]))
        self.assertTrue(rows[-1].borne, "there are more messages than that")


class Matrix(Drivers):
    def test_core(self):
        self.faults(DRIVERS[0])

    def test_run_by_rdma_cm(self):
        self.faults(DRIVERS[1])

    def test_run_by_hand(self):
        self.faults(DRIVERS[2])

    def test_pool(self):
        self.faults(DRIVERS[3])

    def test_control_channel(self):
        for driver in DRIVERS[1:3]:
            self.cuts(driver)


class Others(Drivers):
    """They take long: ci/test leaves them out."""

    def test_connecting(self):
        self.faults(DRIVERS[4])

    def test_granting(self):
        self.faults(DRIVERS[5])

    def test_polling_pool(self):
        self.faults(DRIVERS[6])
