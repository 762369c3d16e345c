# SPDX-License-Identifier: MIT
"""A server and unexpected connections to its control port while it serves other clients."""

import contextlib
import os
import random
import socket
import struct
import threading
import time
import unittest

import documents
from verbmark import (
    ADDRESS, ALIVE, CASE, DEVICE, FAULTY, HELLO, PATIENCE, RUN_PATIENCE, Ended, Peer, Relay, Server,
    client, counter, frame, measure, resources, wait_until,
)


def asking(**parameters):
    return {"parameters": CASE["parameters"] | parameters}


class NoBegin(unittest.TestCase):
    """The server waits for permission to send in its own direction, and gets another message."""

    def run_with(self, **changes):
        with Server() as server, Relay(server, "begin") as relay:
            program = client("-b", "--metric", "bw", "-n", 10**12, port=relay.port)
            self.addCleanup(program.kill)
            relay.wait()
            relay.release(**changes)
            self.assertEqual(program.wait(), 1)
            measure(server, "-n", 50)
            # The reason is on the line below the case.
            return [reason for case, reason in zip(program.out, program.out[1:])
                    if case.endswith("bidirectional: failed")]

    def test_stop(self):
        """A client that has given up sends this."""
        self.assertTrue(self.run_with(type="stop"))

    def test_another_message(self):
        (reason,) = self.run_with(type="note")
        self.assertRegex(reason, ": the client sent an unexpected message instead of 'stop'$")


class Disconnecting(unittest.TestCase):
    """A client disconnects while the server is still cleaning up after another one."""

    def test_both_are_cleaned_up(self):
        with Server(program=FAULTY) as server:
            standing = lambda: (server.threads(), server.descriptors())
            before = standing()
            first, second = Peer.dial(server.port), Peer.dial(server.port)
            for peer in (first, second):
                peer.send(HELLO)
                peer.expect("welcome")
            number = server.threads()
            first.close()
            wait_until(lambda: server.threads() < number, what="the first cleanup")
            second.close()
            wait_until(lambda: standing() == before, what="both cleanups")


