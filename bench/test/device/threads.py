# SPDX-License-Identifier: MIT
"""Several threads at either end: one result, and what each of them had of it."""

import contextlib
import os
import signal
import time
import unittest

from verbmark import IS_SOFT, Ended, Served, Server, client, measure, wait_until

CPUS = sorted(os.sched_getaffinity(0))


def jain(rates):
    """Of the definition: R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984."""
    return sum(rates) ** 2 / (len(rates) * sum(rate * rate for rate in rates))


def pairs(thread):
    return thread["queue_pairs"]


class Threads(Served):
    def check_shares(self, case, messages):
        """They add up, and their index is what it is defined to be."""
        shares = case["shares"]
        threads = shares["threads"]
        of_pairs = [pair for thread in threads for pair in pairs(thread)]
        self.assertEqual(len(threads), case["threads"])
        self.assertEqual({len(pairs(thread)) for thread in threads}, {case["qps"]})
        self.assertEqual(sum(thread["messages"] for thread in threads), messages)
        for thread in threads:
            self.assertEqual(sum(pair["messages"] for pair in pairs(thread)), thread["messages"])
            self.assertAlmostEqual(
                thread["messages_per_s"] * thread["duration_ns"] / 1e9 / thread["messages"], 1
            )
            self.assertAlmostEqual(thread["bytes_per_s"], thread["messages_per_s"] * case["size"])
        for key, rows in (("threads", threads), ("queue_pairs", of_pairs)):
            self.assertAlmostEqual(
                shares["fairness"][key], jain([row["messages_per_s"] for row in rows])
            )

    def test_counts(self):
        document = measure(
            self.server, "--op", "send,read", "--metric", "lat,bw", "--threads", "1,2,3",
            "-n", 60, "--trials", 2,
        ).document
        self.assertEqual(len(document["cases"]), 12)
        for case in document["cases"]:
            threads = case["threads"]
            with self.subTest(case["id"]):
                wanted = 60 * threads * 2
                self.assertEqual(case["id"].endswith(f"/threads{threads}"), threads > 1)
                self.assertEqual([trial["messages"] for trial in case["trials"]],
                                 [60 * threads] * 2)
                if case["metric"] == "lat":
                    self.assertEqual(case["latency_ns"]["count"], wanted)
                    bins = case["latency_ns"]["histogram"]["bins"]
                    self.assertEqual(sum(row[2] for row in bins), wanted)
                else:
                    self.assertEqual(case["bandwidth"]["messages"], wanted)
                if threads == 1:
                    self.assertNotIn("shares", case)
                    continue
                self.check_shares(case, wanted)
                # Each has done its own, and the time goes to the end of the last.
                self.assertEqual([row["messages"] for row in case["shares"]["threads"]],
                                 [120] * threads)
                longest = max(row["duration_ns"] for row in case["shares"]["threads"])
                self.assertGreaterEqual(
                    sum(trial["duration_ns"] for trial in case["trials"]), longest
                )

    def test_queue_pairs(self):
        document = measure(
            self.server, "--metric", "bw", "-q", "1,3", "--threads", "1,2", "-D", "60ms",
        ).document
        self.assertEqual(len(document["cases"]), 4)
        for case in document["cases"]:
            with self.subTest(case["id"]):
                several = case["qps"] * case["threads"] > 1
                self.assertEqual("shares" in case, several)
                if several:
                    self.check_shares(case, case["bandwidth"]["messages"])

    def test_each_way(self):
        """Both transports of datagrams, both connections, each way of waiting."""
        for options in (
            ("-c", "UC,UD", "--metric", "lat"),
            ("--connect", "qp", "--cq", "event,adaptive", "--metric", "lat,bw"),
            ("-b", "--metric", "bw", "-q", 2),
            ("--op", "write,fetch-add,read-notify", "--metric", "lat"),
            ("--use-srq", "--metric", "bw", "-q", 2),
            ("--verify", "--metric", "lat,bw", "--op", "send,read"),
        ):
            with self.subTest(options):
                document = measure(self.server, "--threads", 2, "-n", 40, *options).document
                for case in document["cases"]:
                    self.assertEqual(case["status"], "complete", case.get("error"))
                    self.check_shares(case, 80)

    def test_both_costs(self):
        """A server of as many threads: each takes its own."""
        case = measure(
            self.server, "--metric", "bw", "--op", "send", "--threads", 3, "-n", 200,
        ).document["cases"][0]
        wanted = case["trials"][0]["warmup"]["messages"] + 600
        # What was in its receive queues it may have left uncounted when it was told to stop.
        self.assertLessEqual(case["cpu"]["server"]["messages"], wanted)
        self.assertGreater(case["cpu"]["server"]["messages"], wanted - 3 * 512 - 1)

    def test_what_does_not_go(self):
        for options, sentence in (
            (("--threads", 2, "--metric", "bw", "--needs"), "--needs applies only to one thread"),
            (("--threads", 8, "--metric", "bw", "-q", 4096),
             "--qps times --threads exceeds 16384 queue pairs"),
        ):
            ended = Ended(client("-n", 10, *options, port=self.server.port))
            self.assertNotEqual(ended.status, 0)
            self.assertIn(sentence, ended.err)


