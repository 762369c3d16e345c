# SPDX-License-Identifier: MIT
"""A long-running server: its limits for clients, and whom it accepts."""

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

    def check_limit(self, name, **settings):
        with Server(*LIMITS[name][0], **settings) as server:
            check_left_out(server, name)
            measure(server, "-n", 50)

    def test_sizes(self):
        self.check_limit("sizes")

    def test_queue_pairs(self):
        self.check_limit("queue pairs")

    def test_memory(self):
        self.check_limit("memory")

    def test_descriptors(self):
        self.check_limit("descriptors", before=FEW_DESCRIPTORS)

    def test_total_memory(self):
        """Memory of a client is available again when the client disconnects."""
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
                "^other clients leave only 1[0-9]m of this server's memory: retry later, or "
                "raise 'serve --max-memory' on the server$",
            )
            self.assertNotIn("unsupported", failed)
            first.close()
            wait_until(lambda: server.threads() <= 3, what="the first client to be cleaned up")
            second.send(big)
            second.expect("listening")

    def test_clients(self):
        with Server("--max-clients", 1) as server:
            # Connections without a greeting do not count.
            strangers = [Peer.dial(server.port) for _ in range(5)]
            first = self.greeted(server)
            # During a case a client keeps its place.
            first.send(CASE)
            first.expect("listening")
            ended = sweep(server)
            self.assertEqual(ended.status, 1)
            self.assertEqual(
                ended.err,
                f"verbmark: {ADDRESS}: serving its maximum of 1 client: retry later, or raise "
                "'serve --max-clients' on the server",
            )
            first.close()
            for stranger in strangers:
                stranger.close()
            wait_until(lambda: server.threads() <= 2, what="a free place")
            measure(server, "-n", 50)

    def test_idle_client_gives_way(self):
        """An idle client of a full server makes room for a new one, once it has idled for 5 s."""
        with Server("--max-clients", 1) as server:
            with Peer.dial(server.port) as idle:
                idle.send(HELLO)
                idle.expect("welcome")

                def is_served():
                    idle.send(ALIVE)
                    return sweep(server).status == 0

                wait_until(is_served, what="the idle client to give way")
                self.assertRegex(
                    idle.expect("refused")["reason"],
                    r"^disconnected: idle for \d+ s while the server was full and another client "
                    r"waited$",
                )
                self.assertIsNone(idle.receive())

    def test_strangers(self):
        """The oldest of too many connections without a greeting is closed; clients are served."""
        with Server("--max-clients", 1) as server:
            strangers = [Peer.dial(server.port) for _ in range(64)]
            wait_until(lambda: server.threads() >= 64, what="all connections")
            measure(server, "-n", 50)
            refused = strangers[0].expect("refused")
            self.assertEqual(
                refused["reason"],
                "dropped to make room for newer connections: no greeting had arrived",
            )
            self.assertIsNone(strangers[0].receive())
            strangers.append(Peer.dial(server.port))
            wait_until(lambda: server.threads() >= 64, what="the connection to be accepted")
            for stranger in strangers:
                stranger.close()
            wait_until(lambda: server.threads() <= 2, what="free places")
            measure(server, "-n", 50)

    def test_device_that_is_not_offered(self):
        """A client that asks for another device gets neither a case nor a description."""
        with Server("--device", DEVICE) as server:
            for request in (CASE, {"type": "describe"}):
                peer = self.greeted(server)
                peer.send({**request, "device": "other9", "port": 1})
                self.assertEqual(
                    peer.expect("failed")["reason"],
                    f"this server offers {DEVICE} and not other9/1: omit --server-device, or "
                    "start the server with another --device",
                )
            measure(server, "-n", 50)

    def test_time(self):
        """The limit ends a case, which is interrupted; the next client has its own time."""
        path = f"{os.environ['OUT']}/time.json"
        with Server("--max-time", "2s") as server:
            ended = Ended(client("-D", "60s", "--json", path, port=server.port))
            self.assertEqual(ended.status, 1)
            self.assertIn(
                f"{ADDRESS}: this client exceeded its time limit of 2 s: raise 'serve --max-time' "
                "on the server",
                ended.out + ended.err,
            )
            self.assertEqual(documents.read(path)["cases"][0]["status"], "interrupted")
            measure(server, "-n", 50)
        os.unlink(path)

    def test_stopped_between_cases(self):
        """The server's reason arrives in place of an answer; the next case must not fail."""
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
        """A client sends heartbeats but no requests."""
        with Server("--max-pause", "1s") as server:
            with Peer.dial(server.port) as peer:
                peer.send(HELLO)
                peer.expect("welcome")
                refused = peer.expect("refused")
                self.assertEqual(
                    refused["reason"],
                    "this client has been idle for 1 s: raise 'serve --max-pause' on the server",
                )
                self.assertIsNone(peer.receive())
            measure(server, "-n", 50)

    def test_slow_message(self):
        """Bytes that never complete a message are no heartbeat, however often they arrive."""
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
                lambda: any("took longer than 10 s to arrive" in line for line in list(server.err)),
                what="the reason",
            )
            measure(server, "-n", 50)

    def test_long_greetings(self):
        """The server limits greetings to a length that is enough for every valid one."""
        with Server() as server:
            with Peer.dial(server.port) as peer:
                peer.sock.sendall(struct.pack(">I", 4097) + b" " * 100)
                # The close may overtake the reason.
                refused = peer.receive()
                self.assertIn(refused and refused["type"], (None, "refused"))
                self.assertIsNone(refused and peer.receive())
            wait_until(lambda: server.err, what="the reason")
            self.assertIn("control message of 4097 bytes", server.err[0])
            peer = self.greeted(server)
            # Cases may be long.
            peer.send(CASE | {"pairs": " " * 100000})
            peer.expect("listening")
            peer.send(ALIVE)