class Clients(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.kill)

    def dial(self):
        peer = Peer.dial(self.server.port)
        self.addCleanup(peer.close)
        return peer

    def greet(self):
        peer = self.dial()
        peer.send(HELLO)
        peer.expect("welcome")
        return peer

    def wait_for_line(self, part):
        """Waits until the server reports that about one of its clients."""
        wait_until(
            lambda: any(part in line for line in list(self.server.err)), what=f"'{part}'"
        )

    def test_another_protocol_is_rejected(self):
        peer = self.dial()
        peer.send({"type": "hello", "protocol": 999, "version": "9.9"})
        refused = peer.receive()
        self.assertEqual(refused["type"], "refused")
        self.assertRegex(
            refused["reason"],
            r"^the client speaks protocol 999 \(verbmark 9\.9\), the server speaks 5 \(.+\): "
            r"upgrade the older one$",
        )
        self.assertIsNone(peer.receive(), "the server did not close the connection")
        self.wait_for_line("speaks protocol 999")
        measure(self.server, "-n", 50)

    def test_no_greeting(self):
        peer = self.dial()
        peer.send(CASE)
        self.assertIn("unexpected greeting", peer.receive()["reason"])

    def test_silent_client(self):
        with socket.create_connection((ADDRESS, self.server.port), PATIENCE) as sock:
            while sock.recv(4096):
                pass
        self.wait_for_line("silent for 4 s")

    def test_slow_greeting(self):
        with socket.create_connection((ADDRESS, self.server.port), PATIENCE) as sock:
            try:
                for byte in frame(HELLO):
                    sock.sendall(bytes([byte]))
                    sock.settimeout(0.5)
                    try:
                        while sock.recv(4096):
                            pass
                        break
                    except TimeoutError:
                        pass
            except ConnectionError:
                pass
        self.wait_for_line("no answer within 5000 ms")

    def test_invalid_cases(self):
        wrong = [
            (asking(op="push"), "cannot run the case: op is not one of send, write, read"),
            (asking(size=0), "this server cannot run the case: size must be between 1 and 1g"),
            (asking(size=1 << 40), "this server cannot run the case: size must be between 1 and 1g"),
            (asking(size=[64]), "this server cannot run the case: size is not a number"),
            (asking(cq="busy"), "cannot run the case: cq is not one of poll, event, adaptive"),
            (asking(colour=1), "this server cannot run the case: unknown parameter 'colour'"),
            ({"parameters": []}, "malformed case: its parameters are not an object"),
            ({"parameters": None}, "malformed case"),
            ({"address": 7}, "malformed case"),
            ({"address": "192.0.2.1"}, "no RDMA device has the address 192.0.2.1"),
            ({"address": "mlx5_0"}, f"no device 'mlx5_0'; available: {DEVICE}"),
            ({"device": "mlx5_0"}, f"no device 'mlx5_0'; available: {DEVICE}"),
            ({"device": 7}, "malformed case"),
            ({"device": ""}, "malformed case: invalid device name"),
            # Cut to the 127 bytes that a path once had, this named a terminal, which blocks.
            (
                {"device": "../../../" + "./" * 44 + "dev/ptmx"},
                "malformed case: invalid device name",
            ),
            ({"port": 0}, "malformed case: invalid device port 0"),
            ({"type": "ready"}, "the client sent an unexpected message instead of 'case'"),
        ]
        peer = self.greet()
        for change, reason in wrong:
            peer.send(CASE | change)
            failed = peer.receive()
            self.assertEqual(failed["type"], "failed")
            self.assertIn(reason, failed["reason"])
        # Each failed case costs nothing else.
        peer.send(CASE)
        peer.expect("listening")

    def test_cases_at_the_limits(self):
        # The device may refuse these values, but nothing may be left behind.
        for parameters in (
            {"size": 1 << 30},
            {"tx-depth": 16384, "rx-depth": 16384},
            {"tx-depth": 1, "rx-depth": 1, "cq-mod": 16384},
            {"inline": 65536},
            {"hugepages": True, "size": 1 << 30},
            {"iterations": 10**12, "duration_ns": 86400 * 10**9, "trials": 1000},
            {"timeout": 31, "retries": 0},
            {"op": "read", "metric": "bw", "cq": "adaptive", "server-cq": "event"},
        ):
            with self.subTest(parameters):
                peer = self.greet()
                peer.send(CASE | asking(**parameters))
                self.assertIn(peer.receive(RUN_PATIENCE)["type"], ("listening", "failed"))
                peer.close()
        wait_until(lambda: self.server.threads() <= 2, what="the clients to be cleaned up")
        measure(self.server, "-n", 50)

    def test_resources_of_disconnected_clients(self):
        self.greet().close()
        measure(self.server, "-n", 50)
        before = self.standing()
        for _ in range(5):
            for last in (None, HELLO, CASE, {"type": "nonsense"}):
                peer = self.dial()
                if last is not None:
                    peer.send(HELLO)
                    peer.expect("welcome")
                    peer.send(last)
                    peer.receive()
                peer.close()
        wait_until(lambda: self.standing() == before, what="the resources to be released")

    def standing(self):
        return resources(), self.server.descriptors(), self.server.threads()

    def test_maximum_of_clients(self):
        guests = []
        while len(guests) < 64:
            guests.append(self.greet())
            # During a case a client keeps its place.
            guests[-1].send(CASE)
            guests[-1].expect("listening")
            # Heartbeats keep the first clients alive.
            for guest in guests:
                guest.send(ALIVE)
        ended = Ended(client("-n", 50, port=self.server.port))
        self.assertEqual(ended.status, 1)
        self.assertEqual(
            ended.err,
            f"verbmark: {ADDRESS}: serving its maximum of 64 clients: retry later, or raise "
            "'serve --max-clients' on the server",
        )
        for guest in guests:
            guest.close()
        wait_until(lambda: self.server.threads() <= 2, what="a free place")
        measure(self.server, "-n", 50)

    def test_attack_during_a_measurement(self):
        path = f"{os.environ['OUT']}/result.json"
        dice = random.Random(7471)
        over = threading.Event()
        self.addCleanup(over.set)
        slow = threading.Thread(target=self.drip, args=(over,), daemon=True)
        slow.start()
        rounds = 0
        # A measurement may end before the attacker has got a CPU.
        for _ in range(50):
            before = counter("sent_pkts")
            program = client(
                "-n", 5000, "--cq", "event", "--json", path, port=self.server.port
            )
            with program:
                wait_until(lambda start=before: counter("sent_pkts") > start + 1000, what="the measurement")
                while program.process.poll() is None:
                    self.attack(dice)
                    rounds += 1
                self.assertEqual(program.wait(), 0, program.errors)
            case = documents.read(path)["cases"][0]
            os.unlink(path)
            self.assertEqual(case["latency_ns"]["count"], 5000)
            if rounds > 2:
                break
        over.set()
        slow.join()
        self.assertGreater(rounds, 2)
        measure(self.server, "-n", 50)

    def drip(self, over):
        while not over.is_set():
            try:
                with socket.create_connection((ADDRESS, self.server.port), PATIENCE) as sock:
                    for byte in frame(HELLO):
                        if over.wait(0.2):
                            return
                        sock.sendall(bytes([byte]))
            except ConnectionError:
                pass  # the server closed the connection

    def attack(self, dice):
        hello = frame(HELLO)
        for bytes_sent in (
            b"",
            b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
            dice.randbytes(dice.randrange(1, 3000)),
            struct.pack(">I", 0xFFFFFFFF) + b"x",
            struct.pack(">I", 1 << 20) + b'{"type":',
            hello[: dice.randrange(1, len(hello))],
            hello + hello,
            hello + frame(CASE | asking(size=1 << 30))[:20],
            hello + 9 * frame({"type": "stop"}),
            frame([]) + hello,
        ):
            try:
                with socket.create_connection((ADDRESS, self.server.port), PATIENCE) as sock:
                    sock.sendall(bytes_sent)
                    if dice.random() < 0.5:
                        # Close with a reset.
                        sock.setsockopt(
                            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
                        )
            except ConnectionError:
                pass  # the server closed the connection early


