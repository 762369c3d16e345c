# SPDX-License-Identifier: MIT
"""Two machines with Soft-RoCE, on which mpirun starts ranks by ssh."""

import os
import shutil
import tempfile
import unittest

import documents
import over_ssh
from verbmark import DEVICE, RUN_PATIENCE, VERBMARK, Ended, Program


class Machines(over_ssh.OverSsh):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("mpirun"):
            raise unittest.SkipTest("mpirun is not installed")
        super().setUpClass()

    def test_pair(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "f.json")
        ended = Ended(Program(
            "mpirun", "--allow-run-as-root", "-np", 2, "--host", "softroce1,softroce2",
            "--mca", "plm_rsh_agent", self.ssh, "--mca", "oob_tcp_if_include", "10.88.0.0/24",
            VERBMARK, "fleet", "--op", "send", "--metric", "lat", "--cq", "event", "-n", 100,
            "--floor", "60s", "--time-limit", "120s", "--join", "120s", "--json", path,
        ), RUN_PATIENCE)
        # A busy machine retransmits, which raises error counters.
        self.assertIn(ended.status, (0, 1), (ended.err, ended.out))
        with open(path, encoding="utf-8") as file:
            document = documents.parse(file.read(), "verbmark.fleet-1")
        self.assertEqual([node["name"] for node in document["nodes"]], ["softroce1", "softroce2"])
        self.assertEqual(document["run"]["exit_status"], ended.status)
        for node in document["nodes"]:
            self.assertEqual([rail["device"] for rail in node["rails"]], [DEVICE])
        columns = document["columns"]
        (pair,) = (pair for pair in document["pairs"] if not pair[columns.index("retest")])
        figures = pair[columns.index("figures_or_error")]
        self.assertIsInstance(figures, list)
        self.assertGreater(figures[0], 0)
