# SPDX-License-Identifier: MIT
"""SRD: reliable datagrams in any order. On soft0, a stand-in for libefa provides them."""

import unittest

from verbmark import IS_SOFT, RUN_PATIENCE, Ended, Served, client


@unittest.skipUnless(IS_SOFT, "Soft-RoCE has no SRD")
class Measured(Served):
    def measure(self, *options, count):
        return self.complete("-c", "srd", *options, count=count, transport="SRD", connect="qp",
                             cq_mod=1)

    def test_operations(self):
        operations = ("send", "send-imm", "read", "write-imm")
        self.measure("--op", ",".join(operations), "--metric", "lat,bw", "--cq", "poll,event",
                     "-n", 50, count=4 * len(operations))
        self.measure("--op", "write", "--metric", "bw", "-n", 50, count=1)
        # The target does not poll memory, whose last byte may be written first.
        self.measure("--op", "write", "--cq", "event", "-n", 50, count=1)

    def test_only_sends_are_inline(self):
        send, write = self.measure("--op", "send,write-imm", "-s", 16, "-n", 50, count=2)
        self.assertTrue(send["chosen"]["client"]["inline"])
        self.assertFalse(write["chosen"]["client"]["inline"])

    def test_streams(self):
        """All messages arrive, however they pass each other."""
        cases = self.measure("--op", "send,read,write", "--metric", "bw", "-s", "64,9000", "-n", 3000,
                             "-q", 3, "-b", count=6)
        for case in cases:
            self.assertEqual(case["trials"][0]["messages"], 3000)
        self.measure("--op", "send", "--metric", "bw", "-n", 600, "--threads", 2, count=1)
        self.measure("--op", "send,read", "--metric", "lat,bw", "-n", 600, "--sge", 3, count=4)

    def test_payload(self):
        self.measure("--verify", "--op", "send,read", "-s", "1,9000", "-n", 100, count=4)

    def test_refusals(self):
        for options, sentence in (
            (("--connect", "cm"), "rdma_cm connects RC only"),
            (("--op", "write"), "write latency polls the last byte, and SRD may write data in any order"),
            (("--op", "fetch-add"), "SRD supports only sends, reads and writes"),
            (("--op", "create-qp"), "SRD supports only sends, reads and writes"),
            (("--metric", "bw", "--latencies"), "need completions in order"),
            (("--metric", "bw", "--verify"), "needs completions in order"),
            (("--metric", "bw", "-Q", 4), "SRD has a completion for every message"),
            (("--metric", "bw", "-l", 4), "SRD has a completion for every message"),
            (("--use-srq",), "SRD does not support --use-srq or --needs; omit them"),
        ):
            with self.subTest(options):
                ended = Ended(client("-c", "srd", *options, port=self.server.port), RUN_PATIENCE)
                self.assertEqual(ended.status, 2, ended.err)
                self.assertIn(sentence, ended.err)


@unittest.skipIf(IS_SOFT, "the software device has a stand-in for SRD")
class Unsupported(Served):
    def test_skipped_before_anything_runs(self):
        ended = Ended(client("-c", "srd", port=self.server.port), RUN_PATIENCE)
        self.assertEqual((ended.out, ended.status), ("", 2))
        self.assertIn("the device does not support SRD", ended.err)
