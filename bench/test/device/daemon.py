# SPDX-License-Identifier: MIT
"""A server that is left running: what it gives its clients, and whom it takes for one."""

import fcntl
import os
import re
import signal
import socket
import struct
import subprocess
import threading
import time
import unittest

import documents
from limits import FEW_DESCRIPTORS, LIMITS, check_left_out
from verbmark import (
    ADDRESS, ALIVE, CASE, DEVICE, HELLO, PATIENCE, VERBMARK, Ended, Peer, Program, Relay,
    Server, by_hand, client, frame, measure, verbmark, wait_until,
)


def sweep(server, *options):
    return Ended(client("-n", 50, *options, port=server.port))


class Limits(unittest.TestCase):
    def greeted(self, server):
        peer = Peer.greeted(server.port)
        self.addCleanup(peer.close)
        return peer

    def check_left_out(self, name, **settings):
        with Server(*LIMITS[name][0], **settings) as server:
            check_left_out(server, name)
            measure(server, "-n", 50)

    def test_sizes(self):
        self.check_left_out("sizes")

    def test_queue_pairs(self):
        self.check_left_out("queue pairs")

    def test_memory(self):
        self.check_left_out("memory")

    def test_descriptors(self):
        self.check_left_out("descriptors", before=FEW_DESCRIPTORS)

    def test_memory_of_all(self):
        """What one has taken is the other's again when it goes."""
        big = CASE | {"parameters": CASE["parameters"] | {"size": 16 << 20}}
        with Server("--max-memory", "48m") as server:
            first = self.greeted(server)
            first.send(big)
            first.expect("listening")
            second = self.greeted(server)
            second.send(big)
            failed = second.expect("failed")
            self.assertRegex(
                failed["reason"],
                "^other clients have left 1[0-9]m of this server's memory: come back later, or "
                "raise 'serve --max-memory' there$",
            )
            self.assertNotIn("unsupported", failed)
            first.close()
            wait_until(lambda: server.threads() <= 3, what="the end of the first")
            second.send(big)
            second.expect("listening")

    def test_clients(self):
        with Server("--max-clients", 1) as server:
            # Who has not greeted is in nobody's way.
            strangers = [Peer.dial(server.port) for _ in range(5)]
            first = self.greeted(server)
            ended = sweep(server)
            self.assertEqual(ended.status, 1)
            self.assertEqual(
                ended.err,
                f"verbmark: {ADDRESS}: 1 client is being served, which is all it takes: come "
                "back later, or raise 'serve --max-clients' there",
            )
            first.close()
            for stranger in strangers:
                stranger.close()
            wait_until(lambda: server.threads() <= 2, what="room")
            measure(server, "-n", 50)

    def test_strangers(self):
        """Of many that have not greeted the oldest gives way, and clients are served."""
        with Server("--max-clients", 1) as server:
            strangers = [Peer.dial(server.port) for _ in range(64)]
            wait_until(lambda: server.threads() >= 64, what="all of them")
            measure(server, "-n", 50)
            refused = strangers[0].expect("refused")
            self.assertEqual(
                refused["reason"], "others have come, and this one had not greeted yet"
            )
            self.assertIsNone(strangers[0].receive())
            strangers.append(Peer.dial(server.port))
            wait_until(lambda: server.threads() >= 64, what="the place that was free")
            for stranger in strangers:
                stranger.close()
            wait_until(lambda: server.threads() <= 2, what="room")
            measure(server, "-n", 50)

    def test_device_that_is_not_offered(self):
        """Whoever asks for another one all the same has neither a case nor a description."""
        with Server("--device", DEVICE) as server:
            for asked in (CASE, {"type": "describe"}):
                peer = self.greeted(server)
                peer.send({**asked, "device": "other9", "port": 1})
                self.assertEqual(
                    peer.expect("failed")["reason"],
                    f"this server offers {DEVICE} and not other9/1: leave --server-device "
                    "away, or start it with another 'serve --device'",
                )
            measure(server, "-n", 50)

    def test_time(self):
        """It is over during a case, which is interrupted; the next client has its own."""
        path = f"{os.environ['OUT']}/time.json"
        with Server("--max-time", "2s") as server:
            ended = Ended(client("-D", "60s", "--json", path, port=server.port))
            self.assertEqual(ended.status, 1)
            self.assertIn(
                f"{ADDRESS}: the 2 s that a client is served are over: 'serve --max-time' there "
                "gives more",
                ended.out + ended.err,
            )
            self.assertEqual(documents.read(path)["cases"][0]["status"], "interrupted")
            measure(server, "-n", 50)
        os.unlink(path)

    def test_stopped_between_cases(self):
        """What comes in the place of an answer is why, and the next case does not fail of it."""
        path = f"{os.environ['OUT']}/between.json"
        with Server() as server, Relay(server, "note") as relay:
            program = client("-s", "64,128", "-n", 50, "--json", path, port=relay.port)
            self.addCleanup(program.kill)
            relay.wait()
            server.signal(signal.SIGTERM)
            self.assertEqual(program.wait(), 1)
        self.assertIn("the server was stopped", program.errors)
        self.assertEqual([case["status"] for case in documents.read(path)["cases"]],
                         ["complete", "interrupted"])
        os.unlink(path)

    def test_pause(self):
        """A client that lives and asks for nothing."""
        with Server("--max-pause", "1s") as server:
            with Peer.dial(server.port) as peer:
                peer.send(HELLO)
                peer.expect("welcome")
                refused = peer.expect("refused")
                self.assertEqual(
                    refused["reason"],
                    "this client has asked for nothing for 1 s: 'serve --max-pause' there gives more",
                )
                self.assertIsNone(peer.receive())
            measure(server, "-n", 50)

    def test_a_message_that_drips(self):
        """As fast as a heartbeat, and never whole: that is not a client that lives."""
        with Server() as server:
            sock = socket.create_connection((ADDRESS, server.port))
            sock.settimeout(0.01)
            with sock:
                sock.sendall(frame(HELLO))
                try:
                    for byte in struct.pack(">I", 1000) + b"x" * 2 * PATIENCE:
                        sock.sendall(bytes([byte]))
                        time.sleep(0.5)
                except ConnectionError:
                    pass
            wait_until(
                lambda: any("has taken longer than 10 s" in line for line in list(server.err)),
                what="the reason",
            )
            measure(server, "-n", 50)

    def test_long_greetings(self):
        """Nothing is kept for a stranger but what a greeting takes."""
        with Server() as server:
            with Peer.dial(server.port) as peer:
                peer.sock.sendall(struct.pack(">I", 4097) + b" " * 100)
                # The end of the connection may overtake the reason.
                refused = peer.receive()
                self.assertIn(refused and refused["type"], (None, "refused"))
                self.assertIsNone(refused and peer.receive())
            wait_until(lambda: server.err, what="the reason")
            self.assertIn("a control message of 4097 bytes", server.err[0])
            peer = self.greeted(server)
            # A case that is as long as cases may be.
            peer.send(CASE | {"pairs": " " * 100000})
            peer.expect("listening")
            peer.send(ALIVE)


