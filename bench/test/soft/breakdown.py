# SPDX-License-Identifier: MIT
"""
The parts of latencies on the software device, whose timestamps follow from the link model: an
answer takes one latency each way, counted from a moment within the post. The machine can only make
posts and polls longer, so the bounds hold for every operation, and the median is close to the
model.
"""

import documents
from soft.choice import OnSoft, SOFT

ONE_WAY_NS = 10_000
ROUND_TRIP_NS = 2 * ONE_WAY_NS
CLOCK_HZ = 1_250_000_000
FULL = ("read", "fetch-add", "compare-swap")
HALF = ("send", "write-imm", "doorbell")


def total(part):
    return part["histogram"]["sum"]


class Parts(OnSoft):
    def cases(self, *options):
        """Returns the cases of a run with --breakdown, by operation, and the file's text."""
        self.good(
            "run", *SOFT, "--metric", "lat", "--breakdown", "--trials", 2, "-n", 1000,
            "--json", "r.json", *options,
            env=dict(self.environment, VERBMARK_SOFT=f"latency={ONE_WAY_NS}ns"),
        )  # fmt: skip
        document = documents.parse(self.good("report", "--format", "json", "r.json").out)
        return {case["op"]: case for case in document["cases"]}

    def check(self, case):
        """Checks what holds for each operation in any completion mode."""
        parts = dict(case["breakdown_ns"])
        clock = parts.pop("clock")
        latency = case["latency_ns"]
        whole = total(latency) * (2 if latency["kind"] == "half" else 1)
        self.assertEqual({part["count"] for part in parts.values()}, {2000})
        # Half latencies are rounded.
        self.assertAlmostEqual(sum(map(total, parts.values())), whole, delta=2 * 2000)
        self.assertAlmostEqual(clock["hz"] / CLOCK_HZ, 1, delta=0.01)
        early = total(parts["post"]) + total(parts["device"])
        self.assertGreaterEqual(early, 2000 * (ROUND_TRIP_NS - clock["error_ns"]))
        return parts, clock

    def test_answers_of_the_device(self):
        cases = self.cases("--op", ",".join(FULL))
        self.assertEqual(set(cases), set(FULL))
        for case in cases.values():
            parts, clock = self.check(case)
            self.assertNotIn("wakeup", parts)
            device = parts["device"]
            self.assertLessEqual(device["max"], ROUND_TRIP_NS + clock["error_ns"])
            self.assertAlmostEqual(device["p50"], ROUND_TRIP_NS, delta=ROUND_TRIP_NS * 0.02)

    def test_answers_of_the_peer(self):
        cases = self.cases("--op", ",".join(HALF))
        self.assertEqual(set(cases), set(HALF))
        for case in cases.values():
            self.assertNotIn("wakeup", self.check(case)[0])

    def test_events_show_the_wake_up(self):
        for case in self.cases("--op", "read,send", "--cq", "event").values():
            parts, clock = self.check(case)
            self.assertGreater(total(parts["wakeup"]), 0)
            if case["op"] == "read":
                most = ROUND_TRIP_NS + clock["error_ns"]
                self.assertLessEqual(parts["device"]["max"], most)

    def test_threads(self):
        (case,) = self.cases("--op", "read", "--threads", 2).values()
        self.assertEqual(case["breakdown_ns"]["device"]["count"], case["latency_ns"]["count"])

    def test_without(self):
        self.good("run", *SOFT, "--op", "read", "--metric", "lat", "-n", 100, "--json", "r.json")
        with open(f"{self.folder}/r.json", encoding="utf-8") as file:
            self.assertNotIn("breakdown", file.read())

    def test_shown(self):
        self.cases("--op", "send", "--cq", "event")
        for form in ("table", "markdown", "html"):
            text = self.good("report", "--format", form, "r.json").out
            self.assertIn("wake-up", text)
            self.assertRegex(text, r"timestamps are within \d+ ns")
