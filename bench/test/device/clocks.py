# SPDX-License-Identifier: MIT
"""Measured times against another clock, as a benchmark: on a busy machine they may differ."""

import math
import time

from verbmark import Served, measure


class Clocks(Served):
    def run_for(self, op, cq, messages):
        start = time.monotonic()
        ended = measure(self.server, "--op", op, "--cq", cq, "-n", messages)
        seconds = time.monotonic() - start
        case = ended.document["cases"][0]
        warmup = sum(trial["warmup"]["duration_ns"] for trial in case["trials"]) / 1e9
        return seconds - warmup, case["latency_ns"]

    def rest(self, op, cq, factor, messages):
        """Returns the seconds that a run needs beside the measured interval, and that interval."""
        seconds, latency = self.run_for(op, cq, messages)
        measured = factor * latency["mean"] * messages / 1e9
        return seconds - measured, measured

    def check_clock(self, op, cq, factor):
        """
        Compares the wall time of a run with 2n messages, less that of a run with n, to the time
        that n messages need. What is not measured is the same in both, except the warm-up, whose
        length is in the document. Background load only adds time, so that the shortest runs are
        compared; a mistake would be half of the time.
        """
        _, first = self.run_for(op, cq, 1000)
        messages = math.ceil(0.5e9 / (first["mean"] * factor))
        short, long = [], []
        while not short or abs(min(long) - min(short)) > 0.2 * measured:
            self.assertLess(len(short), 16, (short, long))
            rest, measured = self.rest(op, cq, factor, messages)
            short.append(rest)
            long.append(self.rest(op, cq, factor, 2 * messages)[0])

    def test_send_by_an_outside_clock(self):
        self.check_clock("send", "poll", 2)

    def test_send_with_events_by_an_outside_clock(self):
        self.check_clock("send", "event", 2)

    def test_write_by_an_outside_clock(self):
        self.check_clock("write", "poll", 2)

    def test_read_by_an_outside_clock(self):
        self.check_clock("read", "poll", 1)

    def run_case(self, *options):
        """Returns the measured interval of a run in nanoseconds, and its latencies."""
        (case,) = measure(self.server, "--op", "send", *options).document["cases"]
        return sum(trial["duration_ns"] for trial in case["trials"]), case["latency_ns"]

    def test_the_measured_interval_is_the_time_asked_for(self):
        measured_ns, latency = self.run_case("-D", "300ms")
        self.assertGreaterEqual(measured_ns, 300e6)
        # The last round trip may begin just before the end.
        self.assertLess(measured_ns, 300e6 + 2 * latency["max"] + 1e6)

    def test_the_samples_fill_the_measured_interval(self):
        measured_ns, latency = self.run_case("-n", 5000)
        self.assertGreater(2 * latency["mean"] * latency["count"], measured_ns * 0.99)

    def wall_s(self, *options):
        """Returns the seconds that a run needs, and the number of its messages."""
        ended = measure(self.server, *options)
        (case,) = ended.document["cases"]
        return ended.seconds, sum(trial["messages"] for trial in case["trials"])

    def test_a_second_is_one(self):
        for options in (("--op", "send"), ("--op", "write", "--metric", "bw")):
            short_s, few = self.wall_s("-D", "1s", *options)
            long_s, many = self.wall_s("-D", "3s", *options)
            self.assertTrue(1.5 < long_s - short_s < 2.5, (options, short_s, long_s))
            self.assertGreater(many, few)
