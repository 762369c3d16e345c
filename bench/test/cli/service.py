# SPDX-License-Identifier: MIT
"""The unit for systemd, by what systemd itself says of it."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

from verbmark import VERBMARK

with open(os.environ["UNIT"], encoding="ascii") as unit:
    TEXT = unit.read()
# In tenths of what systemd-analyze calls the exposure: 10.0 is a service without any care.
MOST = 20


def value(key):
    return re.findall(rf"^{key}=(.*)$", TEXT, re.MULTILINE)


@unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not installed")
class Service(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = f"{folder.name}/verbmark.service"
        with open(self.path, "w", encoding="ascii") as file:
            # As it will be where it is installed: there is the command.
            file.write(re.sub(r"^ExecStart=\S+", f"ExecStart={VERBMARK}", TEXT, flags=re.M))

    def analyze(self, *words):
        return subprocess.run(
            ["systemd-analyze", *words, self.path], capture_output=True, text=True, check=False
        )

    def test_it_is_understood(self):
        said = self.analyze("verify", "--man=no")
        self.assertEqual((said.returncode, said.stdout, said.stderr), (0, "", ""))

    def test_what_is_wrong_would_be_seen(self):
        with open(self.path, "a", encoding="ascii") as file:
            file.write("[Service]\nProtectSistem=strict\n")
        self.assertIn("ProtectSistem", self.analyze("verify", "--man=no").stderr)

    def test_it_is_hardened(self):
        words = ("security", "--offline=true", "--no-pager")
        said = self.analyze(*words, f"--threshold={MOST}")
        self.assertEqual(said.returncode, 0, said.stdout)
        # The threshold is one.
        self.assertNotEqual(self.analyze(*words, "--threshold=5").returncode, 0)


class What(unittest.TestCase):
    def test_it_serves(self):
        self.assertRegex(value("ExecStart")[0], "^/[^@]*/verbmark serve ")

    def test_nobody_in_particular(self):
        self.assertEqual(value("DynamicUser"), ["yes"])
        self.assertEqual(value("User"), [])
        self.assertEqual(value("CapabilityBoundingSet"), [""])

    def test_tasks(self):
        """64 clients of 64 threads, one each of those with one, 64 that knock and go, its own."""
        self.assertGreaterEqual(int(value("TasksMax")[0]), 64 * 64 + 64 + 2 * 64 + 32)

    def test_memory_may_be_locked(self):
        self.assertEqual(value("LimitMEMLOCK"), ["infinity"])
