# SPDX-License-Identifier: MIT
"""Calls that set something up: what they are made with, and that nothing is left of them."""

import resource
import signal
import time

from verbmark import (
    LIMIT, RUN_PATIENCE, Ended, Served, Server, client, measure,
)

CALLS = "register,deregister,create-qp,create-cq"
SIZE = 16 << 20
CALLED = 20


class SetUp(Served):
    def cases(self, *options, count=1):
        cases = measure(self.server, *options).document["cases"]
        self.assertEqual(len(cases), count)
        for case in cases:
            self.assertEqual(case["status"], "complete", case)
            self.assertEqual(case["latency_ns"]["kind"], "call")
        return cases

    def test_all_of_them(self):
        for case in self.cases("--op", CALLS, "-n", 50, count=4):
            self.assertEqual(case["latency_ns"]["count"], 50)
            # Nobody but this end does anything, and nothing is sent.
            for end in ("client", "server"):
                self.assertEqual(case["cpu"][end]["completions"], 0)
            self.assertEqual(case["cpu"]["server"]["cq_events"], 0)

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
        for case in self.cases("--op", CALLS, "--threads", 2, "-n", 50, count=4):
            self.assertEqual(case["latency_ns"]["count"], 100)

    def test_by_time(self):
        """However little of it there is, one call is made."""
        options = ("--op", "register,deregister", "-s", "64,64m", "--warmup", 0, "--trials", 1)
        for case in self.cases(*options, "-D", "1ms", count=4):
            self.assertGreater(case["latency_ns"]["count"], 0)

    def begin(self, server, op):
        """In the middle of a minute of it: it has warmed up for 20 ms at the least."""
        program = client("--op", op, "-D", "60s", "--warmup", "20ms", port=server.port)
        self.addCleanup(program.kill)
        time.sleep(1)
        return program

    def test_interrupted(self):
        for op in CALLS.split(","):
            program = self.begin(self.server, op)
            program.signal(signal.SIGINT)
            self.assertEqual(program.wait(LIMIT), 1)
            self.assertEqual(program.errors, "verbmark: interrupted")
        self.cases("--op", CALLS, "-n", 20, count=4)

    def test_the_server_goes(self):
        with Server() as server:
            program = self.begin(server, "register")
            server.kill()
            self.assertEqual(program.wait(LIMIT), 1)
            self.assertIn("register/lat/64/poll", program.errors + "\n".join(program.out))
