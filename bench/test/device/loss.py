# SPDX-License-Identifier: MIT
"""Two machines and a lossy wire: which losses are counted and how they are reported."""

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

    def test_latencies_continue(self):
        self.lose(2)
        document = measure(
            "--connect", "qp", "--op", "send,write", "--transport", "uc,ud", "-n", 400
        )
        cases = [case for case in document["cases"] if case["status"] != "skipped"]
        self.assertEqual(len(cases), 3)
        for case in cases:
            self.check_counted(case, 1)
            # A lost message is no sample: it is given up after 200 ms.
            self.assertEqual(case["latency_ns"]["count"], 400)
            # Neither that wait nor the equal silence after it counts for the next message.
            self.assertLess(case["latency_ns"]["max"], 200e6)

    def test_stream_counts_received_messages(self):
        self.lose(10)
        document = measure(
            "--connect", "qp", "--transport", "ud", "--metric", "bw", "-n", 5000, "-t", 16
        )
        (case,) = document["cases"]
        self.check_counted(case, 200)
        self.assertLess(case["loss"]["lost"], case["loss"]["sent"] / 2)
        # It is unknown how many messages each throughput window lost.
        self.assertEqual(case["bandwidth"]["windows"], [])

    def test_slow_receiver(self):
        """The receiver takes at most 5000 messages a second; earlier losses do not matter."""
        document = measure(
            "--connect", "qp", "--transport", "ud", "--metric", "bw", "--think", "200us",
            "-D", "100ms"
        )
        (case,) = document["cases"]
        self.check_counted(case, 200)
        for trial in case["trials"]:
            # The interval is cut to whole windows of 1 ms at its start and its end.
            self.assertLess(trial["bandwidth"]["messages_per_s"], 5000 * 1.05)

    def test_reliable_transport_loses_nothing(self):
        self.lose(2)
        document = measure("--connect", "qp", "--op", "send,read", "-n", 400)
        for case in document["cases"]:
            self.assertEqual(case["status"], "complete", case)
            self.assertEqual(case["latency_ns"]["count"], 400)
        # The retries are reported.
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
            r"all \d+ messages were lost: UC and UD do not retransmit; use -c RC, a smaller size, "
            "or a larger --rx-depth",
            "--transport", "ud", "--metric", "bw",
        )
        self.fails("transport retry counter exceeded: no acknowledgment.*; during warm-up")

    def test_large_packets_are_lost(self):
        self.lose(100, *self.LONGEST)
        self.match_packets(*self.LONGER)
        self.fails(
            "send/lat/8k/poll/connect-qp: .*transport retry counter exceeded: .*; during warm-up; "
            r"sizes up to 1024 passed: does the switch carry MTU 4096\?",
            "-s", "64,1024,8192",
        )