class Readers(unittest.TestCase):
    """The server logs to standard error, which may or may not be read."""

    def stranger(self, port, host=ADDRESS):
        with Peer.dial(port, host) as peer:
            peer.send({"type": "nonsense"})
            self.assertEqual(peer.receive()["type"], "refused")

    def test_nobody_reads(self):
        """Clients are served even if nobody reads, and lost lines are counted."""
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
            wait_until(lambda: lines, what="the lines that fit")
            self.stranger(port)
            wait_until(lambda: "lines omitted" in "".join(lines), what="the count")
            server.terminate()
            self.assertEqual(server.wait(PATIENCE), 0)
            reader.join()
        lost = re.findall(
            r"verbmark: (\d+) lines omitted: standard error was not read", "".join(lines)
        )
        self.assertEqual(len(lost), 1)
        self.assertGreater(int(lost[0]), 100)
        self.assertEqual(len(lines) - 1 + int(lost[0]), 301)

    def test_rejected_clients(self):
        """The server reports refused clients at most once a second, with their number."""
        def reported():
            others = re.findall(r"and (\d+) others before", "".join(server.err))
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
        self.assertIn("address is not in any network of --allow", server.err[0])
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
                rf"^verbmark: {ADDRESS}: clients from {ADDRESS} are not allowed; add their "
                "network to 'serve --allow'$",
            )
            with Peer.dial(server.port) as peer:
                self.assertEqual(peer.receive()["type"], "refused")
                self.assertIsNone(peer.receive(), "the server did not close the connection")
            # Another network's clients are served.
            with Peer.dial(server.port, "::1") as peer:
                peer.send(HELLO)
                peer.expect("welcome")

    def test_queue_pairs_of_others(self):
        """A client names the address of its queue pairs, which must be an allowed one too."""
        with Server("--allow", f"{ADDRESS}/32,2001:db8::/32") as server:
            for address, gid in (
                ("192.0.2.99", "00000000000000000000ffffc0000263"),
                ("2001:db9::7", "20010db9000000000000000000000007"),
            ):
                with Peer.greeted(server.port) as peer:
                    peer.send(by_hand(gid, transport="UD"))
                    self.assertEqual(
                        peer.expect("failed")["reason"],
                        f"the peer's queue pairs are at {address}, outside the networks of 'serve "
                        "--allow': use another --gid-index, or add it to --allow",
                    )
                    peer.send(by_hand("20010db8000000000000000000000007", transport="UD"))
                    self.assertNotIn("--allow", peer.receive().get("reason", ""))
            measure(server, "-n", 50, "--connect", "qp")

    def test_connections_to_queue_pairs(self):
        """Only allowed addresses may connect to a client's queue pairs, too."""
        for networks, status, sentence in (
            ("::1", 1, f"clients from {ADDRESS} are not allowed; add their network to "
                       "'serve --allow' on the server"),
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

    def test_invalid_addresses(self):
        for options, sentence in (
            (("--bind", "192.0.2.1"), "--bind: this host has no address 192.0.2.1: 'ip address'"),
            (("--bind", "nobody.invalid"), "--bind: 'nobody.invalid' is not an IP address"),
            (("--allow", "10.0.0.0/33"), "--allow: '10.0.0.0/33' is not a list of networks"),
        ):
            with self.subTest(options):
                self.assertIn(sentence, verbmark("serve", "-p", 0, *options).err)


if not os.environ.get("SOFTROCE_ADDRESS"):
    raise unittest.SkipTest("no RDMA device")
