# SPDX-License-Identifier: MIT
"""A pool as its users see it: the output of server and client, which must agree."""

import fcntl
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

from verbmark import (
    ADDRESS, DEVICE, PATIENCE, VERBMARK, Ended, Program, Server, below_heading, measure,
    verbmark, wait_until,
)

GRANTED = r"granted (\d+) bytes at (0x[0-9a-f]+), rkey (0x[0-9a-f]{8})"
SIZE = 4 << 20
# The kernel has no counters for the software device.
NEVER, OFTEN = ("never", r".*\bsend_rnr_err [1-9]\d*\b.*") if DEVICE.startswith("rxe") else (
    ("the device does not count it",) * 2
)


class PoolServer(Server):
    def __init__(self, *options, size=("4MiB",), before=()):
        super().__init__("--device", DEVICE, "--pool", *size, *options, before=before)
        wait_until(lambda: self.lines(), PATIENCE, "the pool's line")

    def lines(self):
        return [line.removeprefix("pool: ") for line in list(self.out) if line.startswith("pool: ")]

    def client_lines(self):
        """Returns the lines about clients, without the first line, which is about the pool."""
        return self.lines()[1:]

    def wait_for(self, words):
        wait_until(lambda: any(words in line for line in self.client_lines()), PATIENCE, words)


def pool_at(port, *options):
    return Program(VERBMARK, "pool", ADDRESS, "--port", port, "--device", DEVICE, *options)


def pool(server, *options):
    return pool_at(server.port, *options)


def doorbells(lines):
    """Returns (number, value) of each doorbell reported, in that order."""
    found = (re.search(r"doorbell (\d+): value (\d+)$", line) for line in lines)
    return [(int(bell[1]), int(bell[2])) for bell in found if bell]


