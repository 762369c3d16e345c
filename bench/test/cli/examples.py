# SPDX-License-Identifier: MIT
"""The examples of verbmark-result(5), which users copy: commands of jq, and the pandas reader."""

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from cli.export import several
from cli.report import ENDED_BADLY, bandwidth, result
from verbmark import PATIENCE, read, verbmark

try:
    import pandas
except ImportError:
    pandas = None

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../man/verbmark-result.5.scd")


def measured():
    """Returns two latencies with two trials each, a bandwidth, and cases without figures."""
    return result(several([10, 30], "send/lat/64/poll"), several([100, 300], "send/lat/4096/poll"),
                  bandwidth([100, 200, 300]), *ENDED_BADLY)


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(f"{self.folder}/measured.json", "w", encoding="utf-8") as file:
            json.dump(measured(), file)
        written = verbmark("report", "--format", "json", f"{self.folder}/measured.json").out
        with open(f"{self.folder}/result.json", "w", encoding="utf-8") as file:
            file.write(written)
        self.document = json.loads(written)
        self.page = read(PAGE).partition("# EXAMPLES")[2]

    def jq(self):
        """Returns the output of each jq command of the page, split into fields."""
        commands = re.findall(r"^\t(jq .*)$", self.page, re.MULTILINE)
        return [subprocess.run(["sh", "-ec", command.replace("\\\\", "\\")], cwd=self.folder,
                               check=True, capture_output=True, text=True, timeout=PATIENCE).stdout
                for command in commands]

    @unittest.skipUnless(shutil.which("jq"), "jq is not installed; run ci/setup test")
    def test_jq(self):
        medians, failed, rates = self.jq()
        cases = self.document["cases"]
        self.assertEqual([line.split("\t") for line in medians.splitlines()], [
            [case["id"], f"{case['latency_ns']['p50']:g}"] for case in cases if "latency_ns" in case])
        self.assertEqual(failed.splitlines(), [
            f"{case['id']}: {case['error']}" for case in cases if case["status"] == "failed"])
        # 600 messages of 1000 bytes in 30 ms.
        self.assertEqual(rates, "1000,20000\n")

    def reader(self):
        blocks = re.findall(r"^```\n(.*?)^```$", self.page, re.MULTILINE | re.DOTALL)
        names = {}
        exec(blocks[0], names)
        return names, blocks[1:]

    @unittest.skipUnless(pandas, "python3-pandas is not installed; run ci/setup test")
    def test_wide(self):
        names, _ = self.reader()
        path = f"{self.folder}/result.json"
        frame = names["wide"](path)
        cases = self.document["cases"]
        self.assertEqual(len(frame), sum(1 + len(case.get("trials", [])) for case in cases))
        self.assertEqual(list(frame[frame.trial == 0]["id"]), [case["id"] for case in cases])
        medians = frame[frame.id == "send/lat/4096/poll"].set_index("trial")["latency_ns.p50"]
        self.assertEqual(dict(medians), {0: cases[1]["latency_ns"]["p50"], 1: 100, 2: 300})
        self.assertEqual(len(names["wide"](path, path)), 2 * len(frame))

    @unittest.skipUnless(pandas, "python3-pandas is not installed; run ci/setup test")
    def test_long(self):
        names, _ = self.reader()
        frame = names["long"](names["wide"](f"{self.folder}/result.json"))
        self.assertEqual(list(frame), [*names["KEYS"], "figure", "value"])
        found = frame.set_index(["id", "trial", "figure"])["value"]
        self.assertEqual(found["send/lat/64/poll", 2, "latency_ns.p50"], 30)
        self.assertEqual(found["write/bw/1000/event", 0, "bandwidth.messages_per_s"], 20000)
        self.assertFalse(frame["value"].isna().any())
        # Cases without figures have no rows.
        self.assertEqual(set(frame["id"]), {"send/lat/64/poll", "send/lat/4096/poll",
                                            "write/bw/1000/event"})

    @unittest.skipUnless(pandas, "python3-pandas is not installed; run ci/setup test")
    def test_use(self):
        names, (use,) = self.reader()
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)
        with contextlib.redirect_stdout(io.StringIO()):
            exec(use, names)
        spread = names["trials"].groupby("id")["latency_ns.p50"].describe()
        self.assertEqual(tuple(spread.loc["send/lat/64/poll"][["count", "min", "max"]]), (2, 10, 30))
        table = names["medians"].pivot_table("value", "size", "op")
        self.assertEqual(table.loc[4096, "send"], self.document["cases"][1]["latency_ns"]["p50"])


if __name__ == "__main__":
    unittest.main()