class Readers(unittest.TestCase):
    """What the server says of its clients goes to standard error, which somebody reads, or not."""

    def stranger(self, port, host=ADDRESS):
        with Peer.dial(port, host) as peer:
            peer.send({"type": "nonsense"})
            self.assertEqual(peer.receive()["type"], "refused")

    def test_nobody_reads(self):
        """Clients are served all the same, and lines that were lost are counted."""
        reading, writing = os.pipe()
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
        with subprocess.Popen(
            [VERBMARK, "serve", "-p", "0"], stdout=subprocess.PIPE, stderr=writing, text=True
        ) as server, os.fdopen(reading, encoding="utf-8") as err:
            self.addCleanup(server.kill)
            os.close(writing)
            words = []
            while not words or words[0] != "ready":
                words = server.stdout.readline().split()
            port = int(words[1].rpartition(":")[2])
            for _ in range(300):
                self.stranger(port)
            ended = Ended(client("-n", 50, port=port))
            self.assertEqual(ended.status, 0, ended.err)
            lines = []
            reader = threading.Thread(target=lambda: lines.extend(err))
            reader.start()
            wait_until(lambda: lines, what="what there was room for")
            self.stranger(port)
            wait_until(lambda: "lines more" in "".join(lines), what="the count")
            server.terminate()
            self.assertEqual(server.wait(PATIENCE), 0)
            reader.join()
        lost = re.findall(r"verbmark: (\d+) lines more were lost here: nobody read this", "".join(lines))
        self.assertEqual(len(lost), 1)
        self.assertGreater(int(lost[0]), 100)
        self.assertEqual(len(lines) - 1 + int(lost[0]), 301)

    def test_who_knocks(self):
        """The server reports refused clients at most once a second, with their number."""
        def reported():
            others = re.findall(r"nor were (\d+) others before", "".join(server.err))
            return len(server.err) + sum(map(int, others))

        with Server("--allow", "203.0.113.0/24") as server:
            start = time.monotonic()
            for _ in range(200):
                with Peer.dial(server.port) as peer:
                    self.assertEqual(peer.receive()["type"], "refused")
            time.sleep(1)
            with Peer.dial(server.port) as peer:
                self.assertEqual(peer.receive()["type"], "refused")
            wait_until(lambda: reported() == 201, what="the count")
            most = 1 + int(time.monotonic() - start)
        self.assertIn("not of a network of --allow", server.err[0])
        self.assertLessEqual(len(server.err), most)


