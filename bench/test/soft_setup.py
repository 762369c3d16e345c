# SPDX-License-Identifier: MIT
"""What sets up, on the software device: each call is undone, and one that fails is told."""

import os
import re
import tempfile
import unittest

from verbmark import ADDRESS, VERBMARK, Ended, Program, wait_until

CALLED = 50


class SetUp(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir="/dev/shm")
        self.addCleanup(folder.cleanup)
        os.mkdir(f"{folder.name}/soft", 0o700)
        self.report = f"{folder.name}/report"
        self.environment = {**os.environ, "VERBMARK_SOFT_DIR": f"{folder.name}/soft"}

    def serve(self, faults):
        environment = dict(self.environment, VERBMARK_SOFT_FAULTS=faults)
        server = Program(VERBMARK, "serve", "-d", "soft0", "-p", "0", env=environment)
        self.addCleanup(server.kill)
        wait_until(lambda: server.out, what="the ready line")
        server.port = server.out[-1].split()[1].rpartition(":")[2]
        return server

    def run_at(self, server, *options, faults=None):
        environment = dict(self.environment)
        if faults:
            environment["VERBMARK_SOFT_FAULTS"] = faults
        return Ended(Program(
            VERBMARK, "run", ADDRESS, "-p", server.port, "-d", "soft0", "--no-save", "--quiet",
            "--warmup", "0", "--trials", "1", "-n", CALLED, *options, env=environment,
        ))  # fmt: skip

    def test_a_grant_that_cannot_be_registered(self):
        """The header of verbs calls one function or the other, as the compiler sees the rights."""
        # By the second one a lane's buffer is registered too, and there are three of them.
        server = self.serve("ibv_reg_mr#3=ENOMEM;ibv_reg_mr_iova2#4=ENOMEM")
        ended = self.run_at(server, "--op", "alloc")
        self.assertEqual(ended.status, 1)
        self.assertIn("the server's device registers no more memory", ended.out + ended.err)
        # Who comes next is served by the same one.
        self.assertEqual(self.run_at(server, "--op", "alloc,send").status, 0)
        server.process.terminate()
        self.assertEqual(server.wait(), 0)

    def test_calls_that_fail(self):
        """At the client; the server goes on."""
        server = self.serve("count")
        for op, call, reason in (
            ("register", "ibv_reg_mr_iova2#9", "cannot register 64 bytes"),
            ("deregister", "ibv_dereg_mr#9", "cannot deregister memory"),
            ("create-qp", "ibv_create_qp#100", "cannot create a queue pair"),
            ("create-cq", "ibv_create_cq#20", "cannot create a completion queue"),
        ):
            ended = self.run_at(server, "--op", op, faults=f"{call}=ENOMEM")
            self.assertEqual(ended.status, 1)
            self.assertIn(reason, ended.out + ended.err)
        self.assertEqual(self.run_at(server, "--op", "send").status, 0)

    def counted(self, op):
        """By the names of the calls, how many the client has made."""
        ended = self.run_at(self.serve("count"), "--op", op, faults=f"count;report={self.report}")
        self.assertEqual(ended.status, 0, ended.err)
        with open(self.report, encoding="ascii") as report:
            counts = {name: int(n) for n, name in re.findall(r"count (\d+): (\S+)", report.read())}
        os.unlink(self.report)
        return counts

    def test_all_is_undone(self):
        without = self.counted("send")
        for op, make, undo in (
            ("register", "ibv_reg_mr_iova2", "ibv_dereg_mr"),
            ("deregister", "ibv_reg_mr_iova2", "ibv_dereg_mr"),
            ("create-qp", "ibv_create_qp", "ibv_destroy_qp"),
            ("create-cq", "ibv_create_cq", "ibv_destroy_cq"),
        ):
            found = self.counted(op)
            for call in (make, undo):
                self.assertEqual(found[call] - without[call], CALLED, f"{op}: {call}")
