# SPDX-License-Identifier: MIT
"""The systemd unit, checked with systemd's own tools."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

from verbmark import VERBMARK

with open(os.environ["UNIT"], encoding="ascii") as unit:
    TEXT = unit.read()
# In tenths of the exposure level of systemd-analyze: 10.0 is a service without any hardening.
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
            # Point the unit to the built program.
            file.write(re.sub(r"^ExecStart=\S+", f"ExecStart={VERBMARK}", TEXT, flags=re.M))

    def analyze(self, *words):
        return subprocess.run(
            ["systemd-analyze", *words, self.path], capture_output=True, text=True, check=False
        )

    def test_unit_is_valid(self):
        ended = self.analyze("verify", "--man=no")
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "", ""))

    def test_verify_finds_errors(self):
        with open(self.path, "a", encoding="ascii") as file:
            file.write("[Service]\nProtectSistem=strict\n")
        self.assertIn("ProtectSistem", self.analyze("verify", "--man=no").stderr)

    def test_unit_is_hardened(self):
        words = ("security", "--offline=true", "--no-pager")
        ended = self.analyze(*words, f"--threshold={MOST}")
        self.assertEqual(ended.returncode, 0, ended.stdout)
        # A lower threshold is exceeded, so --threshold works.
        self.assertNotEqual(self.analyze(*words, "--threshold=5").returncode, 0)


class Settings(unittest.TestCase):
    def test_runs_verbmark_serve(self):
        self.assertRegex(value("ExecStart")[0], "^/[^@]*/verbmark serve ")

    def test_runs_as_dynamic_user(self):
        self.assertEqual(value("DynamicUser"), ["yes"])
        self.assertEqual(value("User"), [])
        self.assertEqual(value("CapabilityBoundingSet"), [""])

    def test_tasks(self):
        """64 clients with 64 threads and one more each, 64 short connections, the server's own."""
        self.assertGreaterEqual(int(value("TasksMax")[0]), 64 * 64 + 64 + 2 * 64 + 32)

    def test_memory_may_be_locked(self):
        self.assertEqual(value("LimitMEMLOCK"), ["infinity"])
