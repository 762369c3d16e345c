# SPDX-License-Identifier: MIT
"""
ci/gate on the software device, with a project whose revisions differ in the link that they
configure. A head that is 10 % slower fails; an equal one passes every time, and so does one with
a single run that is ten times slower.
"""

import json
import os
import shutil
import stat
import subprocess
import tempfile
import unittest

from verbmark import RUN_PATIENCE, VERBMARK

CI_GATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../ci/gate")
CASES = ("--op", "send", "--metric", "lat,bw", "-s", "4k", "-D", "20ms", "--warmup", "30ms",
         "--floor", "p99=off", "--time-limit", "120s")
# Pairs of runs in each try: more of them find what a busy machine hides in the first try.
ROUNDS = (16, 24, 36)

# Runs verbmark with the link of its revision; the 7th run of the head uses a ten times slower link.
ARM = """#!/bin/sh
link=$(cat "${0%/*}/link")
if [ -e "${0%/*}/once" ]; then
	echo >>"$RUNS"
	[ "$(wc -l <"$RUNS")" -ne 7 ] || link=$(cat "${0%/*}/once")
fi
VERBMARK_SOFT=$link exec "$MEASURES" "$@"
"""


def link(latency_us, megabits):
    return f"latency={latency_us}us,bandwidth={megabits}mbit\n"


@unittest.skipUnless(shutil.which("git") and shutil.which("flock"), "git or flock is not installed")
class CiGate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.project = os.path.join(folder.name, "project")
        self.runs = os.path.join(folder.name, "runs")
        os.mkdir(self.project)
        self.git("init", "-q", "-b", "main")
        self.write("arm", ARM)
        os.chmod(os.path.join(self.project, "arm"), stat.S_IRWXU)
        self.base = self.commit("link", link(200, 1000))

    def git(self, *words):
        environment = os.environ | {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
        return subprocess.run(
            ("git", "-C", self.project, "-c", "user.name=Tester",
             "-c", "user.email=tester@example.org", *words),
            env=environment, check=True, capture_output=True, text=True).stdout.strip()

    def write(self, name, text):
        with open(os.path.join(self.project, name), "w", encoding="ascii") as file:
            file.write(text)

    def commit(self, name, text):
        self.write(name, text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", name)
        return self.git("rev-parse", "HEAD")

    def gate(self, base, head, is_planted=False):
        """
        Returns the process and document of a gate. Tries again, and in the end skips the test, if
        the machine is too busy for a verdict. Prints each extra try.
        """
        out = os.path.join(self.folder, "out")
        environment = os.environ | {"OUT": out, "RUNS": self.runs, "MEASURES": VERBMARK}
        for number, rounds in enumerate(ROUNDS, 1):
            if os.path.exists(self.runs):
                os.unlink(self.runs)
            ended = subprocess.run(
                (CI_GATE, "--project", self.project, "--build", "true", "--program", "arm",
                 "--driver", VERBMARK, "--cache", os.path.join(self.folder, "cache"),
                 "--device", "soft0", base, head, "--", *CASES, "--rounds", str(rounds)),
                env=environment, capture_output=True, text=True, timeout=RUN_PATIENCE)
            if number > 1 or ended.returncode == 3:
                print(f"# {self.id()}: try {number} of {len(ROUNDS)}, {rounds} rounds: status "
                      f"{ended.returncode}, {ended.stdout.splitlines()[-1:]}", flush=True)
            # A planted regression may be missed; then try again with more pairs of runs.
            if ended.returncode == 1 or (ended.returncode != 3 and not is_planted):
                break
        with open(os.path.join(out, "gate.json"), encoding="utf-8") as file:
            document = json.load(file)
        if ended.returncode == 3:
            # A busy machine is no reason for a side without results.
            self.assertTrue(document["rounds"], document.get("reason"))
            self.assertNotIn("gave no result", document.get("reason", ""))
            self.skipTest(f"the machine is too busy: {ended.stdout.splitlines()[-1:]}")
        return ended, document

    def test_ten_percent_slower(self):
        ended, document = self.gate(self.base, self.commit("link", link(220, 909)),
                                    is_planted=True)
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertEqual({figure["verdict"] for figure in document["figures"]}, {"worse"})

    def test_equal_sides_five_times(self):
        for _ in range(5):
            ended, document = self.gate(self.base, self.base)
            self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
            self.assertIn(document["verdict"], ("same", "unclear"))

    def test_one_slow_run(self):
        ended, document = self.gate(self.base, self.commit("once", link(2000, 100)))
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        self.assertIn(document["verdict"], ("same", "unclear"))
        latencies = [case["values"]["p50_ns"] for case in document["cases"]
                     if case["metric"] == "lat"]
        self.assertEqual([sum(value > 1000000 for value in latencies[0][arm])
                          for arm in ("base", "head")], [0, 1])


if __name__ == "__main__":
    unittest.main()
