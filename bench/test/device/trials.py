# SPDX-License-Identifier: MIT
"""What client and server say to each other from one trial to the next, and between cases."""

import threading
import unittest

import documents
from verbmark import (
    PATIENCE, RUN_PATIENCE, Ended, Relay, Server, client, frame, measure, resources,
    wait_until,
)


class Scribe(Relay):
    """Writes down all that passes, and changes what a function of the tests says."""

    def __init__(self, server, alter=lambda message: None, held=None):
        self.alter = alter
        self.said = []
        super().__init__(server, held)

    def pass_on(self, message, sink, lock):
        if message["type"] != "alive":
            self.alter(message)
            self.said.append(message)
        Relay.pass_on(message, sink, lock)

    def of(self, *kinds):
        return [message["type"] for message in self.said if message["type"] in kinds]

    def nexts(self, kind):
        return [message.get("next", False) for message in self.said if message["type"] == kind]


class CallingOff(Scribe):
    """Has another trial called off as soon as the server says that it listens for it."""

    def __init__(self, server):
        self.is_off = threading.Event()
        self.last = None
        super().__init__(server)

    def pass_on(self, message, sink, lock):
        if message["type"] == "done" and message.get("next") and not self.is_off.is_set():
            self.is_off.set()
            self.last = message
            # The only other end of the two.
            far = next(sock for sock in self.sockets if sock is not sink)
            far.sendall(frame({"type": "stop", "next": True}))
            return
        if message["type"] == "done" and self.is_off.is_set() and self.last:
            message, self.last = self.last | {"next": message.get("next", False)}, None
        super().pass_on(message, sink, lock)


class Trials(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.kill)

    def run_through(self, scribe, *options, status=0):
        ended = Ended(
            client("-n", 50, "--json", "-", *options, port=scribe.port), RUN_PATIENCE
        )
        self.assertEqual(ended.status, status, ended.err)
        return documents.parse(ended.out)["cases"]

    def check_complete(self, cases, trials):
        self.assertEqual([case["status"] for case in cases], ["complete"] * len(cases))
        self.assertEqual([len(case["trials"]) for case in cases], [trials] * len(cases))

    def test_a_case_is_said_once(self):
        for metric in "lat", "bw":
            with self.subTest(metric), Scribe(self.server) as scribe:
                cases = self.run_through(
                    scribe, "--trials", 4, "--metric", metric, "-s", "64,128", "--cq", "event"
                )
                self.check_complete(cases, 4)
                self.assertEqual(len(cases), 2)
                wait_until(lambda: scribe.of("bye"), what="the end")
                self.assertEqual(
                    scribe.of("hello", "describe", "case", "stop", "note", "bye"),
                    ["hello", "describe"] + 2 * ["case", *4 * ["stop"], "note"] + ["note", "bye"],
                )
                self.assertEqual(scribe.of("listening"), 2 * ["listening"])
                self.assertEqual(scribe.of("ready"), 8 * ["ready"])
                self.assertEqual(scribe.nexts("stop"), 2 * [True, True, True, False])
                self.assertEqual(scribe.nexts("done"), 2 * [True, True, True, False])

    def test_several_queue_pairs(self):
        with Scribe(self.server) as scribe:
            cases = self.run_through(scribe, "--trials", 3, "--metric", "bw", "-q", 3)
            self.check_complete(cases, 3)
            self.assertEqual(scribe.of("case"), ["case"])

    def test_shared_receives(self):
        with Scribe(self.server) as scribe:
            cases = self.run_through(
                scribe, "--trials", 3, "--metric", "bw", "-q", 2, "--use-srq"
            )
            self.check_complete(cases, 3)
            self.assertEqual(scribe.of("case"), ["case"])

    def test_queue_pairs_by_hand(self):
        with Scribe(self.server) as scribe:
            cases = self.run_through(scribe, "--trials", 3, "--connect", "qp")
            self.check_complete(cases, 3)
            self.assertEqual(scribe.of("case"), 3 * ["case"])
            self.assertEqual(scribe.nexts("done"), 3 * [False])

    def test_one_who_does_not_say_what_is_next(self):
        with Scribe(self.server, lambda message: message.pop("next", None)) as scribe:
            cases = self.run_through(scribe, "--trials", 3, "-s", "64,128")
            self.check_complete(cases, 3)
            self.assertEqual(scribe.of("case"), 6 * ["case"])

    def test_the_noise_at_the_server_is_asked_once(self):
        with Scribe(self.server) as scribe:
            self.run_through(scribe, "-s", "64,128,256")
            wait_until(lambda: scribe.of("bye"), what="the end")
            wanted = [message["noise"] for message in scribe.said if message["type"] == "note"]
            told = ["noise" in message for message in scribe.said if message["type"] == "noted"]
            self.assertEqual(wanted, [False, False, False, True])
            self.assertEqual(told, wanted)

    def test_a_trial_that_is_called_off(self):
        with CallingOff(self.server) as scribe:
            cases = self.run_through(scribe, "--trials", 3)
            self.check_complete(cases, 3)
            self.assertTrue(scribe.is_off.is_set())
            # The trial behind it is another case for the server, and the last one is not.
            self.assertEqual(scribe.of("case"), 2 * ["case"])

    def test_a_case_that_is_called_off(self):
        """The client finds that its own thread cannot go where it is to go."""
        with Scribe(self.server) as scribe:
            cases = self.run_through(
                scribe, "--trials", 2, "--pin", "off,8000", "-s", "64,128", status=1
            )
            found = {case["id"]: case for case in cases}
            self.assertEqual(len(found), 4)
            for case in cases:
                is_lost = "8000" in case["id"]
                self.assertEqual(case["status"], "failed" if is_lost else "complete", case["id"])
                if is_lost:
                    self.assertIn("CPU 8000 is not available", case["error"])
            # Each but the first is announced, and what comes to nothing is ended.
            self.assertEqual(len(scribe.of("case")), 3 if "8000" in cases[0]["id"] else 4)
        measure(self.server, "-n", 50)

    def test_a_case_between_that_cannot_be(self):
        with Scribe(self.server) as scribe:
            cases = self.run_through(scribe, "--metric", "lat,bw", "-q", "1,2", "--trials", 2)
            self.assertEqual(
                sorted(case["status"] for case in cases), 3 * ["complete"] + ["skipped"]
            )
            self.assertEqual(scribe.of("case"), 3 * ["case"])

    def test_a_client_that_goes_between_trials(self):
        before = resources()
        for _ in range(3):
            with Relay(self.server, "done") as relay:
                with client("-n", 50, "--trials", 3, port=relay.port) as program:
                    relay.wait()
                    program.kill()
                wait_until(lambda: resources() == before, what=f"as before: {before}")
        measure(self.server, "-n", 50)

    def test_a_server_that_goes_between_trials(self):
        with Relay(self.server, "done") as relay:
            with client("-n", 50, "--trials", 3, port=relay.port) as program:
                relay.wait()
                self.server.kill()
                self.assertEqual(program.wait(PATIENCE), 1)
                self.assertRegex(program.errors, "or its process ended")
                self.assertEqual(len(program.err), 1, program.err)

