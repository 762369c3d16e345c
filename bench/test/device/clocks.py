# SPDX-License-Identifier: MIT
"""Measured times compared with another clock: a benchmark, as they may differ on a busy machine."""

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
        """Returns the seconds of a run outside of the measured interval, and that interval."""
        seconds, latency = self.run_for(op, cq, messages)
        measured = factor * latency["mean"] * messages / 1e9
        return seconds - measured, measured

    def check_clock(self, op, cq, factor):
        """
        Compares the wall time of a run with 2n messages, less that of a run with n, to the time
        of n messages. Unmeasured time is the same in both, except for the warm-up, whose duration
        is in the document. Background load only adds time, so the shortest runs are compared; a
        wrong clock or factor would be off by half.
        """
        _, first = self.run_for(op, cq, 1000)
        messages = math.ceil(0.5e9 / (first["mean"] * factor))
        short, long = [], []
        while not short or abs(min(long) - min(short)) > 0.2 * measured:
            self.assertLess(len(short), 16, (short, long))
            rest, measured = self.rest(op, cq, factor, messages)
            short.append(rest)
            long.append(self.rest(op, cq, factor, 2 * messages)[0])

    def test_send(self):
        self.check_clock("send", "poll", 2)

    def test_send_with_events(self):
        self.check_clock("send", "event", 2)

    def test_write(self):
        self.check_clock("write", "poll", 2)

    def test_read(self):
        self.check_clock("read", "poll", 1)

    def run_case(self, *options):
        """Returns the measured interval of a run in nanoseconds, and its latencies."""
        (case,) = measure(self.server, "--op", "send", *options).document["cases"]
        return sum(trial["duration_ns"] for trial in case["trials"]), case["latency_ns"]

    def test_duration_is_the_requested_time(self):
        measured_ns, latency = self.run_case("-D", "300ms")
        self.assertGreaterEqual(measured_ns, 300e6)
        # The last round trip may begin just before the end.
        self.assertLess(measured_ns, 300e6 + 2 * latency["max"] + 1e6)

    def test_samples_fill_the_measured_interval(self):
        measured_ns, latency = self.run_case("-n", 5000)
        self.assertGreater(2 * latency["mean"] * latency["count"], measured_ns * 0.99)

    def wall_s(self, *options):
        """Returns the seconds and the number of messages of a run."""
        ended = measure(self.server, *options)
        (case,) = ended.document["cases"]
        return ended.seconds, sum(trial["messages"] for trial in case["trials"])

    def test_two_more_seconds(self):
        for options in (("--op", "send"), ("--op", "write", "--metric", "bw")):
            short_s, few = self.wall_s("-D", "1s", *options)
            long_s, many = self.wall_s("-D", "3s", *options)
            self.assertTrue(1.5 < long_s - short_s < 2.5, (options, short_s, long_s))
            self.assertGreater(many, few)
