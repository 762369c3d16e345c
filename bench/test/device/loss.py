# SPDX-License-Identifier: MIT
"""Two machines, and a wire that loses packets: what of it is counted, and what is told."""

from device.hosts import PEER, Wire, measure
from verbmark import Ended, client


class Loss(Wire):
    def check_counted(self, case, least):
        self.assertEqual(case["status"], "complete", case)
        losses = [trial["loss"] for trial in case["trials"]]
        self.assertGreaterEqual(case["loss"]["lost"], least)
        self.assertEqual(case["loss"]["lost"], sum(loss["lost"] for loss in losses))
        for loss in losses:
            self.assertGreater(loss["sent"], loss["lost"])

    def test_latencies_go_on(self):
        self.lose(2)
        document = measure(
            "--connect", "qp", "--op", "send,write", "--transport", "uc,ud", "-n", 400
        )
        cases = [case for case in document["cases"] if case["status"] != "skipped"]
        self.assertEqual(len(cases), 3)
        for case in cases:
            self.check_counted(case, 1)
            # What was lost is no sample: it was waited for 200 ms.
            self.assertEqual(case["latency_ns"]["count"], 400)
            # The wait, and as long a silence after it, are no latency of the next one.
            self.assertLess(case["latency_ns"]["max"], 200e6)

    def test_a_stream_counts_what_arrives(self):
        self.lose(10)
        document = measure(
            "--connect", "qp", "--transport", "ud", "--metric", "bw", "-n", 5000, "-t", 16
        )
        (case,) = document["cases"]
        self.check_counted(case, 200)
        self.assertLess(case["loss"]["lost"], case["loss"]["sent"] / 2)
        # Nobody knows which of them lost how many.
        self.assertEqual(case["bandwidth"]["windows"], [])

    def test_a_receiver_that_is_too_slow(self):
        """Whatever was lost before it was measured: it takes 5000 messages a second at the most."""
        document = measure(
            "--connect", "qp", "--transport", "ud", "--metric", "bw", "--think", "200us",
            "-D", "100ms"
        )
        (case,) = document["cases"]
        self.check_counted(case, 200)
        for trial in case["trials"]:
            # The time is cut to windows of 1 ms at both ends of it.
            self.assertLess(trial["bandwidth"]["messages_per_s"], 5000 * 1.05)

    def test_reliable_ones_lose_nothing(self):
        self.lose(2)
        document = measure("--connect", "qp", "--op", "send,read", "-n", 400)
        for case in document["cases"]:
            self.assertEqual(case["status"], "complete", case)
            self.assertEqual(case["latency_ns"]["count"], 400)
        # What it took is said.
        self.assertTrue(any("retr" in text for text in map(str, document["warnings"])))

    def fails(self, sentence, *options):
        ended = Ended(client("--connect", "qp", "-n", 100, *options, host=PEER))
        self.assertEqual(ended.status, 1)
        self.assertRegex(ended.out, sentence)

    def test_nothing_arrives(self):
        self.lose(100)
        lost = "10 messages in a row were lost; try RC, which retransmits"
        self.fails(lost, "--transport", "ud")
        self.fails(lost, "--transport", "uc", "--op", "write")
        self.fails(
            r"none of \d+ messages has arrived: on RC they would be sent again",
            "--transport", "ud", "--metric", "bw",
        )
        self.fails("transport retry counter exceeded: no acknowledgement.*; while it warmed up")

    def test_only_small_ones_arrive(self):
        self.lose(100, *self.LONGEST)
        self.sort(*self.LONGER)
        self.fails(
            "send/lat/8k/poll/connect-qp: .*transport retry counter exceeded: .*; while it warmed up; "
            r"sizes to 1024 passed: does the switch carry MTU 4096\?",
            "-s", "64,1024,8192",
        )
