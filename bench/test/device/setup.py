# SPDX-License-Identifier: MIT
"""Calls that set something up: what they are made with, and that nothing is left of them."""

import os
import resource
import signal

from verbmark import (
    RUN_PATIENCE, Ended, Program, Relay, Served, Server, client, measure, resources,
    wait_until,
)

CALLS = "register,deregister,create-qp,create-cq,open-device,alloc-pd,post-recv"
# Of a message each.
POSTS = "post-send,poll-cq"
STEPS = (
    "whole create bind resolve-address resolve-route create-qp connect disconnect destroy"
).split()
# What the server computes before it accepts, which is longer than all that a step takes.
THOUGHT_MS = 100
SIZE = 16 << 20
CALLED = 20


class Calls(Served):
    def cases(self, *options, count=1):
        cases = measure(self.server, *options).document["cases"]
        self.assertEqual(len(cases), count)
        for case in cases:
            self.assertEqual(case["status"], "complete", case)
            self.assertEqual(case["latency_ns"]["kind"], "call")
        return cases

    def begin(self, server, op):
        """Starts a case of a minute, and returns once the server is ready for it."""
        relay = Relay(server, "ready")
        self.addCleanup(relay.__exit__)
        program = client("--op", op, "-D", "60s", "--warmup", "20ms", port=relay.port)
        self.addCleanup(program.kill)
        relay.wait()
        relay.release()
        return program


