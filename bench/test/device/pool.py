# SPDX-License-Identifier: MIT
"""A pool as its users have it: what both ends print, and what each makes of the other's end."""

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
# The software device has no counters of the kernel's.
NEVER, OFTEN = ("never", r".*\bsend_rnr_err [1-9]\d*\b.*") if DEVICE.startswith("rxe") else (
    ("the device does not count it",) * 2
)


class PoolServer(Server):
    def __init__(self, *options, size=("4MiB",)):
        super().__init__("--device", DEVICE, "--pool", *size, *options)
        wait_until(lambda: self.lines(), PATIENCE, "the pool's line")

    def lines(self):
        return [line.removeprefix("pool: ") for line in list(self.out) if line.startswith("pool: ")]

    def told(self):
        """What it has printed of its clients, behind where it is."""
        return self.lines()[1:]

    def wait_for(self, words):
        wait_until(lambda: any(words in line for line in self.told()), PATIENCE, words)


def pool_at(port, *options):
    return Program(VERBMARK, "pool", ADDRESS, "--port", port, "--device", DEVICE, *options)


def pool(server, *options):
    return pool_at(server.port, *options)


def doorbells(lines):
    """(number, value) of each that is told, in that order."""
    found = (re.search(r"doorbell (\d+): value (\d+)$", line) for line in lines)
    return [(int(bell[1]), int(bell[2])) for bell in found if bell]


