# SPDX-License-Identifier: MIT
"""What operations need from the server's program, and servers that do other work."""

import re
import signal
import unittest

from verbmark import FAULTY, IS_SOFT, RUN_PATIENCE, SLOW, Ended, Served, Server, client, measure

# The table at the end of the specification: (needs a receive, needs a buffer).
NEEDS = {
    "send": (True, True),
    "send-imm": (True, True),
    "write-imm": (True, False),
    "write": (False, False),
    "read": (False, False),
    "write-notify": (True, True),
    "read-notify": (True, True),
}
# Completions of one operation at (client, server).
COMPLETIONS = {op: (1, int(receive)) for op, (receive, _) in NEEDS.items()}
# A row of the table, which has no times on a software device.
ROW = re.compile(
    r"^(tell|leave|fetch) +(\S+) +(yes|no) +(yes|no) +(\S+)/(\S+) +(\S+)/(\S+)"
    + ("" if IS_SOFT else r" +(\S+) +(\S+) +(\S+)") + "$"
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

    def test_needs(self):
        for op, (receive, buffer) in NEEDS.items():
            found = self.streams()[op]["semantics"]
            self.assertEqual((found["receive"], found["buffer"]), (receive, buffer), op)
            self.assertEqual(found["seen"]["buffers"], "complete")
            self.assertEqual(found["seen"]["none"] == "complete", not receive)
            self.assertEqual(found["seen"]["bare"] == "complete", not buffer)
        self.assertIn("RNR retry counter exceeded", self.streams()["send"]["semantics"]["seen"]["none"])

    def test_completions(self):
        for op, (at_client, at_server) in COMPLETIONS.items():
            cpu = self.streams()[op]["cpu"]
            self.assertEqual(cpu["client"]["completions"], at_client * cpu["client"]["messages"])
            self.assertEqual(cpu["server"]["completions"], at_server * cpu["server"]["messages"])

    def test_intended_failures_cause_no_warning(self):
        document = self.ended.document
        self.assertNotIn("receiver-not-ready", [row["code"] for row in document["warnings"]])
        for case in document["cases"]:
            for end in ("client", "server"):
                self.assertFalse(case["counters"][end].get("retry_rnr_exceeded_err"))

    def test_table(self):
        rows = [match for match in map(ROW.match, self.ended.err.splitlines()) if match]
        shown = {(row[1], row[2]): row for row in rows}
        self.assertEqual(
            list(shown),
            [
                ("tell", "send"), ("tell", "send-imm"), ("tell", "write-imm"), ("tell", "write-notify"),
                ("tell", "write+poll"), ("leave", "write"), ("fetch", "read"),
                ("fetch", "read-notify"), ("fetch", "send+reply"),
            ],
        )
        for (_, how), row in shown.items():
            op = {"write+poll": "write", "send+reply": "send"}.get(how, how)
            needs = tuple(word == "yes" for word in row.group(3, 4))
            self.assertEqual(needs, NEEDS[op])
        self.assertEqual(shown["leave", "write"].group(5, 6), ("1", "0"))
        self.assertEqual(shown["fetch", "send+reply"].group(5, 6), ("2", "2"))

    def test_think_time_delays_replies(self):
        """Half of a round trip includes at least half of the server's think time."""
        for op in ("send", "write-imm", "write"):
            (case,) = measure(self.server, "--op", op, "--think", "2ms", "-n", 20).document["cases"]
            self.assertGreaterEqual(case["latency_ns"]["min"], 1e6)
        (case,) = measure(
            self.server, "--op", "send", "--metric", "bw", "--think", "2ms", "-n", 20, "-t", 1
        ).document["cases"]
        # Receives are posted in advance, so think time delays the stream only if they run out.
        self.assertEqual(case["bandwidth"]["messages"], 20)

    def test_slowed_server(self):
        """Tests the fault that ci/measure/gate-check plants: think time longer by a percentage."""
        with Server(before=("env", "SLOWED=50"), program=SLOW) as server:
            (case,) = measure(server, "--op", "send", "--think", "2ms", "-n", 20).document["cases"]
        self.assertGreaterEqual(case["latency_ns"]["min"], 1.5e6)

    def test_one_sided_operations_do_not_wait(self):
        """If the server did think for each message, each would take a second."""
        for op in ("write", "read"):
            (case,) = measure(
                self.server, "--op", op, "--think", "1s", "--server-cq", "event", "-n", 10
            ).document["cases"]
            self.assertLess(case["latency_ns"]["min"], 1e9)

    def test_no_receives(self):
        ended = Ended(client("--receives", "none", "-n", 10, port=self.server.port), RUN_PATIENCE)
        self.assertEqual(ended.status, 1)
        self.assertIn("RNR retry counter exceeded", ended.out)
        measure(self.server, "--op", "write,read", "--receives", "none", "-n", 10)


class Pauses(unittest.TestCase):
    """A server that sleeps 5 ms after each 200th message, and prints the count at exit."""

    MESSAGES = 20000
    PAUSED = re.compile(r"^paused (\d+) times$")

    def measure(self):
        """Returns the latencies and how often the server paused."""
        with Server(program=FAULTY) as server:
            (case,) = measure(
                server, "--op", "send", "--think", "1ns", "-n", self.MESSAGES, "--warmup", "0ms",
            ).document["cases"]
            server.signal(signal.SIGTERM)
            server.wait()
            paused = self.PAUSED.match(server.err[-1])
        return case["latency_ns"], int(paused[1])

    def test_pauses_are_in_the_histogram(self):
        """Half of a round trip with a pause takes at least 2.5 ms."""
        latency, paused = self.measure()
        bins = latency["histogram"]["bins"]
        self.assertEqual(paused, self.MESSAGES // 200)
        self.assertGreaterEqual(sum(count for _, high, count in bins if high > 2.5e6), paused)
        self.assertGreaterEqual(latency["max"], 2.5e6)
        self.assertGreaterEqual(latency["p99_9"], 2.5e6 * (1 - 1 / 1024))
