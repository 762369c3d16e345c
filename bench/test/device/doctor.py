# SPDX-License-Identifier: MIT
"""The doctor's test messages: over a good path, and with faulty servers."""

import json
import socket
import time
import unittest

from verbmark import (
    ADDRESS, ALIVE, IS_SOFT, PATIENCE, Impostor, Peer, Server, counter, verbmark,
)

SIZES = r"messages of 64, \d+k and 64k bytes reach \S+ and come back, with an MTU of \d+; "


def welcome():
    """Returns the welcome message that a server on this machine would send."""
    devices = json.loads(verbmark("devices", "--json").out)
    return {
        "type": "welcome", "protocol": 4, "version": "0", "host": "n02", "devices": devices,
    }


class Path(unittest.TestCase):
    def examine(self, port, host=ADDRESS):
        ended = verbmark("doctor", "--json", host, "-p", port)
        self.assertEqual(ended.err, "")
        document = json.loads(ended.out)
        self.seconds = ended.seconds
        return {row["code"]: row for row in document["findings"]}, document

    def test_good_path(self):
        before = counter("sent_pkts")
        with Server() as server:
            found, document = self.examine(server.port)
            self.assertEqual(server.errors, "")
        self.assertFalse(found["path"]["spoils"])
        self.assertRegex(found["path"]["what"], SIZES + "connected with rdma_cm and --connect qp")
        self.assertIn(str(document["hosts"]["client"]["port"]["active_mtu"]), found["path"]["what"])
        self.assertFalse(set(found) & {
            "path-blocked", "path-mtu", "path-loss", "connect-cm", "connect-qp", "server",
        })
        if IS_SOFT:
            return
        # Counters moved by the test messages are reported, like those that move on their own.
        self.assertGreater(document["counters"]["sent_pkts"], 400)
        self.assertGreaterEqual(counter("sent_pkts"), before + document["counters"]["sent_pkts"])

    def test_repeated_tests(self):
        with Server() as server:
            for _ in range(3):
                self.assertFalse(self.examine(server.port)[0]["path"]["spoils"])
            self.assertEqual(server.errors, "")

    def test_too_little_memory(self):
        bound = ("setpriv", "--bounding-set=-ipc_lock", "prlimit", "--memlock=65536:65536")
        with Server(before=bound) as server:
            found = self.examine(server.port)[0]
        # The buffers of the small messages fit.
        self.assertTrue(found["path"]["spoils"], found)
        self.assertRegex(found["path"]["what"], "^messages of 64k bytes fail, smaller ones do not")
        self.assertIn("memlock is 64 KiB", found["path"]["what"])

    def with_answer(self, answer):
        """Returns the findings if a server answers each case like this and describes no facts."""
        greeting = welcome()

        def serve(sock):
            peer = Peer(sock)
            peer.expect("hello")
            peer.send(greeting)
            while True:
                message = peer.receive()
                if not message or message["type"] == "bye":
                    return
                if message["type"] == "case":
                    answer(peer, message)
                elif message["type"] == "stop":
                    peer.send({"type": "failed", "reason": "there was nothing"})
                else:
                    peer.send({"type": "failed", "reason": "there is none"})

        with Impostor(serve) as server:
            return self.examine(server.port)[0]

    def test_server_that_rejects_each_case(self):
        found = self.with_answer(
            lambda peer, case: peer.send({"type": "failed", "reason": "never"})
        )
        self.assertEqual(found["path"]["what"], "no message can be sent: the server: never")

    def test_server_with_malformed_answers(self):
        pair = {
            "lid": 0, "gid": "00" * 16, "qpn": 1, "psn": 1, "mtu": 1024, "reads": 1, "qkey": 0,
            "address": 0, "size": 4096, "rkey": 0,
        }
        for answer in (
            {"type": "listening"},
            {"type": "listening", "pairs": 7, "address": [], "ports": {}},
            {"type": "listening", "pairs": [{**pair, "gid": "xx"}], "address": "x", "ports": [1]},
            {"type": "listening", "pairs": [pair], "address": ADDRESS, "ports": [1]},
            {"type": "ready"},
            {"type": "done"},
            {},
            [],
        ):
            with self.subTest(answer):
                found = self.with_answer(lambda peer, case, answer=answer: peer.send(answer))
                self.assertTrue(
                    set(found) & {"path", "server", "path-blocked", "connect-qp", "connect-cm"},
                    found,
                )

    def test_server_that_disconnects(self):
        found = self.with_answer(lambda peer, case: peer.sock.shutdown(socket.SHUT_RDWR))
        self.assertTrue(found["server"]["what"].startswith("the server was lost while messages"))

    def test_silent_server(self):
        def answer(peer, case):
            end = time.monotonic() + PATIENCE
            while time.monotonic() < end:
                peer.send(ALIVE)
                time.sleep(0.5)

        found = self.with_answer(answer)
        self.assertIn("no answer within", found["server"]["what"])

    def test_server_that_is_ready_forever(self):
        def answer(peer, case):
            end = time.monotonic() + PATIENCE
            while time.monotonic() < end:
                peer.send({"type": "ready"})

        self.with_answer(answer)
