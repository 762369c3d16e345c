# SPDX-License-Identifier: MIT
"""XRC: queue pairs that only send, and one shared receive queue on each side."""

import unittest

from verbmark import (
    IS_SOFT, RUN_PATIENCE, Ended, Peer, Served, by_hand, client, measure,
)

OPERATIONS = (
    "send", "send-imm", "write", "read", "write-imm", "fetch-add", "compare-swap",
    "atomic-write", "write-notify", "read-notify", "doorbell",
)


@unittest.skipUnless(IS_SOFT, "Soft-RoCE has no XRC")
class Measured(Served):
    def measure(self, *options, count):
        return self.complete("-c", "xrc", *options, count=count, transport="XRC", use_srq=True,
                             connect="qp")

    def test_operations(self):
        self.measure("--op", ",".join(OPERATIONS), "--metric", "lat,bw", "--cq", "poll,event",
                     "-n", 50, count=4 * len(OPERATIONS))
        self.measure("--op", "post-send,poll-cq", "-n", 50, count=2)
        self.measure("--op", "alloc", "-n", 50, count=1)

    def test_payload(self):
        """Receives that several queue pairs share contain the bytes that each of them sent."""
        send = ("--verify", "--op", "send")
        self.measure(*send, "--metric", "lat", "-s", "1,9000", "-n", 100, count=2)
        self.measure(*send, "--metric", "bw", "-s", "64,9000", "-n", 600, "-q", 3, "-b", count=2)
        self.measure(*send, "--metric", "bw", "-n", 600, "-q", 2, "--threads", 2, "--cq", "event",
                     "-l", 4, count=1)

    def test_shares(self):
        """All queue pairs of a thread receive from the queue of that thread."""
        case, = self.measure("--op", "send", "--metric", "bw", "-q", 4, "--threads", 2, "-n", 400,
                             count=1)
        shares = case["shares"]
        self.assertEqual([thread["messages"] for thread in shares["threads"]], [400, 400])

    def test_effective_settings(self):
        """The queue pair that responds is another one than the one that initiates."""
        case, = self.measure("--op", "read", "-n", 20, "--outstanding", 3, "-r", 64, count=1)
        for end in case["chosen"].values():
            self.assertEqual((end["initiator_depth"], end["responder_depth"]), (3, 3))
            self.assertEqual(end["shared_receive_depth"], 64)

    def test_refusals(self):
        for options, sentence in (
            (("--connect", "cm"), "rdma_cm connects RC only"),
            (("--op", "post-recv"), "XRC supports neither memory windows nor timed calls other than post-send and poll-cq"),
            (("--metric", "bw", "-q", 2, "--access", "random"), "--use-srq with several queue pairs"),
        ):
            with self.subTest(options):
                ended = Ended(client("-c", "xrc", *options, port=self.server.port), RUN_PATIENCE)
                self.assertEqual(ended.status, 2, ended.err)
                self.assertIn(sentence, ended.err)

    def test_invalid_clients(self):
        """A client must have a shared receive queue, and name its queue pairs and that queue."""
        for parameters, reason in (
            ({}, "XRC needs a shared receive queue"),
            ({"use-srq": True}, "the peer sent an invalid target queue pair number: 0"),
        ):
            with self.subTest(reason), Peer.greeted(self.server.port) as peer:
                peer.send(by_hand(transport="XRC", **parameters))
                self.assertIn(reason, peer.expect("failed")["reason"])


@unittest.skipIf(IS_SOFT, "the software device has XRC")
class Unsupported(Served):
    def test_skipped_before_anything_runs(self):
        ended = Ended(client("-c", "xrc", port=self.server.port), RUN_PATIENCE)
        self.assertEqual((ended.out, ended.status), ("", 2))
        self.assertIn("the device does not support XRC", ended.err)
        document = measure(self.server, "-c", "rc,xrc", "-n", 20).document
        self.assertEqual([case["status"] for case in document["cases"]], ["complete", "skipped"])
