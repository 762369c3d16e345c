# SPDX-License-Identifier: MIT
"""
The gate on the software device, whose link can be made slower by so much: what is the same
passes, what is worse does not. A machine that is too busy to tell makes a gate invalid, which
is no verdict: such a one is tried again, and in the end skipped.
"""

import json
import os
import tempfile
import unittest

import documents
from verbmark import RUN_PATIENCE, VERBMARK, Ended, Program, verbmark

CASES = ("--op", "send", "--metric", "lat,bw", "-s", "4k", "-D", "20ms", "--warmup", "30ms")
TRIES = 3


def arm(latency_us, megabits):
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
            if "INVALID" not in ended.out.splitlines()[-1]:
                return ended, document
        self.skipTest(f"the machine is too busy: {ended.out.splitlines()[-1]}")

    def test_the_same(self):
        ended, document = self.gate(arm(200, 1000), arm(200, 1000))
        self.assertEqual(ended.status, 0, ended.out)
        self.assertEqual(document["verdict"], "PASSED")

    def test_slower(self):
        ended, document = self.gate(arm(200, 1000), arm(240, 800))
        self.assertEqual(ended.status, 1, ended.out)
        verdicts = {figure["case"]: figure["verdict"] for figure in document["figures"]}
        self.assertEqual(verdicts, {"send/lat/4k/poll": "REGRESSED",
                                    "send/bw/4k/poll": "REGRESSED"})

    def test_faster(self):
        ended, _ = self.gate(arm(240, 800), arm(200, 1000))
        self.assertEqual(ended.status, 0, ended.out)

    def test_check(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "record.json")
            ended = Ended(Program(
                VERBMARK, "gate-check", "-d", "soft0", "--doses", "0,40", "--noisy",
                "--outlier", "--gates", 1, "--rounds", 12, "--json", path, "--op", "send",
                "-s", "64", *CASES[-4:]),
                RUN_PATIENCE)
            self.assertEqual((ended.status, ended.err), (0, ""), ended.out)
            with open(path, encoding="utf-8") as file:
                document = documents.parse(file.read(), "verbmark.gate-check-1")
            self.assertEqual([(dose["percent"], dose["noisy"], dose["outlier"])
                              for dose in document["doses"]],
                             [(0, False, False), (0, True, False), (0, False, True),
                              (40, False, False)])
            again = verbmark("gate-check", "--replay", path)
            self.assertEqual((again.status, again.out), (0, ended.out))
        record = json.dumps(document["doses"][3]["record"]["base"])
        self.assertIn("VERBMARK_SOFT=latency=50000ns", record)
        # One of each gate's rounds, and nothing is faster than its link. Whether that fails a
        # gate is for a machine that does nothing else.
        record = document["doses"][2]["record"]
        (case,) = record["cases"]
        slow = [i for i, each in enumerate(record["rounds"]) if each.get("outlier")]
        self.assertEqual([i // 12 for i in slow], [0, 1])
        for i in slow:
            self.assertGreaterEqual(case["values"]["p50_ns"]["head"][i], 500000)


if __name__ == "__main__":
    unittest.main()