class SetUp(Calls):
    def test_all_of_them(self):
        for case in self.cases("--op", CALLS, "-n", 50, count=7):
            self.assertEqual(case["latency_ns"]["count"], 50)
            # Nobody but this end does anything, and nothing is sent.
            for end in ("client", "server"):
                self.assertEqual(case["cpu"][end]["completions"], 0)
            self.assertEqual(case["cpu"]["server"]["cq_events"], 0)

    def test_posting(self):
        """Each is signalled; the other end has nothing to do with it."""
        for case in self.cases("--op", POSTS, "-c", "RC,UC", "-n", 50, count=4):
            self.assertEqual(case["latency_ns"]["count"], 50)
            self.assertEqual(case["cq_mod"], 1)
            self.assertEqual(case["cpu"]["client"]["completions"], 50)
            self.assertEqual(case["cpu"]["server"]["completions"], 0)
        self.cases("--op", "post-send", "-s", "2,64k", "-I", 0, "--sge", "1,2", "-n", 50, count=4)

    def test_receives_beyond_the_queue(self):
        """It is emptied whenever it is full."""
        self.cases("--op", "post-recv", "-r", "1,7,1000", "--sge", "1,2", "-c", "RC,UC", "-n", 2500,
                   count=12)

    def test_registering(self):
        cases = self.cases(
            "--op", "register,deregister", "-s", "1,4097,16m", "--mr-access",
            "local,remote,atomic", "--pages", "touched,untouched", "-n", 20, count=27,
        )
        chosen = {(case["op"], case["mr_access"], case.get("pages")) for case in cases}
        self.assertEqual(len(chosen), 9)

    def faults(self, pages):
        """Of the program that registers; the kernel has the pages of those that it waited for."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
        ended = Ended(client("--op", "register", "-s", SIZE, "--pages", pages, "-n", CALLED,
                             "--warmup", 0, "--quiet", port=self.server.port), RUN_PATIENCE)
        self.assertEqual(ended.status, 0, ended.err)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt - before

    def test_untouched_pages_are_fetched(self):
        with open("/sys/kernel/mm/transparent_hugepage/enabled", encoding="ascii") as file:
            is_huge = "[always]" in file.read()
        more = self.faults("untouched") - self.faults("touched")
        # Where pages are huge one fault has all of one.
        self.assertGreater(more, (CALLED - 1) * (SIZE >> (21 if is_huge else 12)) // 2)

    def test_queues(self):
        self.cases("--op", "create-qp", "-c", "RC,UC,UD", "-t", "1,1000", "-r", "1,1000",
                   "--use-srq", "-n", 20, count=12)
        self.cases("--op", "create-qp", "--sge", 4, "-n", 20)
        self.cases("--op", "create-cq", "-t", "1,16384", "--cq", "poll,event,adaptive", "-n", 20,
                   count=6)

    def test_threads(self):
        both = f"{CALLS},{POSTS}"
        for case in self.cases("--op", both, "--threads", 2, "-n", 50, count=9):
            self.assertEqual(case["latency_ns"]["count"], 100)

    def test_by_time(self):
        """However little of it there is, one call is made."""
        options = ("--op", "register,deregister", "-s", "64,64m", "--warmup", 0, "--trials", 1)
        for case in self.cases(*options, "-D", "1ms", count=4):
            self.assertGreater(case["latency_ns"]["count"], 0)

    def test_interrupted(self):
        for op in f"{CALLS},{POSTS}".split(","):
            program = self.begin(self.server, op)
            program.signal(signal.SIGINT)
            self.assertEqual(program.wait(), 1)
            self.assertEqual(program.errors, "verbmark: interrupted")
        self.cases("--op", CALLS, "-n", 20, count=7)

    def test_the_server_goes(self):
        for op in ("register", "post-send"):
            with Server() as server:
                program = self.begin(server, op)
                server.kill()
                self.assertEqual(program.wait(), 1)
                self.assertIn(f"{op}/lat/64/poll", program.errors + "\n".join(program.out))


class Connecting(Calls):
    """The steps of a connection by rdma_cm, of which each is a case."""

    def check_serves(self, before):
        """The next one, and all that the former one had is gone."""
        self.cases("--op", "connect", "--step", "whole", "-n", 5)
        wait_until(lambda: resources() == before, what="the end of all that was made")

    def test_steps(self):
        before = resources()
        cases = self.cases("--op", "connect", "-n", 20, count=len(STEPS))
        self.assertEqual([case["step"] for case in cases], STEPS)
        for case in cases:
            self.assertEqual(case["latency_ns"]["count"], 20)
            # Nothing is sent.
            for end in ("client", "server"):
                self.assertEqual(case["cpu"][end]["completions"], 0)
        self.check_serves(before)

    def test_which_of_them_is_timed(self):
        """The server thinks before it accepts, and at no other time."""
        cases = self.cases("--op", "connect", "--think", f"{THOUGHT_MS}ms", "-n", 3, "--warmup", 0,
                           count=len(STEPS))
        long = {case["step"] for case in cases if case["latency_ns"]["min"] >= THOUGHT_MS * 1e6}
        self.assertEqual(long, {"whole", "connect"})

    def test_queue_pairs(self):
        """As create-qp has them."""
        self.cases("--op", "connect", "--step", "create-qp", "-t", "1,1000", "-r", "1,1000",
                   "--use-srq", "--sge", "1,4", "-n", 5, count=8)

    def test_threads(self):
        case, = self.cases("--op", "connect", "--step", "whole", "--threads", 2, "-n", 20)
        self.assertEqual(case["latency_ns"]["count"], 40)

    def test_trials(self):
        """However little time there is, each has one connection."""
        cases = self.cases("--op", "connect", "--step", "bind,destroy", "-D", "1ms", "--trials", 3,
                           "--warmup", 0, count=2)
        for case in cases:
            self.assertEqual(len(case["trials"]), 3)
            self.assertGreaterEqual(case["latency_ns"]["count"], 3)

    def test_interrupted(self):
        before = resources()
        program = self.begin(self.server, "connect")
        program.signal(signal.SIGINT)
        self.assertEqual(program.wait(), 1)
        self.assertEqual(program.errors, "verbmark: interrupted")
        self.check_serves(before)

    def test_the_client_goes(self):
        before = resources()
        told = len(self.server.err)
        self.begin(self.server, "connect").kill()
        self.check_serves(before)
        for line in self.server.err[told:]:
            self.assertIn("or its process ended", line)

    def test_the_server_goes(self):
        with Server() as server:
            program = self.begin(server, "connect")
            server.kill()
            self.assertEqual(program.wait(), 1)
            self.assertIn("connect/lat/1/poll/whole", program.errors + "\n".join(program.out))

    def test_the_server_is_asked_to_end(self):
        before = resources()
        with Server() as server:
            program = self.begin(server, "connect")
            server.signal(signal.SIGTERM)
            self.assertEqual(server.wait(), 0)
            self.assertEqual(program.wait(), 1)
        self.check_serves(before)

    def test_a_stranger(self):
        """It finds the port where the client's connections come, and says what a verbmark says."""
        passed = {}

        class Listener(Relay):
            @staticmethod
            def pass_on(message, sink, lock):
                passed[message["type"]] = message
                Relay.pass_on(message, sink, lock)

        # The server is ready once the client's own connection is there.
        with Listener(self.server, "ready") as relay:
            program = client("--op", "connect", "--step", "whole", "-D", "60s", "--warmup", 0,
                             port=relay.port)
            self.addCleanup(program.kill)
            relay.wait()
            relay.release()
            listening = passed["listening"]
            for _ in range(3):
                stranger = Program(
                    os.environ["STRANGER"], listening["address"], listening["ports"][0]
                )
                with stranger:
                    self.assertEqual(stranger.wait(), 1)
                    self.assertIn("this listener is for another client", stranger.out[0])
            # It has heard nothing of them.
            self.assertIsNone(program.process.poll(), program.errors)
            program.signal(signal.SIGINT)
            self.assertEqual(program.wait(), 1)
            self.assertEqual(program.errors, "verbmark: interrupted")

    def test_a_limit_of_the_server(self):
        """Beside the one of the case there is the one that it makes."""
        for most, status in ((1, 1), (2, 0)):
            with Server("--max-qps", most) as server:
                ended = Ended(client("--op", "connect", "--step", "whole", "-n", 5,
                                     port=server.port), RUN_PATIENCE)
                self.assertEqual(ended.status, status, ended.err)
                found = "2 queue pairs exceed this server's limit of 1" in ended.out + ended.err
                self.assertEqual(found, most < 2)
