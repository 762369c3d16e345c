# SPDX-License-Identifier: MIT
"""
Two machines and a wire that drops, delays, reorders or duplicates packets, or is cut: reliable
transports stay correct, retransmissions are counted, and no program waits forever.
"""

import os
import time

import verbmark
from verbmark import ADDRESS, ServedRemotely, client, counter, run, wait_until

PEER = os.environ["SOFTROCE_PEER_ADDRESS"]
NETDEV = os.environ["SOFTROCE_NETDEV"]
MESSAGES = 400
# Prefixes of commands that run on this machine and on the second one.
FIRST = ()
SECOND = ("on-second",)
# Counters of rxe that only a faulty wire moves.
AGAIN = ("completer_retry_err", "duplicate_request", "out_of_seq_request", "rcvd_seq_err")


def measure(*options):
    """Runs cases that must be complete; returns the document."""
    document = verbmark.measure(None, *options, host=PEER).document
    for case in document["cases"]:
        assert case["status"] == "complete", case
    return document


class Wire(ServedRemotely):
    def impair(self, how, **options):
        verbmark.impair(self, NETDEV, how, **options)

    def count_faults(self, document):
        """Sums the counters of wire faults over all cases, client and server."""
        return sum(
            case["counters"][end].get(name, 0)
            for case in document["cases"]
            for end in ("client", "server")
            for name in AGAIN
        )

    def check_correct(self, *options):
        """Checks that messages arrive once, in order and unchanged; also counts wire faults."""
        document = measure("--op", "send,read", "--verify", "-n", MESSAGES, *options)
        for case in document["cases"]:
            self.assertEqual(case["latency_ns"]["count"], MESSAGES)
        counted = measure(
            "--op", "send,write,write-imm,fetch-add", "-s", 8, "--metric", "bw", "-n", MESSAGES,
            *options,
        )
        for case in counted["cases"]:
            self.assertEqual(case["bandwidth"]["messages"], MESSAGES)
        return document["cases"], self.count_faults(document) + self.count_faults(counted)


class Impaired(Wire):
    def test_loss(self):
        self.impair("loss 1%")
        self.assertGreater(self.check_correct()[1], 0)

    def test_loss_of_replies(self):
        self.impair("loss 1%", machine=SECOND)
        self.assertGreater(self.check_correct()[1], 0)

    def test_reordering(self):
        self.impair("delay 2ms reorder 50%")
        self.assertGreater(self.check_correct()[1], 0)

    def test_duplicates(self):
        self.impair("duplicate 20%")
        self.assertGreater(self.check_correct()[1], 0)

    def test_delay(self):
        """The delay is part of each round trip; half of it, of each half round trip."""
        self.impair("delay 5ms")
        cases, _ = self.check_correct()
        waits = {"send": 2.5e6, "read": 5e6}
        self.assertEqual([case["op"] for case in cases], list(waits))
        for case in cases:
            self.assertGreaterEqual(case["latency_ns"]["min"], waits[case["op"]] * 0.999)


class Cut(Wire):
    """
    Nothing leaves this machine anymore: no message, acknowledgment or heartbeat. In some tests
    nothing leaves the second machine either, as if both had lost power.
    """

    CUT = ("tc", "qdisc", "add", "dev", NETDEV, "root", "netem", "loss", "100%")
    REPAIR = ("tc", "qdisc", "del", "dev", NETDEV, "root")

    def begin(self, *options):
        """Starts a client and waits until it is in the middle of its first case."""
        program = client("--op", "send", "--json", self.path, *options, host=PEER)
        self.addCleanup(program.kill)
        before = counter("sent_pkts")

        def is_running():
            if program.process.poll() is not None:
                raise AssertionError(f"the client has ended: {program.out} {program.err}")
            return counter("sent_pkts") > before + 300

        wait_until(is_running, what="the loop")
        return program

    def setUp(self):
        self.path = f"/tmp/cut.{os.getpid()}.json"
        self.addCleanup(lambda: os.path.exists(self.path) and os.unlink(self.path))

    def cases(self):
        with open(self.path, encoding="utf-8") as file:
            return verbmark.documents.parse(file.read())["cases"]

    def check_others_are_served(self):
        measure("-n", 50)

    def test_one_second(self):
        """A client with enough retries continues, and the retries are counted."""
        program = self.begin("-u", 17, "--retries", 7, "-D", "10s", "--trials", 1)
        run(*self.CUT)
        time.sleep(1)
        run(*self.REPAIR)
        self.assertEqual(program.wait(), 0, program.err)
        (case,) = self.cases()
        self.assertEqual(case["status"], "complete")
        # The latency is half a round trip.
        self.assertGreater(case["latency_ns"]["max"], 0.5e9)
        self.assertGreater(case["counters"]["client"]["completer_retry_err"], 0)
        self.check_others_are_served()

    def repair(self, machines):
        for machine in machines:
            if "netem" in run(*machine, "tc", "qdisc", "show", "dev", NETDEV):
                run(*machine, *self.REPAIR)

    def check_cut(self, sentence, *options, machines=(FIRST,)):
        n_lines = len(self.server.err)
        program = self.begin("-s", "64,128", "-D", "60s", "--trials", 1, *options)
        for machine in machines:
            run(*machine, *self.CUT)
        try:
            self.assertEqual(program.wait(), 1)
        finally:
            self.repair(machines)
        first = self.cases()[0]
        self.assertEqual(first["status"], "failed")
        self.assertRegex(first["error"], sentence)
        # The server has noticed too, and reports only this client.
        wait_until(lambda: len(self.server.err) > n_lines, what="the server's report")
        self.assertRegex(self.server.err[-1], f"^verbmark: client {ADDRESS}: ")
        self.check_others_are_served()

    def test_permanent_cut(self):
        self.check_cut("transport retry counter exceeded|has been silent for 4 s")

    def test_machine_without_power(self):
        self.check_cut(
            "transport retry counter exceeded|has been silent for 4 s", machines=(FIRST, SECOND)
        )

    def test_permanent_cut_with_many_retries(self):
        """The queue pair would retry for longer, but heartbeats time out."""
        # The one that notices first tells the peer if its messages still arrive.
        reason = "has been silent for 4 s|closed the control connection"
        self.check_cut(reason, "-u", 20, "--retries", 7)