class Networks(unittest.TestCase):
    def test_allowed(self):
        for networks in (f"{ADDRESS}/32", f"fd00::/8,{ADDRESS}", f"{ADDRESS}/8", "0.0.0.0/0"):
            with self.subTest(networks), Server("--allow", networks) as server:
                measure(server, "-n", 50, "--op", "send,connect")

    def test_not_allowed(self):
        with Server("--allow", "203.0.113.0/24", "--allow", "::1") as server:
            ended = sweep(server)
            self.assertEqual(ended.status, 1)
            self.assertRegex(
                ended.err,
                rf"^verbmark: {ADDRESS}: this server serves nobody at {ADDRESS}: add its "
                "network to 'serve --allow' there$",
            )
            with Peer.dial(server.port) as peer:
                self.assertEqual(peer.receive()["type"], "refused")
                self.assertIsNone(peer.receive(), "it is served")
            # Another network's clients are served.
            with Peer.dial(server.port, "::1") as peer:
                peer.send(HELLO)
                peer.expect("welcome")

    def test_queue_pairs_of_others(self):
        """Whoever is served says where queue pairs are: what is sent goes to allowed ones alone."""
        with Server("--allow", f"{ADDRESS}/32,2001:db8::/32") as server:
            for place, gid in (
                ("192.0.2.99", "00000000000000000000ffffc0000263"),
                ("2001:db9::7", "20010db9000000000000000000000007"),
            ):
                with Peer.greeted(server.port) as peer:
                    peer.send(by_hand(gid, transport="UD"))
                    self.assertEqual(
                        peer.expect("failed")["reason"],
                        f"the other end's queue pairs are at {place}, which is of no network of "
                        "'serve --allow' here: take another --gid-index, or add it there",
                    )
                    peer.send(by_hand("20010db8000000000000000000000007", transport="UD"))
                    self.assertNotIn("--allow", peer.receive().get("reason", ""))
            measure(server, "-n", 50, "--connect", "qp")

    def test_who_connects(self):
        """What listens for a client's queue pairs is for allowed addresses, too."""
        for networks, status, sentence in (
            ("::1", 1, f"this server serves nobody at {ADDRESS}: add its network to "
                       "'serve --allow' there"),
            (f"::1,{ADDRESS}", 0, "connected"),
        ):
            with Server("--allow", networks) as server, Peer.dial(server.port, "::1") as peer:
                peer.send(HELLO)
                peer.expect("welcome")
                peer.send(CASE)
                listening = peer.expect("listening")
                with Program(
                    os.environ["STRANGER"], listening["address"], listening["ports"][0]
                ) as stranger:
                    self.assertEqual(stranger.wait(), status)
                    self.assertIn(sentence, stranger.out[0])

    def test_bound_to_one_address(self):
        other = "127.0.0.2" if ADDRESS.startswith("127.") else "127.0.0.1"
        with Server("--bind", ADDRESS) as server:
            with self.assertRaises(ConnectionRefusedError):
                Peer.dial(server.port, other)
            with self.assertRaises(ConnectionRefusedError):
                Peer.dial(server.port, "::1")
            measure(server, "-n", 50)

    def test_bound_to_ipv6(self):
        with Server("--bind", "::1") as server:
            with self.assertRaises(ConnectionRefusedError):
                Peer.dial(server.port)
            measure(server, "-n", 50, host="::1")

    def test_addresses_that_are_none(self):
        for options, sentence in (
            (("--bind", "192.0.2.1"), "--bind: this host has no address 192.0.2.1: 'ip address'"),
            (("--bind", "nobody.invalid"), "--bind: 'nobody.invalid' is not an IP address"),
            (("--allow", "10.0.0.0/33"), "--allow: '10.0.0.0/33' is not a list of networks"),
        ):
            with self.subTest(options):
                self.assertIn(sentence, verbmark("serve", "-p", 0, *options).err)


if not os.environ.get("SOFTROCE_ADDRESS"):
    raise unittest.SkipTest("there is no RDMA device")