class Pool(unittest.TestCase):
    def start(self, *options, before=()):
        server = PoolServer(*options, before=before)
        self.addCleanup(server.kill)
        return server

    def example(self, wait):
        """Runs the specification's example: 10000 bytes, and matching output of both programs."""
        server = self.start("--pool-cq", wait)
        ended = Ended(pool(server, "--alloc", 10000, "--writes", 64, "--doorbell-every", 16))
        self.assertEqual((ended.status, ended.err), (0, ""))
        lines = below_heading(ended.out.splitlines())
        self.assertEqual(lines[0], f"pool of {SIZE} bytes at {ADDRESS} port {server.port}")
        granted = re.fullmatch(GRANTED, lines[1])
        self.assertEqual(granted[1], "10000")
        self.assertEqual(int(granted[2], 16) % 4096, 0)
        self.assertEqual([number for number, _ in doorbells(lines)], [1, 2, 3, 4])
        self.assertRegex(lines[-2], r"^64 writes, 4 doorbells in [0-9.]+ ms$")
        server.wait_for("disconnected, 0 bytes")
        lines_of_client = server.client_lines()
        self.assertEqual(lines_of_client[0].split(": ", 1)[1], "connected")
        self.assertIn(granted[0], lines_of_client[1])
        self.assertEqual(doorbells(lines_of_client), doorbells(lines))
        self.assertTrue(
            all(line.startswith(f"{ADDRESS} #1: ") for line in lines_of_client), lines_of_client
        )

    def test_example_polling(self):
        self.example("poll")

    def test_example_sleeping(self):
        self.example("event")

    def test_values(self):
        """With 1000 doorbells, the server reads the values that the client wrote."""
        with tempfile.TemporaryDirectory() as folder:
            for wait in ("poll", "event"):
                read_path, written_path = (f"{folder}/{end}-{wait}" for end in ("read", "written"))
                server = self.start("--pool-cq", wait, "--pool-dump", read_path)
                ended = Ended(pool(
                    server, "--writes", 7000, "--doorbell-every", 7, "--seed", 5,
                    "--dump", written_path, "--cq", wait,
                ))
                self.assertEqual(ended.status, 0, ended.err)
                server.wait_for("disconnected")
                server.signal(signal.SIGTERM)
                self.assertEqual(server.wait(), 0)
                with open(written_path, encoding="ascii") as wrote, \
                        open(read_path, encoding="ascii") as read:
                    text = wrote.read()
                    self.assertEqual(text, read.read())
                self.assertEqual(len(text.splitlines()), 1000)
                self.assertGreater(len(set(text.split())), 1990)

    def test_refusals(self):
        server = self.start("--pool-share", "64k")
        for size, reason in (
            ("65537", "the request exceeds the client's share; raise 'serve --pool-share' there"),
            ("0", "the requested size is 0; request at least one byte"),
            ("5m", "the request exceeds the whole pool; raise 'serve --pool' on the server"),
        ):
            ended = Ended(pool(server, "--alloc", size))
            self.assertEqual(ended.status, 1)
            self.assertEqual(ended.err, f"verbmark: the server refused: {reason}")
            server.wait_for(reason)
        self.assertEqual(Ended(pool(server)).status, 0)

    def test_too_many_clients(self):
        server = self.start("--pool-clients", 1)
        first = pool(server, "--writes", 10**9, "--doorbell-every", 0)
        self.addCleanup(first.kill)
        server.wait_for("granted")
        ended = Ended(pool(server))
        self.assertEqual(ended.status, 1)
        self.assertIn(
            "the pool has reached its limit of 1 clients; retry later, or raise "
            "'serve --pool-clients' on the server",
            ended.err,
        )
        # The hint to start a server is only for clients that found none.
        self.assertNotIn("running there", ended.err)
        server.wait_for("refused: the pool has reached its limit of 1 clients")
        self.assertIsNone(first.process.poll(), first.errors)
        first.kill()
        server.wait_for("disconnected")
        self.assertEqual(Ended(pool(server)).status, 0)

    def test_consecutive_clients(self):
        """A client that has left makes room for the next one; rxe reports the disconnect late."""
        def served(server):
            ended = Ended(pool(server, "--writes", 1))
            is_late = DEVICE.startswith("rxe") and "come back later" in ended.err
            return None if is_late else ended

        for wait in ("poll", "event"):
            server = self.start("--pool-clients", 1, "--pool-cq", wait)
            for _ in range(10):
                ended = wait_until(lambda: served(server), what="the place of the last client")
                self.assertEqual((ended.status, ended.err), (0, ""), wait)

    def test_closed_output(self):
        """The reader of the server's output may go away; clients are not affected."""
        server = subprocess.Popen(
            [VERBMARK, "serve", "--device", DEVICE, "--port", "0", "--pool", "4MiB"],
            stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.kill)
        ready = None
        while not ready:
            line = server.stdout.readline()
            self.assertTrue(line, "the server has ended")
            ready = re.match(r"ready \S+:(\d+) ", line)
        server.stdout.close()
        for _ in range(2):
            ended = Ended(pool_at(ready[1], "--writes", 128))
            self.assertEqual((ended.status, ended.err), (0, ""))
        server.terminate()
        # Its last lines are lost, but the server does not die from SIGPIPE.
        self.assertGreaterEqual(server.wait(PATIENCE), 0)

    def test_impossible_pools(self):
        """A pool that cannot be created leaves the dump file as it was."""
        with tempfile.NamedTemporaryFile("w+", encoding="ascii") as dump:
            dump.write("precious")
            dump.flush()
            for words, reason in (
                (("--pool", "17000000000000000000"), "memory"),
                (("--pool", "4MiB", "--pool-share", 1000),
                 "the share of 1000 bytes is smaller than a page of "),
            ):
                ended = verbmark("serve", "--device", DEVICE, "--port", 0, "--pool-dump",
                                 dump.name, *words)
                self.assertEqual(ended.status, 1)
                self.assertIn(reason, ended.err)
            dump.seek(0)
            self.assertEqual(dump.read(), "precious")

    def test_many_clients(self):
        """The server accepts that many clients, or refuses if their completions do not fit."""
        words = ("--pool-clients", 1024, "--pool-receives", 16384)
        if not DEVICE.startswith("rxe"):
            self.start(*words)
            return
        ended = verbmark("serve", "--device", DEVICE, "--pool", "4MiB", *words)
        self.assertEqual(ended.status, 1)
        self.assertIn(
            "1024 clients and 16384 shared receives do not fit in the device's completion "
            "queue of 32767 entries; use at most 511 clients", ended.err,
        )

    def test_low_receives(self):
        """Messages that find no receive are counted if the device does; normally there are none."""
        for receives, every, found in (("1024", 64, NEVER), ("8", 1, OFTEN)):
            server = self.start("--pool-receives", receives)
            ended = Ended(pool(server, "--writes", 5000, "--doorbell-every", every))
            self.assertEqual(ended.status, 0, ended.err)
            server.signal(signal.SIGTERM)
            self.assertEqual(server.wait(), 0)
            self.assertRegex(server.out[-2], "disconnected, 0 bytes reclaimed$")
            self.assertRegex(
                server.out[-1],
                rf"^pool: ended: clients 1, grants 1, doorbells {5000 // every}, refusals 0; "
                rf"receives ran low: \d+; arrived without a receive: {found}$",
            )

    def test_full_output(self):
        """Lines that do not fit are dropped and counted; clients are served anyway."""
        reading, writing = os.pipe()
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
        with subprocess.Popen(
            [VERBMARK, "serve", "--device", DEVICE, "--pool", "4MiB", "-p", "0"], stdout=writing
        ) as server, os.fdopen(reading, encoding="utf-8") as out:
            self.addCleanup(server.kill)
            os.close(writing)
            lines = [out.readline()]
            while not lines[-1].startswith("ready "):
                lines.append(out.readline())
            n_heads = len(lines)
            port = lines[-1].split()[1].rpartition(":")[2]
            ended = Ended(pool_at(port, "--writes", 3000, "--doorbell-every", 1), PATIENCE)
            self.assertEqual(ended.status, 0, ended.err)
            self.assertEqual(len(doorbells(ended.out.splitlines())), 3000)
            reader = threading.Thread(target=lambda: lines.extend(out))
            reader.start()
            self.assertEqual(Ended(pool_at(port, "--writes", 1, "--doorbell-every", 1)).status, 0)
            server.terminate()
            self.assertEqual(server.wait(PATIENCE), 0)
            reader.join()
        missing = [int(found) for found in re.findall(r"pool: (\d+) lines omitted", "".join(lines))]
        self.assertGreater(sum(missing), 2000)
        self.assertRegex(lines[-1], "^pool: ended: clients 2, grants 2, doorbells 3001, ")
        # The heads, the server's location and the summary; for each client that it came, the grant,
        # its doorbells, that it returned the grant and that it left.
        n_lines = n_heads + 2 + (4 + 3000) + (4 + 1)
        self.assertEqual(len(lines) - len(missing) + sum(missing), n_lines)

    def test_time_limit(self):
        """A client that exceeds --max-time is disconnected with a reason; the next is served."""
        # The notice of a slow server arrives before the end of the connection too.
        slow = ("env", "VERBMARK_SOFT_FAULTS=message#2=delay:2s")
        for wait, before in (("poll", ()), ("event", ()), ("event", slow)):
            server = self.start("--pool-cq", wait, "--max-time", "1s", before=before)
            ended = Ended(pool(server, "--writes", 2**32 - 1, "--doorbell-every", 0), PATIENCE)
            sentence = "the client's time limit is over; raise 'serve --max-time' on the server"
            self.assertEqual(ended.status, 1)
            self.assertEqual(ended.err, f"verbmark: the server refused: {sentence}")
            server.wait_for("disconnected, 10000 bytes reclaimed")
            self.assertIn(f"{ADDRESS} #1: refused: {sentence}", server.client_lines())
            self.assertEqual(Ended(pool(server, "--writes", 1)).status, 0)

    def test_default_size(self):
        """The default size is the specification's: 4 MiB."""
        server = PoolServer(size=())
        self.addCleanup(server.kill)
        self.assertEqual(Ended(pool(server, "--alloc", "4m", "--writes", 1)).status, 0)
        ended = Ended(pool(server, "--alloc", (4 << 20) + 1))
        self.assertEqual(ended.status, 1)
        self.assertIn("the request exceeds the whole pool", ended.err)

    def test_client_killed(self):
        """The memory of a killed client is reclaimed and granted again."""
        server = self.start("--pool-cq", "event")
        reclaimed = f"disconnected, {SIZE} bytes"
        for number in range(3):
            client = pool(server, "--alloc", "4m", "--writes", 4000000000, "--doorbell-every", 1000)
            wait_until(lambda: len(doorbells(client.out)) > number, PATIENCE, "doorbells")
            client.kill()
            wait_until(
                lambda: sum(reclaimed in line for line in server.client_lines()
                ) == number + 1,
                PATIENCE, "the client's memory",
            )
        self.assertEqual(Ended(pool(server, "--alloc", "4m")).status, 0)

    def test_server_killed(self):
        for number in (signal.SIGKILL, signal.SIGTERM):
            server = self.start()
            client = pool(server, "--writes", 4000000000, "--doorbell-every", 1000)
            self.addCleanup(client.kill)
            wait_until(lambda: doorbells(client.out), PATIENCE, "doorbells")
            server.signal(number)
            self.assertEqual(client.wait(PATIENCE), 1)
            self.assertEqual(len(client.err), 1, client.err)

    def test_benchmark_at_the_same_time(self):
        server = self.start("--pool-cq", "event")
        client = pool(server, "--writes", 4000000000, "--doorbell-every", 1000)
        self.addCleanup(client.kill)
        wait_until(lambda: doorbells(client.out), PATIENCE, "doorbells")
        measure(server, "-n", 200, "--op", "send", "--cq", "event")
        before = len(client.out)
        wait_until(lambda: len(client.out) > before + 2, PATIENCE, "more doorbells")

    def test_address_that_is_not_allowed(self):
        server = self.start("--allow", "203.0.113.0/24")
        ended = Ended(pool(server))
        self.assertEqual(ended.status, 1)
        self.assertIn(f"the pool does not allow clients from {ADDRESS}; add their network to "
                      "'serve --allow' on the server", ended.err)
        # Rejected addresses must not flood the output.
        self.assertNotIn("refused", " ".join(server.client_lines()))

    def test_server_without_pool(self):
        with Server("--device", DEVICE) as server:
            ended = Ended(pool(server))
            self.assertEqual(ended.status, 1)
            self.assertRegex(ended.err, f"^verbmark: {ADDRESS} port {server.port}: no server is listening")