class Ends(unittest.TestCase):
    """A server that ends on its own."""

    def test_once(self):
        """--once counts only clients that were served, not rejected ones."""
        with Server("--once") as server:
            Peer.dial(server.port).close()
            with Peer.dial(server.port) as peer:
                peer.send({"type": "hello", "protocol": 999, "version": "9.9"})
                self.assertEqual(peer.receive()["type"], "refused")
            wait_until(lambda: len(server.err) == 2, what="two rejected clients")
            measure(server, "-n", 50)
            self.assertEqual(server.wait(), 0)

    def test_idle(self):
        """A server with a client is not idle."""
        with Server("--idle", "2s") as server:
            measure(server, "-n", 50)
            with Peer.dial(server.port) as peer:
                peer.send(HELLO)
                peer.expect("welcome")
                for _ in range(6):
                    peer.send(ALIVE)
                    time.sleep(0.5)
                self.assertIsNone(server.process.poll())
            self.assertEqual(server.wait(), 0)

    def test_idle_ignores_strangers(self):
        """Connections without a greeting do not keep the server from being idle."""
        with Server("--idle", "2s") as server:
            strangers = []
            start = time.monotonic()
            try:
                while server.process.poll() is None and time.monotonic() < start + PATIENCE:
                    strangers.append(Peer.dial(server.port))
                    time.sleep(0.2)
            except ConnectionError:
                pass
            self.assertEqual(server.wait(), 0)
            for stranger in strangers:
                stranger.close()

    def test_once_rejects_strangers(self):
        """When the client has been served, connections without a greeting are rejected."""
        with Server("--once") as server:
            measured = threading.Event()
            strangers = [Peer.dial(server.port)]

            def knock():
                with contextlib.suppress(ConnectionError):
                    while not measured.wait(0.2):
                        strangers.append(Peer.dial(server.port))

            knocking = threading.Thread(target=knock)
            knocking.start()
            try:
                measure(server, "-n", 50)
                self.assertEqual(server.wait(4), 0)
            finally:
                measured.set()
                knocking.join()
            self.assertEqual(strangers[0].receive()["type"], "refused")
            for stranger in strangers:
                stranger.close()
