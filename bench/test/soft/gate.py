# SPDX-License-Identifier: MIT
"""
The gate on the software device, whose link can be slowed by a known amount: equal sides pass, a
slower head fails. On a busy machine a gate may be invalid or unclear; such a gate is repeated,
and the test skipped if that does not help.
"""

import importlib.machinery
import importlib.util
import os
import subprocess
import tempfile
import unittest

import documents
from verbmark import RUN_PATIENCE, VERBMARK, Ended, Program

CASES = ("--op", "send", "--metric", "lat,bw", "-s", "4k", "-D", "20ms", "--warmup", "30ms")
TRIES = 3
CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../ci/measure/gate-check")


def side(latency_us, megabits):
    return f"env VERBMARK_SOFT=latency={latency_us}us,bandwidth={megabits}mbit {VERBMARK}"


class Gate(unittest.TestCase):
    def gate(self, base, head, *options):
        for _ in range(TRIES):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "gate.json")
                ended = Ended(Program(
                    VERBMARK, "gate", "--base", base, "--head", head, "-d", "soft0", "--rounds",
                    16, "--floor", "p99=off", "--json", path, *CASES, *options), RUN_PATIENCE)
                with open(path, encoding="utf-8") as file:
                    document = documents.parse(file.read(), "verbmark.gate-1")
            self.assertIn("SOFTWARE DEVICE", ended.out)
            if not ended.out.splitlines()[-1].startswith(("invalid", "unclear")):
                return ended, document
        self.skipTest(f"the machine is too busy: {ended.out.splitlines()[-1]}")

    def test_equal_sides(self):
        ended, document = self.gate(side(200, 1000), side(200, 1000))
        self.assertEqual(ended.status, 0, ended.out)
        self.assertEqual(document["verdict"], "same")

    def test_slower(self):
        ended, document = self.gate(side(200, 1000), side(240, 800))
        self.assertEqual(ended.status, 1, ended.out)
        verdicts = {figure["case"]: figure["verdict"] for figure in document["figures"]}
        self.assertEqual(verdicts, {"send/lat/4k/poll": "worse",
                                    "send/bw/4k/poll": "worse"})

    def test_faster(self):
        ended, _ = self.gate(side(240, 800), side(200, 1000))
        self.assertEqual(ended.status, 0, ended.out)

    def test_gate_check(self):
        """ci/measure/gate-check counts the verdicts of gates with a planted slowdown."""
        with tempfile.TemporaryDirectory() as folder:
            ended = subprocess.run(
                (CHECK, "--verbmark", VERBMARK, "--doses", "0,40", "--gates", "1", "--op", "send",
                 "-s", "64", "-D", "3ms"),
                env=os.environ | {"OUT": folder}, capture_output=True, text=True, check=False)
            self.assertEqual((ended.returncode, ended.stderr), (0, ""))
            rows = ended.stdout.splitlines()[2:]
            for percent, row in zip((0, 40), rows, strict=True):
                with open(f"{folder}/gate-check-{percent}-1.json", encoding="utf-8") as file:
                    document = documents.parse(file.read(), "verbmark.gate-1")
                self.assertEqual(
                    row, f"| {percent} % | {document['verdict']} | 1 of 1 | 2.5..100.0 % |")
        # The link is slower by the planted dose, so the latencies are too.
        (case,) = document["cases"]
        base, head = (min(case["values"]["p50_ns"][end]) for end in ("base", "head"))
        self.assertGreaterEqual(base, 50000)
        self.assertGreaterEqual(head, 70000)

    def test_interval(self):
        """Expected values: binom.test(some, all)$conf.int of R 4.2.2."""
        loader = importlib.machinery.SourceFileLoader("gate_check", CHECK)
        check = importlib.util.module_from_spec(
            importlib.util.spec_from_loader("gate_check", loader))
        loader.exec_module(check)
        for some, count, low, high in (
            (0, 300, 0, 0.0122209746942935),
            (300, 300, 0.987779025305706, 1),
            (1, 2, 0.0125791170934251, 0.987420882906575),
            (95, 100, 0.887165088894537, 0.983568120817948),
            (7, 21, 0.145876942343097, 0.569675482904124),
        ):
            found = check.interval(some, count)
            self.assertAlmostEqual(found[0], low, 10)
            self.assertAlmostEqual(found[1], high, 10)


if __name__ == "__main__":
    unittest.main()