class Pool(unittest.TestCase):
    def start(self, *options):
        server = PoolServer(*options)
        self.addCleanup(server.kill)
        return server

    def example(self, wait):
        """The specification's own: 10000 bytes, and what both ends say of them."""
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
        server.wait_for("gone, 0 bytes")
        told = server.told()
        self.assertEqual(told[0].split(": ", 1)[1], "came")
        self.assertIn(granted[0], told[1])
        self.assertEqual(doorbells(told), doorbells(lines))
        self.assertTrue(all(line.startswith(f"{ADDRESS} #1: ") for line in told), told)

    def test_example_polling(self):
        self.example("poll")

    def test_example_sleeping(self):
        self.example("event")

    def test_values(self):
        """1000 that are rung: what the server read is what the client wrote."""
        with tempfile.TemporaryDirectory() as folder:
            for wait in ("poll", "event"):
                there, here = (f"{folder}/{end}-{wait}" for end in ("there", "here"))
                server = self.start("--pool-cq", wait, "--pool-dump", there)
                ended = Ended(pool(
                    server, "--writes", 7000, "--doorbell-every", 7, "--seed", 5, "--dump", here,
                    "--cq", wait,
                ))
                self.assertEqual(ended.status, 0, ended.err)
                server.wait_for("gone")
                server.signal(signal.SIGTERM)
                self.assertEqual(server.wait(), 0)
                with open(here, encoding="ascii") as wrote, open(there, encoding="ascii") as read:
                    text = wrote.read()
                    self.assertEqual(text, read.read())
                self.assertEqual(len(text.splitlines()), 1000)
                self.assertGreater(len(set(text.split())), 1990)

    def test_refusals(self):
        server = self.start("--pool-share", "64k")
        for size, reason in (
            ("65537", "that is more than one client may have: give some back, or a larger "
             "'serve --pool-share' there"),
            ("0", "nothing was asked for: at least one byte"),
            ("5m", "that is more than the whole pool: ask for less, or for a larger 'serve --pool' there"),
        ):
            ended = Ended(pool(server, "--alloc", size))
            self.assertEqual(ended.status, 1)
            self.assertEqual(ended.err, f"verbmark: the server refused: {reason}")
            server.wait_for(reason)
        self.assertEqual(Ended(pool(server)).status, 0)

    def test_one_client_too_many(self):
        server = self.start("--pool-clients", 1)
        first = pool(server, "--writes", 10**9, "--doorbell-every", 0)
        self.addCleanup(first.kill)
        server.wait_for("granted")
        ended = Ended(pool(server))
        self.assertEqual(ended.status, 1)
        self.assertIn(
            "1 of its clients are here: come back later, or raise 'serve --pool-clients' there",
            ended.err,
        )
        # That is for who found nobody.
        self.assertNotIn("running there", ended.err)
        server.wait_for("refused: 1 of its clients are here")
        self.assertIsNone(first.process.poll(), first.errors)
        first.kill()
        server.wait_for("gone")
        self.assertEqual(Ended(pool(server)).status, 0)

    def test_one_after_another(self):
        """A client that has left makes room for the next; rxe reports its end late."""
        def served(server):
            ended = Ended(pool(server, "--writes", 1))
            is_late = DEVICE.startswith("rxe") and "come back later" in ended.err
            return None if is_late else ended

        for wait in ("poll", "event"):
            server = self.start("--pool-clients", 1, "--pool-cq", wait)
            for _ in range(10):
                ended = wait_until(lambda: served(server), what="the place of the last client")
                self.assertEqual((ended.status, ended.err), (0, ""), wait)

    def test_reader_that_ends(self):
        """Who reads what is printed may go; the clients stay."""
        server = subprocess.Popen(
            [VERBMARK, "serve", "--device", DEVICE, "--port", "0", "--pool", "4MiB"],
            stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.kill)
        ready = None
        while not ready:
            line = server.stdout.readline()
            self.assertTrue(line, "it has ended")
            ready = re.match(r"ready \S+:(\d+) ", line)
        server.stdout.close()
        for _ in range(2):
            ended = Ended(pool_at(ready[1], "--writes", 128))
            self.assertEqual((ended.status, ended.err), (0, ""))
        server.terminate()
        # Its last lines are nobody's, which is no death by a signal.
        self.assertGreaterEqual(server.wait(PATIENCE), 0)

    def test_pools_that_are_none(self):
        """And what was in a file stays there."""
        with tempfile.NamedTemporaryFile("w+", encoding="ascii") as dump:
            dump.write("precious")
            dump.flush()
            for words, reason in (
                (("--pool", "17000000000000000000"), "memory"),
                (("--pool", "4MiB", "--pool-share", 1000),
                 "a share of 1000 bytes is less than a page of "),
            ):
                ended = verbmark("serve", "--device", DEVICE, "--port", 0, "--pool-dump",
                                 dump.name, *words)
                self.assertEqual(ended.status, 1)
                self.assertIn(reason, ended.err)
            dump.seek(0)
            self.assertEqual(dump.read(), "precious")

    def test_many_clients(self):
        """As many as are asked for, or none where there is no room for their completions."""
        words = ("--pool-clients", 1024, "--pool-receives", 16384)
        if not DEVICE.startswith("rxe"):
            self.start(*words)
            return
        ended = verbmark("serve", "--device", DEVICE, "--pool", "4MiB", *words)
        self.assertEqual(ended.status, 1)
        self.assertIn(
            "1024 clients and 16384 shared receives are too many for the device's completion "
            "queues of 32767: 511 clients fit", ended.err,
        )

    def test_low_receives(self):
        """What found no receive is counted where the device counts, and is not where all is well."""
        for receives, every, found in (("1024", 64, NEVER), ("8", 1, OFTEN)):
            server = self.start("--pool-receives", receives)
            ended = Ended(pool(server, "--writes", 5000, "--doorbell-every", every))
            self.assertEqual(ended.status, 0, ended.err)
            server.signal(signal.SIGTERM)
            self.assertEqual(server.wait(), 0)
            self.assertRegex(server.out[-2], "gone, 0 bytes taken back$")
            self.assertRegex(
                server.out[-1],
                rf"^pool: ended: clients 1, grants 1, doorbells {5000 // every}, refusals 0; "
                rf"receives ran low: \d+; found none: {found}$",
            )

    def test_nobody_reads(self):
        """Lines that there is no room for are lost and counted; clients are served all the same."""
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
        missing = [int(found) for found in re.findall(r"pool: (\d+) lines are missing", "".join(lines))]
        self.assertGreater(sum(missing), 2000)
        self.assertRegex(lines[-1], "^pool: ended: clients 2, grants 2, doorbells 3001, ")
        # Its heads, where it is, and its end; of each client that it came, what it was granted,
        # its doorbells, and that it gave all back and went.
        told = n_heads + 2 + (4 + 3000) + (4 + 1)
        self.assertEqual(len(lines) - len(missing) + sum(missing), told)

    def test_time(self):
        """Who is served for longer than --max-time is told so, and goes; the next one is served."""
        for wait in ("poll", "event"):
            server = self.start("--pool-cq", wait, "--max-time", "1s")
            ended = Ended(pool(server, "--writes", 2**32 - 1, "--doorbell-every", 0), PATIENCE)
            sentence = "the time that a client is served is over: 'serve --max-time' there gives more"
            self.assertEqual(ended.status, 1)
            self.assertEqual(ended.err, f"verbmark: the server refused: {sentence}")
            server.wait_for("gone, 10000 bytes taken back")
            self.assertIn(f"{ADDRESS} #1: refused: {sentence}", server.told())
            self.assertEqual(Ended(pool(server, "--writes", 1)).status, 0)

    def test_its_size_by_itself(self):
        """The specification's: 4MiB."""
        server = PoolServer(size=())
        self.addCleanup(server.kill)
        self.assertEqual(Ended(pool(server, "--alloc", "4m", "--writes", 1)).status, 0)
        ended = Ended(pool(server, "--alloc", (4 << 20) + 1))
        self.assertEqual(ended.status, 1)
        self.assertIn("that is more than the whole pool", ended.err)

    def test_client_killed(self):
        """What it had is taken back, and the next one has it."""
        server = self.start("--pool-cq", "event")
        for number in range(3):
            client = pool(server, "--alloc", "4m", "--writes", 4000000000, "--doorbell-every", 1000)
            wait_until(lambda: len(doorbells(client.out)) > number, PATIENCE, "doorbells")
            client.kill()
            wait_until(
                lambda: sum(f"gone, {SIZE} bytes" in line for line in server.told()) == number + 1,
                PATIENCE, "what the client had",
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

    def test_beside_a_benchmark(self):
        server = self.start("--pool-cq", "event")
        client = pool(server, "--writes", 4000000000, "--doorbell-every", 1000)
        self.addCleanup(client.kill)
        wait_until(lambda: doorbells(client.out), PATIENCE, "doorbells")
        measure(server, "-n", 200, "--op", "send", "--cq", "event")
        before = len(client.out)
        wait_until(lambda: len(client.out) > before + 2, PATIENCE, "more doorbells")

    def test_who_is_allowed(self):
        server = self.start("--allow", "203.0.113.0/24")
        ended = Ended(pool(server))
        self.assertEqual(ended.status, 1)
        self.assertIn(f"its pool serves nobody at {ADDRESS}: add its network to 'serve --allow' "
                      "there", ended.err)
        # Strangers do not fill what it tells.
        self.assertNotIn("refused", " ".join(server.told()))

    def test_no_pool_there(self):
        with Server("--device", DEVICE) as server:
            ended = Ended(pool(server))
            self.assertEqual(ended.status, 1)
            self.assertRegex(ended.err, f"^verbmark: {ADDRESS} port {server.port}: nothing listens")


class Ports(unittest.TestCase):
    """TCP and rdma_cm have numbers of their own, and a server with a pool has the same of both."""

    FIRST = 45678
    # Of three TCP gives the first two, one of which is taken. rxe's addresses are watched by
    # ports of rdma_cm, too: there it is half of many.
    COUNT, TAKEN = (3, 1) if DEVICE == "soft0" else (32, 16)

    def check_others(self, taken):
        # The ports of this machine are everybody's; those of an emulated one are not.
        apart = ("unshare", "--net") if DEVICE == "soft0" else ()
        if apart and subprocess.run([*apart, "true"], check=False, capture_output=True).returncode:
            self.skipTest("no network namespace can be made")
        ended = Ended(Program(
            *apart, sys.executable, f"{os.path.dirname(__file__)}/../lib/ports_taken.py", VERBMARK, DEVICE,
            self.FIRST, self.FIRST + self.COUNT - 1, *taken,
        ))
        self.assertEqual((ended.status, ended.err), (0, ""))
        port = int(re.search(r"(?m)^ready .*?:(\d+)(?: |$)", ended.out)[1])
        self.assertNotIn(port, taken)
        self.assertIn(f"port {port} of rdma_cm", ended.out)

    # Which of them comes first is TCP's own affair.
    def test_first_are_taken(self):
        self.check_others(range(self.FIRST, self.FIRST + self.TAKEN))

    def test_second_are_taken(self):
        self.check_others(range(self.FIRST + self.TAKEN, self.FIRST + 2 * self.TAKEN))
