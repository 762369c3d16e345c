# SPDX-License-Identifier: MIT
"""Several threads at client and server: one result, and each thread's share of it."""

import contextlib
import os
import signal
import time
import unittest

from verbmark import IS_SOFT, Ended, Served, Server, client, measure, wait_until

CPUS = sorted(os.sched_getaffinity(0))


def jain(rates):
    """Implements the definition in R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984."""
    return sum(rates) ** 2 / (len(rates) * sum(rate * rate for rate in rates))


def pairs(thread):
    return thread["queue_pairs"]


class Threads(Served):
    def check_shares(self, case, messages):
        """Checks that shares add up and that the fairness index matches its definition."""
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
                # Each thread sent its messages, and the interval lasts until the last one was done.
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

    def test_transports_and_modes(self):
        """Datagrams, both kinds of connections, all completion modes."""
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

    def test_costs_of_the_server(self):
        """The server has as many threads, each for one of the client's."""
        case = measure(
            self.server, "--metric", "bw", "--op", "send", "--threads", 3, "-n", 200,
        ).document["cases"][0]
        wanted = case["trials"][0]["warmup"]["messages"] + 600
        # Receives still in the completion queue when the server stops are not counted.
        self.assertLessEqual(case["cpu"]["server"]["messages"], wanted)
        self.assertGreater(case["cpu"]["server"]["messages"], wanted - 3 * 512 - 1)

    def test_invalid_options(self):
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

    @unittest.skipUnless(len(CPUS) > 1, "there is only one CPU")
    def test_one_cpu_per_thread(self):
        document, place = self.place("--threads", 2)
        for end in ("client", "server"):
            cpus = place[end]["cpus"].replace("-", ",").split(",")
            self.assertEqual(len(cpus), 2)
            self.assertLessEqual(set(map(int, cpus)), set(CPUS))
        self.assertNotIn("threads", [row["code"] for row in document.get("warnings", [])])

    def test_more_threads_than_cpus(self):
        document, place = self.place("--threads", len(CPUS) + 1)
        found = [row for row in document["warnings"] if row["code"] == "threads"]
        self.assertEqual(len(found), 2)
        for row, end in zip(found, ("client", "server")):
            self.assertTrue(row["spoils"])
            self.assertIn(f"{len(CPUS) + 1} threads of the {end} on {len(CPUS)} CPU", row["what"])
        self.assertTrue(place["client"]["cpus"])

    @unittest.skipUnless(CPUS[:2] == [0, 1], "CPUs 0 and 1 are not available")
    def test_pinned(self):
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
            pass  # the thread has ended
    return found


@unittest.skipIf(IS_SOFT, "on soft0, loops open descriptors that are not only theirs")
class Apart(Served):
    # The descriptors of the lane and the standard ones.
    OWN = 4 + 3

    def has_separate_loop(self, program):
        """Tells if a thread has its own descriptors, and the process has opened a device."""
        found = descriptors_of_threads(program.pid)
        return self.OWN in found and max(found) > self.OWN

    @contextlib.contextmanager
    def running(self, *options):
        """Runs a client, and waits for its loop: then the server has the case too."""
        program = client("-D", "60s", *options, port=self.server.port)
        try:
            wait_until(lambda: self.has_separate_loop(program), what="the client's loop")
            yield
        finally:
            program.kill()
            wait_until(lambda: self.server.threads() <= 2, what="the end of the case")

    def test_single_loops_have_their_own_descriptors(self):
        for options in (
            ("--metric", "lat"), ("--metric", "bw"), ("--metric", "bw", "-b", "-q", 3),
            ("--metric", "lat", "--cq", "event"), ("--op", "read-notify", "--metric", "lat"),
        ):  # fmt: skip
            with self.subTest(options), self.running(*options):
                wait_until(lambda: self.has_separate_loop(self.server), what="the server's loop")

    def test_other_loops_share_descriptors(self):
        for options in (
            ("--op", "write", "--metric", "bw"), ("--metric", "bw", "--threads", 2),
        ):  # fmt: skip
            with self.subTest(options), self.running(*options):
                for _ in range(50):
                    self.assertFalse(self.has_separate_loop(self.server))
                    time.sleep(0.01)


class Endings(unittest.TestCase):
    def run_with(self, server):
        program = client("--threads", 2, "-D", "60s", "--metric", "bw", port=server.port)
        self.addCleanup(program.kill)
        # Two lanes, the watcher and the main thread.
        wait_until(lambda: server.threads() >= 4, what="the server's threads")
        return program

    def test_killed_server(self):
        with Server() as server:
            program = self.run_with(server)
            server.signal(signal.SIGKILL)
            ended = Ended(program)
        self.assertEqual(ended.status, 1)
        self.assertIn("closed the control connection", ended.err)

    def test_killed_client(self):
        """The server ends the client's threads and serves the next client."""
        with Server() as server:
            before = server.descriptors()
            program = self.run_with(server)
            program.kill()
            wait_until(lambda: server.threads() <= 2, what="the threads to end")
            measure(server, "--threads", 2, "-n", 40)
            wait_until(lambda: server.descriptors() == before, what="the descriptors to be closed")

    def test_interrupted(self):
        with Server() as server:
            program = self.run_with(server)
            program.signal(signal.SIGINT)
            ended = Ended(program)
            self.assertEqual((ended.status, ended.err), (1, "verbmark: interrupted"))
            measure(server, "--threads", 2, "-n", 40)
