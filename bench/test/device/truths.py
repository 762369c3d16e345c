# SPDX-License-Identifier: MIT
"""
Common mistakes of benchmark programs, one test for each. Expected values come from the raw
histogram, from clocks and from counts. One small class adapts the program under test; another
program needs another such class.
"""

import json
import math
import os
import unittest

from verbmark import ADDRESS, VERBMARK, WARMUP, Server, measure


class Subject:
    """Adapts verbmark as the program under test."""

    def __init__(self):
        self.server = Server()

    def close(self):
        self.server.kill()

    def cases(self, *options):
        return measure(self.server, *options).document["cases"]

    def case(self, *options):
        (case,) = self.cases(*options)
        return case

    def text(self, *options):
        """Returns the machine-readable output."""
        return measure(self.server, *options).out

    @staticmethod
    def bins(case):
        """Returns rows of [low, high, count], in nanoseconds."""
        return case["latency_ns"]["histogram"]["bins"]

    @staticmethod
    def figures(case):
        return case["latency_ns"]

    @staticmethod
    def duration_ns(case):
        return sum(trial["duration_ns"] for trial in case["trials"])

    @staticmethod
    def size(case):
        return case["size"]

    @staticmethod
    def kind(case):
        return case["latency_ns"]["kind"]

    @staticmethod
    def completions(case):
        """Returns the client's completions."""
        return case["cpu"]["client"]["completions"]

    @staticmethod
    def bandwidth(case):
        """Returns messages, bytes, and bytes per second."""
        whole = case["bandwidth"]
        return whole["messages"], whole["bytes"], whole["bytes_per_s"]

    @staticmethod
    def messages(case):
        return sum(trial["messages"] for trial in case["trials"])

    def peak_kib(self, messages):
        words = [VERBMARK, "run", ADDRESS, "-p", str(self.server.port), "-n", str(messages)]
        words += ["--op", "write", "--trials", "1", "--no-save", *WARMUP]
        pid = os.posix_spawn(
            VERBMARK, words, os.environ,
            file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)],
        )
        _, status, usage = os.wait4(pid, 0)
        assert status == 0
        return usage.ru_maxrss


def bin_of(bins, share):
    """Returns the bin in which that share of the samples is reached."""
    wanted = math.ceil(share * sum(count for _, _, count in bins))
    for low, high, count in bins:
        wanted -= count
        if wanted <= 0:
            return low, high
    raise AssertionError("the bins have too few samples")


def refuse(word):
    raise AssertionError(f"{word} is not valid JSON")


class Truths(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.subject = Subject()

    @classmethod
    def tearDownClass(cls):
        cls.subject.close()

    def latency(self, *options):
        case = self.subject.case("--op", "send", *options)
        return case, self.subject.figures(case), self.subject.bins(case)

    def check_percentiles(self, figures, bins):
        for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99_9", 0.999)):
            if name in figures:
                low, high = bin_of(bins, share)
                self.assertTrue(low <= figures[name] <= high, (name, figures[name], low, high))

    def test_standard_deviation(self):
        """It is not computed from whole microseconds, and divides by the count minus one."""
        _, figures, bins = self.latency("-n", 5000)
        count = sum(row[2] for row in bins)
        # Bins are exact up to 2048 ns and 0.1 % wide above, which bounds the error of the sum.
        def square(value):
            return (value - figures["mean"]) ** 2

        least = sum(n * (0 if low <= figures["mean"] <= high else min(square(low), square(high)))
                    for low, high, n in bins)
        most = sum(n * max(square(low), square(high)) for low, high, n in bins)
        self.assertGreaterEqual(figures["stddev"], math.sqrt(least / (count - 1)) * (1 - 1e-9))
        self.assertLessEqual(figures["stddev"], math.sqrt(most / (count - 1)) * (1 + 1e-9))
        self.assertNotEqual(figures["stddev"] % 1000, 0)

    def test_minimum_and_maximum(self):
        _, figures, bins = self.latency("-n", 5000)
        low, high, _ = bins[-1]
        self.assertTrue(low <= figures["max"] < high)
        low, high, _ = bins[0]
        self.assertTrue(low <= figures["min"] < high)

    def test_percentiles_need_samples_beyond_them(self):
        _, figures, bins = self.latency("-n", 9999)
        self.assertIn("p99", figures)
        self.assertNotIn("p99_9", figures)
        self.check_percentiles(figures, bins)
        _, figures, bins = self.latency("-n", 10010)
        self.assertLessEqual(figures["p99_9"], figures["max"])
        self.check_percentiles(figures, bins)

    def test_percentiles_by_time(self):
        _, figures, bins = self.latency("-D", "300ms")
        self.check_percentiles(figures, bins)
        self.assertEqual(sum(row[2] for row in bins), figures["count"])

    def test_sweep_has_all_sizes_and_figures(self):
        cases = self.subject.cases("--op", "send", "-a", "-n", 20)
        self.assertEqual([self.subject.size(case) for case in cases], [2**n for n in range(24)])
        for case in cases:
            self.assertEqual(self.subject.figures(case)["count"], 20)
            self.assertIn("p50", self.subject.figures(case))

    def test_samples_fit_into_the_measured_interval(self):
        """Samples do not overlap, whatever else the machine does."""
        case, figures, _ = self.latency("-n", 5000)
        spent = 2 * figures["mean"] * figures["count"]
        self.assertLessEqual(spent, self.subject.duration_ns(case) * 1.01)

    def test_write_ping_pong_does_not_wait_for_completions(self):
        case = self.subject.case("--op", "write", "-n", 5000)
        self.assertEqual(self.subject.kind(case), "half")
        self.assertLess(self.subject.completions(case), 5000 / 16)

    def test_rates_agree_with_counts_and_times(self):
        for options in (("-n", 3000), ("-D", "200ms")):
            for case in self.subject.cases(
                "--metric", "bw", "--op", "send,write,read", "-s", "64,64k", *options
            ):
                messages, size, rate = self.subject.bandwidth(case)
                self.assertEqual(size, messages * self.subject.size(case))
                self.assertAlmostEqual(rate / size * self.subject.duration_ns(case) / 1e9, 1)

    def test_valid_json(self):
        for options in (
            ("-n", 1), ("-n", 2, "--cq", "poll,event,adaptive"), ("-D", "20ms", "-e"), ("-b",),
            ("--metric", "bw", "-n", 1), ("--metric", "bw", "--latencies", "-n", 50),
        ):
            metric = ("--metric", "bw", "-D", "20ms") if "-b" in options else ()
            json.loads(self.subject.text(*options, *metric), parse_constant=refuse)

    def test_memory_does_not_grow_with_messages(self):
        few, many = (self.subject.peak_kib(n) for n in (1000, 50000))
        # Up to some dozens of pages of the program and its libraries may differ.
        self.assertLess(abs(many - few), 256)
