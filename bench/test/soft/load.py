# SPDX-License-Identifier: MIT
"""
A pause planted in the software device must show in the figures of an open loop. At a fixed rate,
message k is due k gaps after the start. If nothing is served for 100 ms from one message on,
the message due n gaps later waits for at least 100 ms minus n gaps. The machine can only make
waits longer, so these lower bounds always hold. How close the figures come to them depends on the
machine: only the benchmark, which sets CLOSE, checks that, for the best of several tries.
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
# How far the best of TRIES tries may exceed the computed values.
TRIES = 12
SLACK_NS = 15_000_000


def waits():
    """Returns the waits of all messages due during the pause, the longest first."""
    return [PAUSE_NS - n * GAP_NS for n in range(PAUSE_NS // GAP_NS)]


def quantile(parts):
    """Returns the wait at a rank, in parts per million; messages after the pause do not wait."""
    rank = math.ceil(MESSAGES * parts / 1_000_000)
    beyond = MESSAGES - rank
    return waits()[beyond] if beyond < len(waits()) else 0


def least_above(histogram, bound):
    """Returns the number of samples that are certainly not below the bound."""
    return sum(count for low, high, count in histogram["bins"] if low >= bound)


def start(faults, *options):
    """Runs a load with faults and returns the ended program, which may have failed."""
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
        """Checks the lower bounds, which hold in every try."""
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
        # With one message at a time, the time since the posts cannot exceed the measured time.
        if depth == 1:
            taken = load["uncorrected_ns"]["histogram"]["sum"]
            self.assertLessEqual(taken, case["trials"][0]["duration_ns"])
            self.assertGreaterEqual(load["lag_ns"]["histogram"]["sum"], sum(waits()[1:]) * 0.98)
        self.assertGreaterEqual(load["uncorrected_ns"]["max"], PAUSE_NS * 0.9)

    def is_close(self, case, depth):
        """Tells if hardly anything but the pause delayed the messages."""
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
            # Counted from the post, only the messages in flight see the pause.
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
        raise AssertionError(f"no try came close: {seen}")

    def test_one_at_a_time(self):
        self.check(f"message#{PAUSED}=delay:100ms", 1, "--op", "write")

    def test_several_at_a_time(self):
        self.check(f"message#{PAUSED}=delay:100ms", 8, "--op", "send")

    def test_event_mode(self):
        self.check(f"message#{PAUSED}=delay:100ms", 4, "--op", "read", "--cq", "event")

    def test_stalled_peer(self):
        self.check(f"peer#{PAUSED}=stall:100ms", 2, "--op", "send")

    def test_pause_on_one_of_two_queue_pairs(self):
        """Two queue pairs take turns: messages go on over the one that is not delayed."""
        case = run(f"message#{PAUSED}=delay:100ms", "-t", 128, "-q", 2, "--op", "write")
        # Messages of the other queue pair are due every second gap.
        self.assertGreaterEqual(least_above(case["latency_ns"]["histogram"], 50e6 * 0.998), 25)
        self.assertGreaterEqual(case["latency_ns"]["max"], PAUSE_NS)


class Failures(unittest.TestCase):
    def test_share_of_an_unknown_maximum(self):
        """Rates given as shares of a maximum that was not measured are skipped; others run."""
        ended = start("send#50=RETRY_EXC_ERR", "--rate", "50%,1k", "-n", "100", "--warmup", "0s")
        self.assertEqual(ended.status, 1)
        most, share, other = documents.parse(ended.out)["cases"]
        self.assertEqual([case["status"] for case in (most, share, other)],
                         ["failed", "failed", "complete"])  # fmt: skip
        self.assertEqual(
            share["error"],
            "--rate: 100 % is unknown: case send/bw/64/poll/latencies has status failed",
        )

    def test_message_that_never_completes(self):
        """The case fails and reports how many messages were done."""
        ended = start("message#40=delay:30s", "--rate", "1k", "-n", "60", "--warmup", "0s")
        self.assertEqual(ended.status, 1)
        (case,) = documents.parse(ended.out)["cases"]
        self.assertEqual(case["status"], "failed")
        self.assertRegex(case["error"], "nothing arrived for 5 s.*39 of 60 messages")