class Placed(Served):
    def place(self, *options):
        document = measure(self.server, "-n", 40, *options).document
        return document, document["cases"][0]["placement"]

    @unittest.skipUnless(len(CPUS) > 1, "there is one CPU only")
    def test_one_of_its_own(self):
        document, place = self.place("--threads", 2)
        for end in ("client", "server"):
            cpus = place[end]["cpus"].replace("-", ",").split(",")
            self.assertEqual(len(cpus), 2)
            self.assertLessEqual(set(map(int, cpus)), set(CPUS))
        self.assertNotIn("threads", [row["code"] for row in document.get("warnings", [])])

    def test_more_than_there_are(self):
        document, place = self.place("--threads", len(CPUS) + 1)
        found = [row for row in document["warnings"] if row["code"] == "threads"]
        self.assertEqual(len(found), 2)
        for row, end in zip(found, ("client", "server")):
            self.assertTrue(row["spoils"])
            self.assertIn(f"{len(CPUS) + 1} threads of the {end} on {len(CPUS)} CPU", row["what"])
        self.assertTrue(place["client"]["cpus"])

    @unittest.skipUnless(CPUS[:2] == [0, 1], "not CPUs 0 and 1")
    def test_asked_for(self):
        document, place = self.place("--threads", 3, "--pin", "0-1", "--server-pin", "1")
        self.assertEqual(place["client"]["cpus"], "0-1")
        self.assertEqual(place["server"]["cpus"], "1")
        case = document["cases"][0]
        self.assertEqual((case["pin"], case["server_pin"]), ("0-1", 1))
        self.assertEqual(case["id"], "send/lat/64/poll/threads3/pin0-1/server-pin1")


def descriptors_of_threads(pid):
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            found.append(len(os.listdir(f"/proc/{pid}/task/{task}/fd")))
        except FileNotFoundError:
            pass  # it has ended meanwhile
    return found


@unittest.skipIf(IS_SOFT, "on soft0 loops open what is not theirs alone")
class Apart(Served):
    # The lane's and the standard ones.
    OWN = 4 + 3

    def has_loop_apart(self, program):
        """Before it has a device a process may have as few."""
        found = descriptors_of_threads(program.pid)
        return self.OWN in found and max(found) > self.OWN

    @contextlib.contextmanager
    def running(self, *options):
        """The server has the case once the client has its loop."""
        program = client("-D", "60s", *options, port=self.server.port)
        try:
            wait_until(lambda: self.has_loop_apart(program), what="the client's loop")
            yield
        finally:
            program.kill()
            wait_until(lambda: self.server.threads() <= 2, what="the end of the case")

    def test_loops_have_descriptors_of_their_own(self):
        for options in (
            ("--metric", "lat"), ("--metric", "bw"), ("--metric", "bw", "-b", "-q", 3),
            ("--metric", "lat", "--cq", "event"), ("--op", "read-notify", "--metric", "lat"),
        ):  # fmt: skip
            with self.subTest(options), self.running(*options):
                wait_until(lambda: self.has_loop_apart(self.server), what="the server's loop")

    def test_others_share_those_of_the_process(self):
        for options in (
            ("--op", "write", "--metric", "bw"), ("--metric", "bw", "--threads", 2),
        ):  # fmt: skip
            with self.subTest(options), self.running(*options):
                for _ in range(50):
                    self.assertFalse(self.has_loop_apart(self.server))
                    time.sleep(0.01)


class Endings(unittest.TestCase):
    def run_with(self, server):
        program = client("--threads", 2, "-D", "60s", "--metric", "bw", port=server.port)
        self.addCleanup(program.kill)
        # Its lanes, the watcher, and what is there anyway.
        wait_until(lambda: server.threads() >= 4, what="the threads over there")
        return program

    def test_a_server_that_dies(self):
        with Server() as server:
            program = self.run_with(server)
            server.signal(signal.SIGKILL)
            ended = Ended(program)
        self.assertEqual(ended.status, 1)
        self.assertIn("closed the control connection", ended.err)

    def test_a_client_that_dies(self):
        """Its threads over there go, and the next one is served."""
        with Server() as server:
            before = server.descriptors()
            program = self.run_with(server)
            program.kill()
            wait_until(lambda: server.threads() <= 2, what="the end of the threads")
            measure(server, "--threads", 2, "-n", 40)
            wait_until(lambda: server.descriptors() == before, what="the release")

    def test_a_user_who_has_enough(self):
        with Server() as server:
            program = self.run_with(server)
            program.signal(signal.SIGINT)
            ended = Ended(program)
            self.assertEqual((ended.status, ended.err), (1, "verbmark: interrupted"))
            measure(server, "--threads", 2, "-n", 40)
