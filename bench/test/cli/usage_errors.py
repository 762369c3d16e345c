# SPDX-License-Identifier: MIT
"""
Wrong usage: usage_errors.txt has command lines, and the exact message that each one gives. With
UPDATE=1 the test writes the messages to the file instead, to be read before they are committed.
"""

import os
import shlex
import shutil
import tempfile
import unittest

from verbmark import verbmark

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLE = os.path.join(HERE, "..", "..", "..", "reports", "test", "lib", "sample.json")


class UsageErrors(unittest.TestCase):
    def check(self, line, message, folder):
        ended = verbmark(*shlex.split(line)[1:], cwd=folder)
        with self.subTest(line):
            self.assertEqual((ended.status, ended.out), (2, ""))
            if "UPDATE" not in os.environ:
                self.assertEqual(ended.err, message)
        return ended.err

    def test_messages(self):
        names = ["a.json", "b.json", "c.json"]
        with open(f"{HERE}/usage_errors.txt", encoding="utf-8") as file:
            lines = file.read().splitlines()
        calls = [i for i, line in enumerate(lines) if line.startswith("$ ")]
        self.assertGreaterEqual(len(calls), 60)
        with tempfile.TemporaryDirectory() as folder:
            for name in names:
                shutil.copy(SAMPLE, f"{folder}/{name}")
            for i in calls:
                lines[i + 1] = self.check(lines[i].removeprefix("$ "), lines[i + 1], folder)
            self.assertEqual(sorted(os.listdir(folder)), names)
        if "UPDATE" in os.environ:
            with open(f"{HERE}/usage_errors.txt", "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
