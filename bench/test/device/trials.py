# SPDX-License-Identifier: MIT
"""Messages between client and server from one trial to the next and between cases."""

import threading
import unittest

import documents
from verbmark import (
    PATIENCE, RUN_PATIENCE, Ended, Relay, Server, client, frame, measure, resources,
    wait_until,
)


class Recorder(Relay):
    """Records all messages that pass, after changing them with a function of the test."""

    def __init__(self, server, alter=lambda message: None, held=None):
        self.alter = alter
        self.messages = []
        super().__init__(server, held)

    def pass_on(self, message, sink, lock):
        if message["type"] != "alive":
            self.alter(message)
            self.messages.append(message)
        Relay.pass_on(message, sink, lock)

    def of(self, *kinds):
        return [message["type"] for message in self.messages if message["type"] in kinds]

    def nexts(self, kind):
        return [message.get("next", False) for message in self.messages if message["type"] == kind]


class CallingOff(Recorder):
    """Calls the next trial off as soon as the server has announced it."""

    def __init__(self, server):
        self.is_called_off = threading.Event()
        self.last = None
        super().__init__(server)

    def pass_on(self, message, sink, lock):
        if message["type"] == "done" and message.get("next") and not self.is_called_off.is_set():
            self.is_called_off.set()
            self.last = message
            # There are only two sockets.
            server_side = next(sock for sock in self.sockets if sock is not sink)
            server_side.sendall(frame({"type": "stop", "next": True}))
            return
        if message["type"] == "done" and self.is_called_off.is_set() and self.last:
            message, self.last = self.last | {"next": message.get("next", False)}, None
        super().pass_on(message, sink, lock)


class Trials(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.kill)

    def run_through(self, recorder, *options, status=0):
        ended = Ended(
            client("-n", 50, "--json", "-", *options, port=recorder.port), RUN_PATIENCE
        )
        self.assertEqual(ended.status, status, ended.err)
        return documents.parse(ended.out)["cases"]

    def check_complete(self, cases, trials):
        self.assertEqual([case["status"] for case in cases], ["complete"] * len(cases))
        self.assertEqual([len(case["trials"]) for case in cases], [trials] * len(cases))

    def test_case_is_sent_once(self):
        for metric in "lat", "bw":
            with self.subTest(metric), Recorder(self.server) as recorder:
                cases = self.run_through(
                    recorder, "--trials", 4, "--metric", metric, "-s", "64,128", "--cq", "event"
                )
                self.check_complete(cases, 4)
                self.assertEqual(len(cases), 2)
                wait_until(lambda: recorder.of("bye"), what="the last message")
                self.assertEqual(
                    recorder.of("hello", "describe", "case", "stop", "note", "bye"),
                    ["hello", "describe"] + 2 * ["case", *4 * ["stop"], "note"] + ["note", "bye"],
                )
                self.assertEqual(recorder.of("listening"), 2 * ["listening"])
                self.assertEqual(recorder.of("ready"), 8 * ["ready"])
                self.assertEqual(recorder.nexts("stop"), 2 * [True, True, True, False])
                self.assertEqual(recorder.nexts("done"), 2 * [True, True, True, False])

    def test_several_queue_pairs(self):
        with Recorder(self.server) as recorder:
            cases = self.run_through(recorder, "--trials", 3, "--metric", "bw", "-q", 3)
            self.check_complete(cases, 3)
            self.assertEqual(recorder.of("case"), ["case"])

    def test_shared_receives(self):
        with Recorder(self.server) as recorder:
            cases = self.run_through(
                recorder, "--trials", 3, "--metric", "bw", "-q", 2, "--use-srq"
            )
            self.check_complete(cases, 3)
            self.assertEqual(recorder.of("case"), ["case"])

    def test_queue_pairs_without_rdma_cm(self):
        with Recorder(self.server) as recorder:
            cases = self.run_through(recorder, "--trials", 3, "--connect", "qp")
            self.check_complete(cases, 3)
            self.assertEqual(recorder.of("case"), 3 * ["case"])
            self.assertEqual(recorder.nexts("done"), 3 * [False])

    def test_client_that_announces_no_next_trial(self):
        with Recorder(self.server, lambda message: message.pop("next", None)) as recorder:
            cases = self.run_through(recorder, "--trials", 3, "-s", "64,128")
            self.check_complete(cases, 3)
            self.assertEqual(recorder.of("case"), 6 * ["case"])

    def test_noise_is_requested_once(self):
        with Recorder(self.server) as recorder:
            self.run_through(recorder, "-s", "64,128,256")
            wait_until(lambda: recorder.of("bye"), what="the last message")
            messages = recorder.messages
            wanted = [message["noise"] for message in messages if message["type"] == "note"]
            sent = ["noise" in message for message in messages if message["type"] == "noted"]
            self.assertEqual(wanted, [False, False, False, True])
            self.assertEqual(sent, wanted)

    def test_trial_that_is_called_off(self):
        with CallingOff(self.server) as recorder:
            cases = self.run_through(recorder, "--trials", 3)
            self.check_complete(cases, 3)
            self.assertTrue(recorder.is_called_off.is_set())
            # The server sees the following trial as a new case, which also covers the last trial.
            self.assertEqual(recorder.of("case"), 2 * ["case"])

    def test_case_that_is_called_off(self):
        """The client finds that it cannot pin its own thread."""
        with Recorder(self.server) as recorder:
            cases = self.run_through(
                recorder, "--trials", 2, "--pin", "off,8000", "-s", "64,128", status=1
            )
            found = {case["id"]: case for case in cases}
            self.assertEqual(len(found), 4)
            for case in cases:
                is_lost = "8000" in case["id"]
                self.assertEqual(case["status"], "failed" if is_lost else "complete", case["id"])
                if is_lost:
                    self.assertIn("CPU 8000 is not available", case["error"])
            # Each case but the first is announced in advance, and ended if it is not run.
            self.assertEqual(len(recorder.of("case")), 3 if "8000" in cases[0]["id"] else 4)
        measure(self.server, "-n", 50)

    def test_skipped_case_in_between(self):
        with Recorder(self.server) as recorder:
            cases = self.run_through(recorder, "--metric", "lat,bw", "-q", "1,2", "--trials", 2)
            self.assertEqual(
                sorted(case["status"] for case in cases), 3 * ["complete"] + ["skipped"]
            )
            self.assertEqual(recorder.of("case"), 3 * ["case"])

    def test_client_is_killed_between_trials(self):
        before = resources()
        for _ in range(3):
            with Relay(self.server, "done") as relay:
                with client("-n", 50, "--trials", 3, port=relay.port) as program:
                    relay.wait()
                    program.kill()
                wait_until(lambda: resources() == before, what=f"cleanup: {before}")
        measure(self.server, "-n", 50)

    def test_server_is_killed_between_trials(self):
        with Relay(self.server, "done") as relay:
            with client("-n", 50, "--trials", 3, port=relay.port) as program:
                relay.wait()
                self.server.kill()
                self.assertEqual(program.wait(PATIENCE), 1)
                self.assertRegex(program.errors, "or its process ended")
                self.assertEqual(len(program.err), 1, program.err)

