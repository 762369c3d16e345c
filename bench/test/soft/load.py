# SPDX-License-Identifier: MIT
"""
A pause that is planted in the software device, in the figures of a load. At a fixed rate
message number k is due k gaps after the start; while nothing is served for 100 ms from
when one of them is tried, the one that is due n gaps after it waits at least 100 ms less n
gaps: whatever else the machine does makes waits longer. So lower bounds always hold. How close
the figures come to them depends on the machine: only the benchmark, which sets CLOSE, compares
the best of several tries.
"""

import math
import os
import tempfile
import unittest

import documents
from verbmark import Ended, Program, VERBMARK

RATE = 1000
MESSAGES = 2000
PAUSED = 700
PAUSE_NS = 100_000_000
GAP_NS = 1_000_000_000 // RATE
# How far above the arithmetic the best of so many tries is.
TRIES = 12
SLACK_NS = 15_000_000


def waits():
    """Of all that are due while nothing is served, the longest first."""
    return [PAUSE_NS - n * GAP_NS for n in range(PAUSE_NS // GAP_NS)]


def quantile(parts):
    """Of so many per million that rank, counted from the least; the others do not wait."""
    rank = math.ceil(MESSAGES * parts / 1_000_000)
    beyond = MESSAGES - rank
    return waits()[beyond] if beyond < len(waits()) else 0


def least_above(histogram, bound):
    """How many samples are surely not below that."""
    return sum(count for low, high, count in histogram["bins"] if low >= bound)


def start(faults, *options):
    """What a run has left, with whatever went wrong in it."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        os.mkdir(f"{folder}/soft", 0o700)
        environment = {
            **os.environ,
            "VERBMARK_SOFT_DIR": f"{folder}/soft",
            "VERBMARK_SOFT_FAULTS": faults,
        }
        return Ended(Program(
            VERBMARK, "run", "--device", "soft0", "--metric", "load", "--json", "-", *options,
            env=environment,
        ))  # fmt: skip


def run(faults, *options):
    ended = start(faults, "--rate", RATE, "-n", MESSAGES, "--warmup", "0s", *options)
    if ended.status:
        raise AssertionError(ended.err)
    (case,) = documents.parse(ended.out)["cases"]
    return case


class Pause(unittest.TestCase):
    def check_least(self, case, depth):
        """What the pause does at the least, in every try."""
        latency, load = case["latency_ns"], case["load"]
        self.assertEqual(latency["count"], MESSAGES)
        self.assertEqual(load["unsent"], 0)
        self.assertGreaterEqual(latency["max"], PAUSE_NS)
        for wait in waits()[::10]:
            count = sum(other >= wait for other in waits())
            # A bin is one part in 1024 wide.
            self.assertGreaterEqual(least_above(latency["histogram"], wait * 0.998), count)
        self.assertGreaterEqual(latency["histogram"]["sum"], sum(waits()))
        self.assertGreaterEqual(latency["p99"], quantile(990000) * 0.998)
        # One at a time: what they took from their posts is within the time that there was.
        if depth == 1:
            taken = load["uncorrected_ns"]["histogram"]["sum"]
            self.assertLessEqual(taken, case["trials"][0]["duration_ns"])
            self.assertGreaterEqual(load["lag_ns"]["histogram"]["sum"], sum(waits()[1:]) * 0.98)
        self.assertGreaterEqual(load["uncorrected_ns"]["max"], PAUSE_NS * 0.9)

    def is_close(self, case, depth):
        """Whether the pause is nearly all that there was."""
        latency, load = case["latency_ns"], case["load"]
        half = PAUSE_NS // 2
        held_up = sum(wait >= half for wait in waits())
        shown = least_above(load["uncorrected_ns"]["histogram"], half)
        return (
            not case["saturated"]
            and latency["max"] <= PAUSE_NS + SLACK_NS
            and latency["p99"] <= quantile(990000) + SLACK_NS
            and latency["p50"] <= SLACK_NS
            and least_above(latency["histogram"], half) <= held_up + SLACK_NS // GAP_NS
            # Who counts from the post sees no more of it than could be under way.
            and shown == min(depth, shown) and shown >= 1
        )

    def check(self, faults, depth, *options):
        seen = []
        for _ in range(TRIES):
            case = run(faults, "-t", depth, *options)
            self.check_least(case, depth)
            if "CLOSE" not in os.environ or self.is_close(case, depth):
                return
            seen.append((case["saturated"], case["latency_ns"]["p50"], case["latency_ns"]["p99"],
                         case["latency_ns"]["max"]))  # fmt: skip
        raise AssertionError(f"no try comes close: {seen}")

    def test_one_at_a_time(self):
        self.check(f"message#{PAUSED}=delay:100ms", 1, "--op", "write")

    def test_some_at_a_time(self):
        self.check(f"message#{PAUSED}=delay:100ms", 8, "--op", "send")

    def test_while_it_sleeps(self):
        self.check(f"message#{PAUSED}=delay:100ms", 4, "--op", "read", "--cq", "event")

    def test_a_peer_that_stalls(self):
        self.check(f"peer#{PAUSED}=stall:100ms", 2, "--op", "send")

    def test_the_link_of_all_queue_pairs(self):
        """Two of them take turns: on the one that is not held up messages go on."""
        case = run(f"message#{PAUSED}=delay:100ms", "-t", 128, "-q", 2, "--op", "write")
        # Those of the other queue pair are due two gaps after each other.
        self.assertGreaterEqual(least_above(case["latency_ns"]["histogram"], 50e6 * 0.998), 25)
        self.assertGreaterEqual(case["latency_ns"]["max"], PAUSE_NS)


class Failures(unittest.TestCase):
    def test_no_maximum(self):
        """Shares of what could not be measured are not run; other rates are."""
        ended = start("send#50=RETRY_EXC_ERR", "--rate", "50%,1k", "-n", "100", "--warmup", "0s")
        self.assertEqual(ended.status, 1)
        most, share, other = documents.parse(ended.out)["cases"]
        self.assertEqual([case["status"] for case in (most, share, other)],
                         ["failed", "failed", "complete"])  # fmt: skip
        self.assertEqual(
            share["error"], "nobody knows what 100 % are: send/bw/64/poll/latencies: failed"
        )

    def test_a_message_that_is_never_done(self):
        """It ends the case, with how far it came."""
        ended = start("message#40=delay:30s", "--rate", "1k", "-n", "60", "--warmup", "0s")
        self.assertEqual(ended.status, 1)
        (case,) = documents.parse(ended.out)["cases"]
        self.assertEqual(case["status"], "failed")
        self.assertRegex(case["error"], "nothing arrived for 5 s.*39 of 60 messages")
