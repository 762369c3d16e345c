# SPDX-License-Identifier: MIT
"""DC: one queue pair that sends to many targets. On soft0, a stand-in for libmlx5 provides it."""

import unittest

from verbmark import IS_SOFT, RUN_PATIENCE, Ended, Peer, Served, by_hand, client

OPERATIONS = (
    "send", "send-imm", "write", "read", "write-imm", "fetch-add", "compare-swap",
    "write-notify", "read-notify", "doorbell",
)


@unittest.skipUnless(IS_SOFT, "Soft-RoCE has no DC")
class Measured(Served):
    def measure(self, *options, count):
        return self.complete("-c", "dc", *options, count=count, transport="DC", use_srq=True,
                             connect="qp")

    def test_operations(self):
        self.measure("--op", ",".join(OPERATIONS), "--metric", "lat,bw", "--cq", "poll,event",
                     "-n", 50, count=4 * len(OPERATIONS))
        self.measure("--op", "post-send,poll-cq,alloc", "-n", 50, count=3)

    def test_payload(self):
        """Messages of one initiator reach the target that each names."""
        send = ("--verify", "--op", "send")
        self.measure(*send, "--metric", "lat", "-s", "1,9000", "-n", 100, count=2)
        self.measure(*send, "--metric", "bw", "-s", "64,9000", "-n", 600, "-q", 3, "-b", count=2)
        self.measure(*send, "--metric", "bw", "-n", 600, "-q", 2, "--threads", 2, "--cq", "event",
                     "-l", 4, count=1)
        self.measure("--op", "send,write,read", "--metric", "lat,bw", "-n", 100, "--sge", 3,
                     count=6)
        self.measure("--op", "write", "--metric", "bw", "-n", 100, "--sge", 3, "-l", 4, count=1)
        self.measure("--verify", "--op", "read", "--metric", "bw", "-n", 600, "-q", 3, count=1)

    def test_many_targets(self):
        """The initiator's queue is as deep as those of all targets together, and shared evenly."""
        case, = self.measure("--op", "send", "--metric", "bw", "-q", 64, "-t", 16, "-n", 6400,
                             count=1)
        thread, = case["shares"]["threads"]
        self.assertEqual([pair["messages"] for pair in thread["queue_pairs"]], [100] * 64)
        for end in case["chosen"].values():
            self.assertGreaterEqual(end["send_depth"], 64 * 16)

    def test_effective_settings(self):
        case, = self.measure("--op", "read", "-n", 20, "--outstanding", 3, "-r", 64, count=1)
        for end in case["chosen"].values():
            self.assertEqual(end["initiator_depth"], 3)
            self.assertEqual(end["shared_receive_depth"], 64)

    def test_refusals(self):
        for options, sentence in (
            (("--connect", "cm"), "rdma_cm connects RC only"),
            (("--op", "post-recv"), "DC supports neither memory windows nor timed calls"),
        ):
            with self.subTest(options):
                ended = Ended(client("-c", "dc", *options, port=self.server.port), RUN_PATIENCE)
                self.assertEqual(ended.status, 2, ended.err)
                self.assertIn(sentence, ended.err)

    def test_invalid_clients(self):
        """A client must have a shared receive queue, and name its target."""
        for parameters, reason in (
            ({}, "DC needs a shared receive queue"),
            ({"use-srq": True}, "the peer sent an invalid target queue pair number: 0"),
        ):
            with self.subTest(reason), Peer.greeted(self.server.port) as peer:
                peer.send(by_hand(transport="DC", **parameters))
                self.assertIn(reason, peer.expect("failed")["reason"])


@unittest.skipIf(IS_SOFT, "the software device has a stand-in for DC")
class Unsupported(Served):
    def test_skipped_before_anything_runs(self):
        ended = Ended(client("-c", "dc", port=self.server.port), RUN_PATIENCE)
        self.assertEqual((ended.out, ended.status), ("", 2))
        self.assertIn("the device does not support DC", ended.err)
