# SPDX-License-Identifier: MIT
"""Open loop: schedule, counts and histograms of a case must agree with each other."""

import statistics

from verbmark import Served, measure

OPS = "send,write,read,write-imm,fetch-add,write-notify,read-notify"


class Load(Served):
    def cases(self, *options):
        document = measure(self.server, "--metric", "load", *options).document
        self.assertEqual(document["run"]["status"], "complete")
        for case in document["cases"]:
            self.assertEqual(case["status"], "complete")
            if case["metric"] == "load":
                self.check(case)
        return document["cases"]

    def check(self, case):
        """Checks what is true for every load."""
        load, latency = case["load"], case["latency_ns"]
        messages = sum(trial["messages"] for trial in case["trials"])
        histograms = [load["lag_ns"]["histogram"], load["uncorrected_ns"]["histogram"],
                      latency["histogram"]]  # fmt: skip
        for histogram in histograms:
            self.assertEqual(histogram["count"], messages)
        # The latency since a message was due is the lag of its post plus the time since the post.
        lag, rest, whole = (histogram["sum"] for histogram in histograms)
        self.assertLessEqual(abs(lag + rest - whole), 2 * messages)
        self.assertGreaterEqual(latency["max"] + 2, load["uncorrected_ns"]["max"])
        self.assertEqual(latency["kind"], "completion")
        self.assertEqual(case["cq_mod"], 1)
        self.assertEqual(case["cpu"]["client"]["completions"], messages)
        rate = statistics.median(trial["messages"] * 1e9 / trial["duration_ns"]
                                 for trial in case["trials"])
        self.assertAlmostEqual(load["messages_per_s"] / rate, 1)
        self.assertEqual(load["unsent"], sum(trial["load"]["unsent"] for trial in case["trials"]))
        saturated = sum(trial["load"]["saturated"] for trial in case["trials"])
        self.assertEqual(case["saturated"], 2 * saturated >= len(case["trials"]) and saturated > 0)

    def test_operations(self):
        """Fifty messages at a rate of two thousand need at least 25 ms."""
        for case in self.cases("--op", OPS, "--rate", "2k", "-n", "50", "--cq", "poll,event",
                               "--warmup", "1ms"):  # fmt: skip
            with self.subTest(case=case["id"]):
                (trial,) = case["trials"]
                self.assertEqual(trial["messages"], 50)
                self.assertGreaterEqual(trial["duration_ns"], 24_999_000)
                self.assertEqual(trial["load"]["rate"], 2000)
                # A case that took hardly longer was on schedule; a busy machine may be late.
                if trial["duration_ns"] < 30_000_000:
                    self.assertFalse(case["saturated"])

    def test_by_time(self):
        """At a rate of 1000, 200 messages are due within 200 ms and each is counted."""
        (case,) = self.cases("--rate", "1000", "-D", "200ms", "--trials", "2")
        for trial in case["trials"]:
            self.assertEqual(trial["messages"] + trial["load"]["unsent"], 200)

    def test_random_arrivals(self):
        """2000 messages are expected, with a standard deviation of 45; six of it are allowed."""
        (case,) = self.cases("--rate", "10k", "-D", "200ms", "--arrivals", "poisson", "--seed", "9")
        (trial,) = case["trials"]
        self.assertEqual((case["arrivals"], case["seed"]), ("poisson", 9))
        self.assertLess(abs(trial["messages"] + trial["load"]["unsent"] - 2000), 270)

    def test_same_seed(self):
        """The same seed makes the same number of messages due; another seed makes another."""
        due = {}
        for case in self.cases("--rate", "20k", "-D", "100ms", "--arrivals", "poisson", "--seed",
                               "1,2,3", "-s", "8,16", "--trials", "2"):  # fmt: skip
            counts = [trial["messages"] + trial["load"]["unsent"] for trial in case["trials"]]
            if not case["load"]["unsent"]:
                due.setdefault(case["seed"], set()).add(tuple(counts))
        self.assertTrue(due)
        for counts in due.values():
            self.assertEqual(len(counts), 1)
        seen = [trial for counts in due.values() for trial in next(iter(counts))]
        self.assertGreater(len(set(seen)), 1)

    def test_many_queue_pairs(self):
        cases = self.cases("--rate", "5k", "-n", "200", "-q", "3,16", "-t", "1,7", "-s", "1,4k",
                           "--use-srq", "--warmup", "1ms")  # fmt: skip
        self.assertEqual(len(cases), 8)

    def test_bits(self):
        """16 Mbit are 2 MB: 2000 messages of 1000 bytes per second."""
        (case,) = self.cases("--rate", "16mbit", "-s", "1000", "-n", "20", "--warmup", "1ms")
        self.assertEqual(case["load"]["rate"], 2000)
        self.assertEqual(case["rate"], "16mbit")

    def test_shares_of_the_maximum(self):
        most, *shares = self.cases("--rate", "10%:30%", "-D", "50ms", "--warmup", "1ms")
        self.assertEqual(most["id"], "send/bw/64/poll/latencies")
        rate = most["bandwidth"]["messages_per_s"]
        for share, case in zip((0.1, 0.2, 0.3), shares, strict=True):
            self.assertEqual(case["load"]["maximum"]["case"], most["id"])
            self.assertAlmostEqual(case["load"]["maximum"]["messages_per_s"] / rate, 1)
            self.assertAlmostEqual(case["load"]["rate"] / rate / share, 1)
            due = case["trials"][0]["messages"] + case["trials"][0]["load"]["unsent"]
            self.assertLessEqual(abs(due - share * rate * 0.05), 1.001)

    def test_too_much(self):
        """All messages are due at once: the load is saturated, but all are sent."""
        (case,) = self.cases("--rate", "1T", "-n", "3000", "-t", "16", "--warmup", "1ms")
        self.assertTrue(case["saturated"])
        self.assertEqual(case["trials"][0]["messages"], 3000)
        self.assertEqual(case["load"]["unsent"], 0)
        self.assertEqual(case["load"]["rate"], 1e12)

    def test_unsent_messages(self):
        """Nearly all of 10^9 messages are never sent; they are counted to a tick of the clock."""
        (case,) = self.cases("--rate", "1T", "-D", "1ms", "--warmup", "1ms")
        (trial,) = case["trials"]
        self.assertTrue(case["saturated"])
        self.assertLess(abs(trial["messages"] + trial["load"]["unsent"] - 1e9), 2000)

    def test_nothing_due(self):
        with self.assertRaisesRegex(AssertionError, "status 1"):
            measure(self.server, "--metric", "load", "--rate", "1", "-D", "10ms", "--warmup", "0s")
