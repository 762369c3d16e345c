# SPDX-License-Identifier: MIT
"""What operations need of the other end, and an end that has other work to do."""

import os
import re
import unittest

import verbmark
from verbmark import RUN_PATIENCE, Ended, Served, Server, client, measure

# The table at the end of the specification: does it need a receive, and a buffer there?
NEEDS = {
    "send": (True, True),
    "write-imm": (True, False),
    "write": (False, False),
    "read": (False, False),
    "write-notify": (True, True),
    "read-notify": (True, True),
}
# Completions of one operation, near and far.
COMPLETIONS = {op: (1, int(receive)) for op, (receive, _) in NEEDS.items()}
ROW = re.compile(
    r"^(tell|leave|fetch) +(\S+) +(yes|no) +(yes|no) +(\S+)/(\S+) +(\S+)/(\S+) +(\S+) +(\S+) +(\S+)$"
)


class Semantics(Served):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.ended = measure(
            cls.server, "--preset", "semantics", "-D", "20ms", "--trials", 1, "--op",
            ",".join(NEEDS),
        )

    def streams(self):
        return {
            case["op"]: case
            for case in self.ended.document["cases"]
            if case["metric"] == "bw" and case["cq"] == "event"
        }

    def test_what_is_needed_is_tried(self):
        for op, (receive, buffer) in NEEDS.items():
            found = self.streams()[op]["semantics"]
            self.assertEqual((found["receive"], found["buffer"]), (receive, buffer), op)
            self.assertEqual(found["seen"]["buffers"], "complete")
            self.assertEqual(found["seen"]["none"] == "complete", not receive)
            self.assertEqual(found["seen"]["bare"] == "complete", not buffer)
        self.assertIn("RNR retry counter exceeded", self.streams()["send"]["semantics"]["seen"]["none"])

    def test_completions_are_counted(self):
        for op, (near, far) in COMPLETIONS.items():
            cpu = self.streams()[op]["cpu"]
            self.assertEqual(cpu["client"]["completions"], near * cpu["client"]["messages"])
            self.assertEqual(cpu["server"]["completions"], far * cpu["server"]["messages"])

    def test_what_failed_on_purpose_is_no_warning(self):
        for case in self.ended.document["cases"]:
            for end in ("client", "server"):
                self.assertFalse(case["counters"][end].get("retry_rnr_exceeded_err"))

    def test_the_table(self):
        rows = [match for match in map(ROW.match, self.ended.err.splitlines()) if match]
        shown = {(row[1], row[2]): row for row in rows}
        self.assertEqual(
            list(shown),
            [
                ("tell", "send"), ("tell", "write-imm"), ("tell", "write-notify"),
                ("tell", "write+poll"), ("leave", "write"), ("fetch", "read"),
                ("fetch", "read-notify"), ("fetch", "send+reply"),
            ],
        )
        for (_, how), row in shown.items():
            op = {"write+poll": "write", "send+reply": "send"}.get(how, how)
            told = tuple(word == "yes" for word in row.group(3, 4))
            self.assertEqual(told, NEEDS[op])
        self.assertEqual(shown["leave", "write"].group(5, 6), ("1", "0"))
        self.assertEqual(shown["fetch", "send+reply"].group(5, 6), ("2", "2"))

    def test_an_end_that_computes_answers_later(self):
        """Half of a round trip has half of what the far end computes in it, at the least."""
        for op in ("send", "write-imm", "write"):
            (case,) = measure(self.server, "--op", op, "--think", "2ms", "-n", 20).document["cases"]
            self.assertGreaterEqual(case["latency_ns"]["min"], 1e6)
        (case,) = measure(
            self.server, "--op", "send", "--metric", "bw", "--think", "2ms", "-n", 20, "-t", 1
        ).document["cases"]
        # Its receives are there while it computes: only that they run out would hold back.
        self.assertEqual(case["bandwidth"]["messages"], 20)

    def test_one_sided_ones_do_not_wait_for_it(self):
        """An end that computed for each of them would take ten seconds."""
        for op in ("write", "read"):
            (case,) = measure(
                self.server, "--op", op, "--think", "1s", "--server-cq", "event", "-n", 10
            ).document["cases"]
            self.assertLess(case["latency_ns"]["max"], 1e9)

    def test_no_receives(self):
        ended = Ended(client("--receives", "none", "-n", 10, port=self.server.port), RUN_PATIENCE)
        self.assertEqual(ended.status, 1)
        self.assertIn("RNR retry counter exceeded", ended.out)
        measure(self.server, "--op", "write,read", "--receives", "none", "-n", 10)


class Verified(Served):
    OPS = "send,write,read,write-imm,write-notify,read-notify"

    def test_what_is_right(self):
        cases = measure(
            self.server, "--verify", "--op", self.OPS, "-s", "1,61,4k,9000", "-n", 100
        ).document["cases"]
        self.assertEqual(len(cases), 24)
        # Of one byte nothing is left to look at where it is the number of the round.
        for case in cases:
            self.assertEqual(case["status"], "complete", case)

    def check_wrong(self, op, *options):
        """The server sends a wrong byte in the 200th message that it fills."""
        ended = Ended(
            client("--op", op, "-n", 1000, "--verify", *options, port=self.faulty.port),
            RUN_PATIENCE,
        )
        self.assertEqual(ended.status, 1)
        found = re.search(
            r"byte 5 of message (\d+) is 0x(..), and should be 0x(..); (\d+ of 1000 messages|while)",
            ended.out,
        )
        self.assertTrue(found, ended.out)
        self.assertEqual(int(found[2], 16) ^ int(found[3], 16), 0xFF)
        self.assertEqual(int(found[1]) % 200, 199)

    def test_what_is_wrong(self):
        with faulty_server() as self.faulty:
            self.check_wrong("send")
        with faulty_server() as self.faulty:
            self.check_wrong("write", "-s", "4k")


def faulty_server():
    """With the faults of pausing.c, as its linker has it."""
    usual = verbmark.VERBMARK
    verbmark.VERBMARK = os.environ["PAUSING"]
    try:
        return Server()
    finally:
        verbmark.VERBMARK = usual


class Pauses(unittest.TestCase):
    """A server that sleeps 5 ms after each 200th message."""

    MESSAGES = 20000

    def paused(self, latency):
        """How many were: half of a round trip with a pause in it is 2.5 ms at the least."""
        return sum(count for low, _, count in latency["histogram"]["bins"] if low >= 2.4e6)

    def measure(self, make):
        with make() as server:
            (case,) = measure(
                server, "--op", "send", "--think", "1ns", "-n", self.MESSAGES
            ).document["cases"]
        return case["latency_ns"]

    def test_they_are_where_they_belong(self):
        wanted = self.MESSAGES // 200
        told = []
        # An emulated machine may pause by itself: how often, a server without them tells.
        for _ in range(3):
            latency = self.measure(faulty_server)
            self.assertGreaterEqual(self.paused(latency), wanted)
            self.assertGreaterEqual(latency["p99_9"], 2.4e6)
            self.assertGreaterEqual(latency["max"], 2.5e6)
            by_itself = 0
            if self.paused(latency) >= 2 * wanted:
                by_itself = self.paused(self.measure(Server))
            if by_itself < wanted and self.paused(latency) < 2 * wanted:
                self.assertLess(latency["p99"], 2.4e6)
            if self.paused(latency) < 2 * (wanted + by_itself):
                return
            told.append((self.paused(latency), by_itself))
        self.fail(f"of {self.MESSAGES} so many were paused, with and without: {told}")
