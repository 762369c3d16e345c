# SPDX-License-Identifier: MIT
"""Set-up calls: their parameters, and that they leave nothing behind."""

import os
import resource
import signal

from verbmark import (
    RUN_PATIENCE, Ended, Program, Relay, Served, Server, client, measure, resources,
    wait_until,
)

CALLS = "register,deregister,create-qp,create-cq,open-device,alloc-pd,post-recv"
# Calls for a single message.
POSTS = "post-send,poll-cq"
STEPS = (
    "whole create bind resolve-address resolve-route create-qp connect disconnect destroy"
).split()
# The server thinks this long before it accepts, which is longer than any step takes.
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
    def test_all_calls(self):
        for case in self.cases("--op", CALLS, "-n", 50, count=7):
            self.assertEqual(case["latency_ns"]["count"], 50)
            # The server does nothing, and nothing is sent.
            for end in ("client", "server"):
                self.assertEqual(case["cpu"][end]["completions"], 0)
            self.assertEqual(case["cpu"]["server"]["cq_events"], 0)

    def test_posting(self):
        """Each post is signaled; the server does nothing."""
        for case in self.cases("--op", POSTS, "-c", "RC,UC", "-n", 50, count=4):
            self.assertEqual(case["latency_ns"]["count"], 50)
            self.assertEqual(case["cq_mod"], 1)
            self.assertEqual(case["cpu"]["client"]["completions"], 50)
            self.assertEqual(case["cpu"]["server"]["completions"], 0)
        self.cases("--op", "post-send", "-s", "2,64k", "-I", 0, "--sge", "1,2", "-n", 50, count=4)

    def test_receives_beyond_the_queue(self):
        """The receive queue is emptied whenever it is full."""
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
        """Returns the page faults of a client that registers memory."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
        ended = Ended(client("--op", "register", "-s", SIZE, "--pages", pages, "-n", CALLED,
                             "--warmup", 0, "--quiet", port=self.server.port), RUN_PATIENCE)
        self.assertEqual(ended.status, 0, ended.err)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt - before

    def test_untouched_pages_are_fetched(self):
        with open("/sys/kernel/mm/transparent_hugepage/enabled", encoding="ascii") as file:
            is_huge = "[always]" in file.read()
        more = self.faults("untouched") - self.faults("touched")
        # With transparent huge pages, one fault maps a whole huge page.
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
        """However short the time, at least one call is made."""
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

    def test_killed_server(self):
        for op in ("register", "post-send"):
            with Server() as server:
                program = self.begin(server, op)
                server.kill()
                self.assertEqual(program.wait(), 1)
                self.assertIn(f"{op}/lat/64/poll", program.errors + "\n".join(program.out))


class Connecting(Calls):
    """The steps of a connection by rdma_cm, each of which is a case."""

    def check_serves(self, before):
        """Checks that the next client is served and that no resources are left."""
        self.cases("--op", "connect", "--step", "whole", "-n", 5)
        wait_until(lambda: resources() == before, what="the resources to be released")

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

    def test_timed_steps(self):
        """The server thinks before it accepts, so only steps that include that are slow."""
        cases = self.cases("--op", "connect", "--think", f"{THOUGHT_MS}ms", "-n", 3, "--warmup", 0,
                           count=len(STEPS))
        long = {case["step"] for case in cases if case["latency_ns"]["min"] >= THOUGHT_MS * 1e6}
        self.assertEqual(long, {"whole", "connect"})

    def test_queue_pairs(self):
        """Queue pairs have the same options as in create-qp."""
        self.cases("--op", "connect", "--step", "create-qp", "-t", "1,1000", "-r", "1,1000",
                   "--use-srq", "--sge", "1,4", "-n", 5, count=8)

    def test_threads(self):
        case, = self.cases("--op", "connect", "--step", "whole", "--threads", 2, "-n", 20)
        self.assertEqual(case["latency_ns"]["count"], 40)

    def test_trials(self):
        """However short the time, each trial makes at least one connection."""
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

    def test_killed_client(self):
        before = resources()
        n_lines = len(self.server.err)
        self.begin(self.server, "connect").kill()
        self.check_serves(before)
        for line in self.server.err[n_lines:]:
            self.assertIn("or its process ended", line)

    def test_killed_server(self):
        with Server() as server:
            program = self.begin(server, "connect")
            server.kill()
            self.assertEqual(program.wait(), 1)
            self.assertIn("connect/lat/1/poll/whole", program.errors + "\n".join(program.out))

    def test_stopped_server(self):
        before = resources()
        with Server() as server:
            program = self.begin(server, "connect")
            server.signal(signal.SIGTERM)
            self.assertEqual(server.wait(), 0)
            self.assertEqual(program.wait(), 1)
        self.check_serves(before)

    def test_stranger(self):
        """Another client that finds the port of the connections is rejected, even a valid one."""
        passed = {}

        class Listener(Relay):
            @staticmethod
            def pass_on(message, sink, lock):
                passed[message["type"]] = message
                Relay.pass_on(message, sink, lock)

        # The server sends "ready" once the client's own connection is established.
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
            # The client has not noticed anything.
            self.assertIsNone(program.process.poll(), program.errors)
            program.signal(signal.SIGINT)
            self.assertEqual(program.wait(), 1)
            self.assertEqual(program.errors, "verbmark: interrupted")

    def test_limit_of_queue_pairs(self):
        """The case needs a queue pair of its own besides the one that it creates."""
        for most, status in ((1, 1), (2, 0)):
            with Server("--max-qps", most) as server:
                ended = Ended(client("--op", "connect", "--step", "whole", "-n", 5,
                                     port=server.port), RUN_PATIENCE)
                self.assertEqual(ended.status, status, ended.err)
                found = "2 queue pairs exceed this server's limit of 1" in ended.out + ended.err
                self.assertEqual(found, most < 2)