class Ports(unittest.TestCase):
    """A server with a pool needs a port number that is free in both TCP and rdma_cm."""

    FIRST = 45678
    # TCP assigns the first two of three ports, and one of these is taken in rdma_cm. On rxe the
    # server also binds rdma_cm ports to watch its addresses, so half of a larger range is taken.
    COUNT, TAKEN = (3, 1) if DEVICE == "soft0" else (32, 16)

    def check_others(self, taken):
        # soft0 shares this machine's ports with other programs, so use a network namespace.
        apart = ("unshare", "--net") if DEVICE == "soft0" else ()
        if apart and subprocess.run([*apart, "true"], check=False, capture_output=True).returncode:
            self.skipTest("cannot create a network namespace")
        ended = Ended(Program(
            *apart, sys.executable, f"{os.path.dirname(__file__)}/../lib/ports_taken.py", VERBMARK, DEVICE,
            self.FIRST, self.FIRST + self.COUNT - 1, *taken,
        ))
        self.assertEqual((ended.status, ended.err), (0, ""))
        port = int(re.search(r"(?m)^ready .*?:(\d+)(?: |$)", ended.out)[1])
        self.assertNotIn(port, taken)
        self.assertIn(f"rdma_cm port {port}", ended.out)

    # TCP decides which half it assigns first.
    def test_first_are_taken(self):
        self.check_others(range(self.FIRST, self.FIRST + self.TAKEN))

    def test_second_are_taken(self):
        self.check_others(range(self.FIRST + self.TAKEN, self.FIRST + 2 * self.TAKEN))
