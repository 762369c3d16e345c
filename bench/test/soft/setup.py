# SPDX-License-Identifier: MIT
"""Set-up calls on the software device: each call is undone, and each failure is reported."""

import os
import re
import tempfile
import unittest

from verbmark import ADDRESS, VERBMARK, Ended, Program, ready_line, wait_until

CALLED = 50
# One of the connections that a client makes when it connects CALLED times.
MIDDLE = 25


class SetUp(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir="/dev/shm")
        self.addCleanup(folder.cleanup)
        os.mkdir(f"{folder.name}/soft", 0o700)
        self.report = f"{folder.name}/report"
        self.environment = {**os.environ, "VERBMARK_SOFT_DIR": f"{folder.name}/soft"}

    def serve(self, faults, *options):
        environment = dict(self.environment, VERBMARK_SOFT_FAULTS=faults)
        server = Program(VERBMARK, "serve", "-d", "soft0", "-p", "0", *options, env=environment)
        self.addCleanup(server.kill)
        wait_until(lambda: ready_line(server.out), what="the ready line")
        server.port = ready_line(server.out).split()[1].rpartition(":")[2]
        return server

    def run_at(self, server, *options, faults=None):
        environment = dict(self.environment)
        if faults:
            environment["VERBMARK_SOFT_FAULTS"] = faults
        return Ended(Program(
            VERBMARK, "run", ADDRESS, "-p", server.port, "-d", "soft0", "--no-save", "--quiet",
            "--warmup", "0", "--trials", "1", "-n", CALLED, "-r", 8, *options, env=environment,
        ))  # fmt: skip

    def test_pool_that_cannot_register(self):
        """The client is rejected, and the server logs why."""
        # First comes the mailbox, then a client's grant and its mail, in any order.
        server = self.serve("ibv_reg_mr_iova2#3=ENOMEM", "--pool")
        words = (VERBMARK, "pool", ADDRESS, "-p", server.port, "--device", "soft0", "--alloc", "4m",
                 "--writes", 1)
        ended = Ended(Program(*words, env=self.environment))
        self.assertEqual(ended.status, 1)
        self.assertIn("the server's device cannot register more memory", ended.err)
        wait_until(lambda: any("refused" in line for line in server.out), what="the reason")
        self.assertRegex("\n".join(server.out), r"refused: cannot register 4 MiB: (memlock|Cannot)")
        self.assertEqual(Ended(Program(*words, env=self.environment)).status, 0)

    def test_grant_that_cannot_be_registered(self):
        """The header of verbs calls one of two functions, depending on what the compiler knows."""
        # With ibv_reg_mr_iova2, the buffer of a lane counts as well.
        server = self.serve("ibv_reg_mr#3=ENOMEM;ibv_reg_mr_iova2#4=ENOMEM")
        ended = self.run_at(server, "--op", "alloc")
        self.assertEqual(ended.status, 1)
        self.assertIn("the server's device cannot register more memory", ended.out + ended.err)
        # The same server serves the next client.
        self.assertEqual(self.run_at(server, "--op", "alloc,send").status, 0)
        server.process.terminate()
        self.assertEqual(server.wait(), 0)

    def test_relaxed_ordering_is_rejected(self):
        """If a device rejects relaxed ordering, only those cases are skipped."""
        refused = "the device does not support relaxed ordering; use --relaxed-ordering off"
        case = ("--op", "send", "--relaxed-ordering", "on,off")
        line = "send/lat/64/poll/r8/relaxed-on: skipped: "
        server = self.serve("ibv_reg_mr_iova2#1=EINVAL")
        ended = self.run_at(server, *case)
        self.assertIn(f"{line}{ADDRESS}: {refused}", ended.out)
        self.assertEqual(ended.status, 0, ended.out)
        self.assertNotIn(line, self.run_at(server, *case).out)
        ended = self.run_at(server, *case, faults="ibv_reg_mr_iova2#1=EOPNOTSUPP")
        self.assertIn(f"{line}{refused}", ended.out)
        self.assertEqual(ended.status, 0, ended.out)

    def test_failing_calls(self):
        """Calls fail at the client; the server survives."""
        server = self.serve("count")
        for op, call, reason in (
            ("register", "ibv_reg_mr_iova2#9", "cannot register 64 bytes"),
            ("deregister", "ibv_dereg_mr#9", "cannot deregister memory"),
            ("create-qp", "ibv_create_qp#100", "cannot create a queue pair"),
            ("create-cq", "ibv_create_cq#20", "cannot create a completion queue"),
            ("open-device", "ibv_open_device#20", "cannot open the device"),
            ("open-device", "ibv_close_device#20", "cannot close the device"),
            ("alloc-pd", "ibv_alloc_pd#20", "cannot allocate a protection domain"),
            ("alloc-pd", "ibv_dealloc_pd#20", "cannot deallocate a protection domain"),
            ("post-send", "ibv_wr_complete#20", "memory; the device has an unreported limit"),
            ("post-recv", "ibv_post_recv#60", "cannot post a receive"),
            ("post-recv", "ibv_query_qp#3", "cannot empty the receive queue"),
            ("post-recv", "ibv_modify_qp#10", "cannot empty the receive queue"),
            ("poll-cq", "ibv_poll_cq#20", "cannot poll the completion queue"),
        ):
            ended = self.run_at(server, "--op", op, faults=f"{call}=ENOMEM")
            self.assertEqual(ended.status, 1, call)
            self.assertIn(reason, ended.out + ended.err)
        self.assertEqual(self.run_at(server, "--op", "send").status, 0)

    def take_report(self):
        """Returns the number of calls by function, and removes the report."""
        with open(self.report, encoding="ascii") as report:
            counts = {name: int(n) for n, name in re.findall(r"count (\d+): (\S+)", report.read())}
        os.unlink(self.report)
        return counts

    def counted(self, *options):
        """Returns the client's number of calls by function."""
        server = self.serve("count")
        ended = self.run_at(server, *options, faults=f"count;report={self.report}")
        self.assertEqual(ended.status, 0, ended.err)
        return self.take_report()

    def counted_at_server(self, *options):
        """Returns the server's number of calls by function, for one client."""
        server = self.serve(f"count;report={self.report}")
        ended = self.run_at(server, *options)
        self.assertEqual(ended.status, 0, ended.err)
        server.process.terminate()
        self.assertEqual(server.wait(), 0)
        return self.take_report()

    def test_each_call_is_undone(self):
        without = self.counted("--op", "send")
        for op, make, undo in (
            ("register", "ibv_reg_mr_iova2", "ibv_dereg_mr"),
            ("deregister", "ibv_reg_mr_iova2", "ibv_dereg_mr"),
            ("create-qp", "ibv_create_qp", "ibv_destroy_qp"),
            ("create-cq", "ibv_create_cq", "ibv_destroy_cq"),
            ("open-device", "ibv_open_device", "ibv_close_device"),
            ("alloc-pd", "ibv_alloc_pd", "ibv_dealloc_pd"),
        ):
            found = self.counted("--op", op)
            for call in (make, undo):
                self.assertEqual(found[call] - without[call], CALLED, f"{op}: {call}")

    def test_connections_are_complete(self):
        """Whichever step is timed, the client makes all of them, and the server matches them."""
        without = self.counted("--op", "send")
        steps = (
            "rdma_create_id", "rdma_bind_addr", "rdma_resolve_addr", "rdma_resolve_route",
            "rdma_create_qp", "rdma_connect", "rdma_disconnect", "rdma_destroy_id",
        )
        for step in ("whole", "create", "create-qp", "disconnect", "destroy"):
            found = self.counted("--op", "connect", "--step", step)
            made = {call: found[call] - without.get(call, 0) for call in steps}
            self.assertEqual(made, dict.fromkeys(steps, CALLED), step)
        without = self.counted_at_server("--op", "send")
        found = self.counted_at_server("--op", "connect", "--step", "whole")
        calls = ("rdma_create_qp", "rdma_accept", "rdma_disconnect", "rdma_destroy_id")
        made = {call: found[call] - without.get(call, 0) for call in calls}
        self.assertEqual(made, dict.fromkeys(calls, CALLED))

    def test_failing_steps(self):
        """Steps fail at the client; the server survives."""
        server = self.serve("count")
        connecting = ("--op", "connect", "--step", "whole")
        for fault, reason in (
            ("rdma_create_id#N=ENOMEM", "create: cannot create a connection identifier"),
            ("rdma_bind_addr#N=EADDRINUSE", "bind: cannot bind the local address"),
            ("rdma_resolve_addr#N=EIO", "resolve-address: cannot resolve the address"),
            ("cm:ADDR_RESOLVED#N=ADDR_ERROR", "resolve-address: cannot resolve the address"),
            ("rdma_resolve_route#N=EIO", "resolve-route: cannot resolve the route"),
            ("cm:ROUTE_RESOLVED#N=ROUTE_ERROR", "resolve-route: cannot resolve the route"),
            ("rdma_create_qp#N=ENOMEM", "create-qp: cannot create a queue pair"),
            ("rdma_connect#N=EIO", "connect: cannot connect: Input/output error"),
            ("cm:ESTABLISHED#N=UNREACHABLE", "connect: the peer does not answer"),
            ("cm:ESTABLISHED#N=DEVICE_REMOVAL", "connect: the RDMA device was removed"),
            ("rdma_disconnect#N=EIO", "disconnect: cannot disconnect: Input/output error"),
            ("cm:DISCONNECTED#N=CONNECT_ERROR", "disconnect: the connection failed"),
            ("rdma_destroy_id#N=EIO", "destroy: cannot destroy a connection identifier"),
        ):
            ended = self.run_at(server, *connecting, faults=fault.replace("#N", f"#{MIDDLE}"))
            self.assertEqual(ended.status, 1, fault)
            self.assertIn(reason, ended.out + ended.err, fault)
        self.assertEqual(self.run_at(server, *connecting).status, 0)

    def test_failing_steps_at_server(self):
        connecting = ("--op", "connect", "--step", "whole")
        for fault, reason in (
            ("rdma_create_qp#N=ENOMEM", f"{ADDRESS}: cannot create a queue pair"),
            ("rdma_accept#N=EIO", f"{ADDRESS}: cannot accept a connection: Input/output error"),
            ("rdma_destroy_id#N=EIO", f"{ADDRESS}: cannot destroy a connection identifier"),
            ("rdma_get_cm_event#N=EIO", f"{ADDRESS}: cannot take a connection event"),
            # The client notices when the identifier is destroyed.
            ("rdma_disconnect#N=EIO", None),
        ):
            server = self.serve(fault.replace("#N", f"#{MIDDLE}"))
            ended = self.run_at(server, *connecting)
            self.assertEqual(ended.status, 1 if reason else 0, fault + ended.err)
            self.assertIn(reason or "", ended.out + ended.err, fault)
            self.assertEqual(self.run_at(server, *connecting).status, 0, fault)
            server.process.terminate()
            self.assertEqual(server.wait(), 0)
