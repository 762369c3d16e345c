# SPDX-License-Identifier: MIT
"""
A sweep over many parameters: its figures must agree, also if it is interrupted. SIZES=1:4k makes
it 156 cases, which are slow on an emulated machine.
"""

import os
import re
import signal
import subprocess
import tempfile

import documents
from verbmark import IS_SOFT, RUN_PATIENCE, Ended, Served, client, wait_until

SIZES = os.environ.get("SIZES", "1,61,4k")
PLAN = (
    "--op", "send,write,read", "--metric", "lat,bw", "-s", SIZES, "--cq", "poll,event", "-n", 500,
)
CASES = 3 * 2 * 2 * (13 if SIZES == "1:4k" else len(SIZES.split(",")))
MESSAGES = 500
# The Python for which Debian's python3-jsonschema is installed.
VALIDATOR = ("/usr/bin/python3", "-W", "ignore", "-m", "jsonschema")


class Whole(Served):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = f"{cls.folder.name}/r.json"

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.folder.cleanup()

    def start(self):
        return client(*PLAN, "--json", self.path, port=self.server.port)

    def load(self):
        return documents.read(self.path)

    def check_valid(self):
        """Validates the whole document, without shortening it."""
        try:
            subprocess.run([*VALIDATOR[:3], "-c", "import jsonschema"], check=True)
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("python3-jsonschema is not installed")
        done = subprocess.run(
            [*VALIDATOR, "-i", self.path, documents.SCHEMA], capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 0, done.stderr[:2000])

    def check_histogram(self, histogram):
        bins = histogram["bins"]
        self.assertEqual(sum(count for _, _, count in bins) + histogram["over"], histogram["count"])

    def check_case(self, case):
        self.assertEqual(case["status"], "complete", case)
        (trial,) = case["trials"]
        self.assertEqual(trial["messages"], MESSAGES)
        if case["metric"] == "lat":
            self.assertEqual(case["latency_ns"]["count"], MESSAGES)
            self.assertEqual(case["latency_ns"]["histogram"]["count"], MESSAGES)
            self.check_histogram(case["latency_ns"]["histogram"])
            # The warm-up is separate and complete.
            warmup = case["warmup_latency_ns"]
            self.assertEqual(warmup["count"], trial["warmup"]["messages"])
            self.check_histogram(warmup["histogram"])
        else:
            self.assertEqual(case["bandwidth"]["messages"], MESSAGES)
            self.assertEqual(case["bandwidth"]["bytes"], MESSAGES * case["size"])
            self.check_histogram(case["bandwidth"]["histogram"])

    def check_packets(self, case):
        """Each message needs at least one packet, and another one in a ping-pong."""
        if IS_SOFT:
            return  # soft0 has no counters in /sys
        (trial,) = case["trials"]
        messages = trial["messages"] + trial["warmup"]["messages"]
        if case.get("latency_ns", {}).get("kind") == "half":
            messages *= 2
        self.assertGreaterEqual(case["counters"]["client"]["sent_pkts"], messages)

    def test_complete_run(self):
        ended = Ended(self.start(), RUN_PATIENCE)
        self.assertEqual(ended.status, 0, ended.err)
        document = self.load()
        self.assertEqual(document["run"]["status"], "complete")
        self.assertEqual(len(document["cases"]), CASES)
        self.assertEqual(len({case["id"] for case in document["cases"]}), CASES)
        for case in document["cases"]:
            self.check_case(case)
            self.check_packets(case)
        self.check_valid()

    def test_interrupted_run(self):
        with self.start() as program:
            wait_until(lambda: len(program.out) > 20, RUN_PATIENCE, "some cases")
            program.signal(signal.SIGINT)
            self.assertEqual(program.wait(), 1)
            # A row of a case has the operation and the size first.
            shown = [line for line in program.out if re.match(r"(send|write|read) +\d", line)]
        document = self.load()
        self.assertEqual(document["run"]["status"], "interrupted")
        self.assertEqual(len(document["cases"]), CASES)
        done = [case for case in document["cases"] if case["status"] == "complete"]
        self.assertEqual(len(done), len(shown))
        self.assertGreater(len(done), 8)
        for case in done:
            self.check_case(case)
        left = {case["status"] for case in document["cases"]} - {"complete"}
        self.assertEqual(left, {"interrupted"})
        self.check_valid()
