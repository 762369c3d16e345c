# SPDX-License-Identifier: MIT
"""The doctor on this machine, and with servers that are not verbmark's."""

import json
import os
import resource
import select
import socket
import time
import unittest

from cli.machine import has_device, run_into
from verbmark import PATIENCE, Impostor, Peer, verbmark

SOFT_ROCE = "modprobe rdma_rxe && rdma link add rxe0 type rxe netdev "


class Doctor(unittest.TestCase):
    def examine(self, *words):
        """Returns the document, whose verdict must agree with the exit status."""
        ended = verbmark("doctor", "--json", *words)
        self.assertEqual(ended.err, "")
        document = json.loads(ended.out)
        spoiling = [finding for finding in document["findings"] if finding["spoils"]]
        self.assertEqual(document["good"], not spoiling)
        self.assertEqual(ended.status, int(bool(spoiling)))
        self.seconds = ended.seconds
        return document

    def finding(self, code, *words):
        """Returns the only finding with that code."""
        found = [row for row in self.examine(*words)["findings"] if row["code"] == code]
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0]["what"] and found[0]["why"] and found[0]["mend"], found)
        return found[0]

    def test_facts_agree_with_the_system(self):
        facts = self.examine()["hosts"]["client"]
        self.assertEqual(facts["host"], socket.gethostname())
        self.assertEqual(facts["kernel"]["release"], os.uname().release)
        self.assertEqual(facts["kernel"]["version"], os.uname().version)
        self.assertEqual(facts["cpu"]["count"], os.cpu_count())
        self.assertEqual(facts["libc"], os.confstr("CS_GNU_LIBC_VERSION").split()[1])
        # The program raises its limits to the maximum.
        for name, kind in (("nofile", resource.RLIMIT_NOFILE), ("memlock", resource.RLIMIT_MEMLOCK)):
            hard = resource.getrlimit(kind)[1]
            self.assertEqual(facts["limits"][name], "unlimited" if hard < 0 else hard)
        self.assertRegex(facts["rdma_core"]["library"], r"^libibverbs\.so\.1\.")

    @unittest.skipIf(has_device(), "this machine has an RDMA device")
    def test_no_device(self):
        found = self.finding("no-device")
        self.assertTrue(found["spoils"])
        self.assertEqual(found["host"], socket.gethostname())
        self.assertTrue(found["what"].startswith("no RDMA device"))
        self.assertIn(SOFT_ROCE, found["mend"])
        self.assertNotIn("device", self.examine()["hosts"]["client"])

    @unittest.skipIf(has_device(), "this machine has an RDMA device")
    def test_lines(self):
        ended = verbmark("doctor")
        self.assertEqual((ended.status, ended.err), (1, ""))
        lines = ended.out.splitlines()
        self.assertEqual(lines[0], socket.gethostname())
        self.assertTrue(lines[1].startswith(f"! {socket.gethostname()}: no RDMA device"))
        self.assertTrue(lines[2].startswith("  why:  "))
        self.assertIn(SOFT_ROCE, lines[3])
        self.assertRegex(lines[-1], r"^\d+ of \d+ findings would skew a measurement \(!\)$")

    def test_nobody_listens(self):
        # Keep the port bound so that no other program can take it.
        with socket.socket() as kept:
            kept.bind(("127.0.0.1", 0))
            port = kept.getsockname()[1]
            found = self.finding("server", "127.0.0.1", "-p", port)
        self.assertEqual(found["what"], f"nothing listens on 127.0.0.1:{port}")
        self.assertEqual(found["host"], "127.0.0.1")
        self.assertIn("verbmark serve", found["mend"])

    def test_no_answer(self):
        # A full backlog drops connections, as a firewall does.
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(0)
            port = listener.getsockname()[1]
            waiting = [socket.socket() for _ in range(4)]
            try:
                for sock in waiting:
                    sock.setblocking(False)
                    sock.connect_ex(("127.0.0.1", port))
                select.select([], waiting[:1], [], PATIENCE)
                found = self.finding("firewall", "127.0.0.1", "-p", port)
            finally:
                for sock in waiting:
                    sock.close()
        self.assertIn(f"127.0.0.1:{port} does not answer", found["what"])
        self.assertIn("4791", found["why"])
        self.assertIn(f"{port}/tcp", found["mend"])

    def test_no_such_name(self):
        self.assertIn("nobody.invalid", self.finding("unreachable", "nobody.invalid")["what"])

    def test_other_servers(self):
        for what, serve in (
            ("closes", lambda sock: sock.close()),
            ("speaks HTTP", lambda sock: sock.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")),
            ("is silent", lambda sock: time.sleep(PATIENCE)),
        ):
            with self.subTest(what), Impostor(serve) as server:
                found = self.finding("server", "127.0.0.1", "-p", server.port)
                self.assertTrue(found["spoils"])

    def greeted(self, answer, *words, facts=None):
        """Returns the findings with a server that answers the greeting like this."""

        def serve(sock):
            peer = Peer(sock)
            peer.expect("hello")
            peer.send(answer)
            message = peer.receive()
            self.described = message
            if message and message["type"] == "describe" and facts is not None:
                peer.send({"type": "description", "facts": facts})
            elif message and message["type"] == "describe":
                peer.send({"type": "failed", "reason": "there are none"})
            peer.receive()

        with Impostor(serve) as server:
            return self.examine("127.0.0.1", "-p", server.port, *words)

    def test_server_that_rejects_the_client(self):
        document = self.greeted({"type": "refused", "reason": "upgrade\x1b[2J the older one"})
        found = [row for row in document["findings"] if row["code"] == "server"]
        self.assertEqual([row["what"] for row in found], ["127.0.0.1: upgrade?[2J the older one"])
        # The server's reason already includes the advice.
        self.assertEqual([row["mend"] for row in found], [""])
        self.assertNotIn("server", document["hosts"])

    WELCOME = {
        "type": "welcome", "protocol": 5, "version": "0.0.1", "host": "n02",
        "devices": [{
            "device": "mlx5_0", "port": 1, "state": "ACTIVE", "link_layer": "Ethernet",
            "rate_mbps": 100000, "mtu": 1024,
            "addresses": [{"address": "192.0.2.2", "prefix": 24, "interface": "eth0"}],
        }],
    }

    def test_server_without_facts(self):
        document = self.greeted(self.WELCOME)
        self.assertEqual(document["hosts"]["server"]["host"], "n02")
        self.assertEqual(document["hosts"]["server"]["tool"], {"version": "0.0.1"})
        found = [row for row in document["findings"] if row["code"] == "version"]
        self.assertEqual(len(found), 1, document["findings"])
        self.assertFalse(found[0]["spoils"])
        self.assertRegex(found[0]["what"], r"^verbmark [0-9.]+ here, but 0\.0\.1 on n02$")

    def test_facts_of_a_server(self):
        facts = {"host": "n02", "frequency": {"governor": "powersave"},
                 "limits": {"memlock": 65536, "memlock_exempt": False}}
        document = self.greeted(self.WELCOME, facts=facts)
        found = {row["code"]: row for row in document["findings"] if row["host"] == "n02"}
        self.assertEqual(found["governor"]["what"], "CPU governor is powersave")
        self.assertEqual(found["governor"]["mend"], "cpupower frequency-set -g performance")
        self.assertEqual(found["memlock"]["what"], "memlock is 64 KiB")

    def test_faults_of_server_without_matching_port(self):
        """A missing local device does not hide faults of the server."""
        down = {**self.WELCOME["devices"][0], "device": "mlx5_1", "state": "DOWN", "addresses": []}
        facts = {
            "host": "n02", "soft_roce": {"module": "absent", "netdev": "eth0"},
            "device": {"name": "mlx5_1", "software": False},
            "port": {"number": 1, "state": "DOWN", "phys_state": "Disabled"},
        }
        document = self.greeted({**self.WELCOME, "devices": [down]}, facts=facts)
        self.assertEqual((self.described["device"], self.described["port"]), ("mlx5_1", 1))
        found = {row["code"]: row for row in document["findings"] if row["host"] == "n02"}
        self.assertEqual(found["port"]["what"], "mlx5_1/1 is DOWN (Disabled)")
        self.assertNotIn("no-device", found)
        # Asks about the port that would be used; finds no faults without facts of a device.
        document = self.greeted(
            {**self.WELCOME, "devices": [down, *self.WELCOME["devices"]]},
            facts={"host": "n02", "soft_roce": {"module": "absent"}},
        )
        self.assertEqual(self.described["device"], "mlx5_0")
        self.assertEqual(document["hosts"]["server"]["device"], {"name": "mlx5_0"})
        found = [row["code"] for row in document["findings"] if row["host"] == "n02"]
        self.assertNotIn("no-device", found)

    def test_malformed_facts(self):
        for facts in ("x", {"device": [], "host": {}}, {"port": {"number": "\x07"}}):
            with self.subTest(facts):
                server = self.greeted(self.WELCOME, facts=facts)["hosts"]["server"]
                # Facts from the welcome message take the place of malformed ones.
                self.assertEqual(server["host"], "n02")
                self.assertEqual(server["device"], {"name": "mlx5_0"})
                self.assertEqual(server["port"]["active_mtu"], 1024)

    def test_malformed_list_of_devices(self):
        for devices in (None, [{"device": 1}]):
            with self.subTest(devices):
                document = self.greeted({**self.WELCOME, "devices": devices})
                self.assertIn("server", [row["code"] for row in document["findings"]])

    def test_full_output(self):
        with open("/dev/full", "wb") as full:
            for words in (("doctor",), ("doctor", "--json"), ("doctor", "--help")):
                status, errors = run_into(full, *words)
                self.assertEqual(status, 1, words)
                self.assertEqual(len(errors.splitlines()), 1, errors)
