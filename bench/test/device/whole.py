# SPDX-License-Identifier: MIT
"""
A sweep over everything at once: whether all that it says agrees, and what is left of half
of it. SIZES=1:4k makes 156 cases of it, which take their time on an emulated machine.
"""

import os
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
# What Debian's python3-jsonschema is installed for.
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
        """All rows of it."""
        try:
            subprocess.run([*VALIDATOR[:3], "-c", "import jsonschema"], check=True)
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("no python3-jsonschema")
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
            # The warm-up apart, and none of it lost.
            warmup = case["warmup_latency_ns"]
            self.assertEqual(warmup["count"], trial["warmup"]["messages"])
            self.check_histogram(warmup["histogram"])
        else:
            self.assertEqual(case["bandwidth"]["messages"], MESSAGES)
            self.assertEqual(case["bandwidth"]["bytes"], MESSAGES * case["size"])
            self.check_histogram(case["bandwidth"]["histogram"])

    def check_packets(self, case):
        """Each message is a packet at the least, and two where it is thrown back."""
        if IS_SOFT:
            return  # has no counters in the kernel's files
        (trial,) = case["trials"]
        messages = trial["messages"] + trial["warmup"]["messages"]
        if case.get("latency_ns", {}).get("kind") == "half":
            messages *= 2
        self.assertGreaterEqual(case["counters"]["client"]["sent_pkts"], messages)

    def test_all_of_it(self):
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

    def test_half_of_it(self):
        with self.start() as program:
            wait_until(lambda: len(program.out) > 12, RUN_PATIENCE, "some cases")
            program.signal(signal.SIGINT)
            self.assertEqual(program.wait(), 1)
            # A case has its size behind its name; what is behind a ! is no case.
            shown = [
                words for words in map(str.split, program.out)
                if words[1:2] and words[0] != "!" and words[1].isdigit()
            ]
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
