# SPDX-License-Identifier: MIT
"""
Two machines, and a wire that loses packets, delays them, changes their order, doubles them,
or is cut: what is reliable stays right, what it took is counted, and nobody waits for ever.
"""

import os
import time

import verbmark
from verbmark import ADDRESS, ServedRemotely, client, counter, run, wait_until

PEER = os.environ["SOFTROCE_PEER_ADDRESS"]
NETDEV = os.environ["SOFTROCE_NETDEV"]
MESSAGES = 400
# What a command begins with, to run on this machine and on the other.
HERE = ()
THERE = ("on-second",)
# What rxe counts, at either end, of what the wire did.
AGAIN = ("completer_retry_err", "duplicate_request", "out_of_seq_request", "rcvd_seq_err")


def measure(*options):
    """A run whose cases are complete, with all their messages."""
    document = verbmark.measure(None, *options, host=PEER).document
    for case in document["cases"]:
        assert case["status"] == "complete", case
    return document


class Wire(ServedRemotely):
    def impair(self, how, **options):
        verbmark.impair(self, NETDEV, how, **options)

    def count_again(self, document):
        """So often, over all cases, an end counted what a good wire does not do."""
        return sum(
            case["counters"][end].get(name, 0)
            for case in document["cases"]
            for end in ("client", "server")
            for name in AGAIN
        )

    def check_right(self, *options):
        """Whatever the wire did: each message once, in order, with each of its bytes."""
        document = measure("--op", "send,read", "--verify", "-n", MESSAGES, *options)
        for case in document["cases"]:
            self.assertEqual(case["latency_ns"]["count"], MESSAGES)
        counted = measure(
            "--op", "send,write,write-imm,fetch-add", "-s", 8, "--metric", "bw", "-n", MESSAGES,
            *options,
        )
        for case in counted["cases"]:
            self.assertEqual(case["bandwidth"]["messages"], MESSAGES)
        return document["cases"], self.count_again(document) + self.count_again(counted)


class Spoilt(Wire):
    def test_loss(self):
        self.impair("loss 1%")
        self.assertGreater(self.check_right()[1], 0)

    def test_loss_of_what_comes_back(self):
        self.impair("loss 1%", machine=THERE)
        self.assertGreater(self.check_right()[1], 0)

    def test_another_order(self):
        self.impair("delay 2ms reorder 50%")
        self.assertGreater(self.check_right()[1], 0)

    def test_packets_twice(self):
        self.impair("duplicate 20%")
        self.assertGreater(self.check_right()[1], 0)

    def test_delay(self):
        """Of a round trip it is in all of it; of half of one, in half."""
        self.impair("delay 5ms")
        cases, _ = self.check_right()
        waits = {"send": 2.5e6, "read": 5e6}
        self.assertEqual([case["op"] for case in cases], list(waits))
        for case in cases:
            self.assertGreaterEqual(case["latency_ns"]["min"], waits[case["op"]] * 0.999)


class Cut(Wire):
    """
    Nothing leaves this machine any more: no message, no acknowledgement, no heartbeat. Or
    the other one's, too: to each the other is gone, as one whose power is off.
    """

    CUT = ("tc", "qdisc", "add", "dev", NETDEV, "root", "netem", "loss", "100%")
    MEND = ("tc", "qdisc", "del", "dev", NETDEV, "root")

    def begin(self, *options):
        """A client in the middle of its first case."""
        program = client("--op", "send", "--json", self.path, *options, host=PEER)
        self.addCleanup(program.kill)
        before = counter("sent_pkts")

        def is_running():
            if program.process.poll() is not None:
                raise AssertionError(f"it has ended: {program.out} {program.err}")
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

    def test_for_a_second(self):
        """What has patience for it goes on, and what it took is counted."""
        program = self.begin("-u", 17, "--retries", 7, "-D", "10s", "--trials", 1)
        run(*self.CUT)
        time.sleep(1)
        run(*self.MEND)
        self.assertEqual(program.wait(), 0, program.err)
        (case,) = self.cases()
        self.assertEqual(case["status"], "complete")
        # Half a round trip.
        self.assertGreater(case["latency_ns"]["max"], 0.5e9)
        self.assertGreater(case["counters"]["client"]["completer_retry_err"], 0)
        self.check_others_are_served()

    def mend(self, machines):
        for machine in machines:
            if "netem" in run(*machine, "tc", "qdisc", "show", "dev", NETDEV):
                run(*machine, *self.MEND)

    def check_for_good(self, sentence, *options, machines=(HERE,)):
        n_told = len(self.server.err)
        program = self.begin("-s", "64,128", "-D", "60s", "--trials", 1, *options)
        for machine in machines:
            run(*machine, *self.CUT)
        try:
            self.assertEqual(program.wait(), 1)
        finally:
            self.mend(machines)
        first = self.cases()[0]
        self.assertEqual(first["status"], "failed")
        self.assertRegex(first["error"], sentence)
        # The server has noticed, too, and says so of this client alone.
        wait_until(lambda: len(self.server.err) > n_told, what="a sentence over there")
        self.assertRegex(self.server.err[-1], f"^verbmark: client {ADDRESS}: ")
        self.check_others_are_served()

    def test_for_good(self):
        self.check_for_good("transport retry counter exceeded|has been silent for 4 s")

    def test_a_machine_that_is_gone(self):
        self.check_for_good(
            "transport retry counter exceeded|has been silent for 4 s", machines=(HERE, THERE)
        )

    def test_for_good_with_patience(self):
        """The queue pair would wait for longer, but the two programs hear of each other."""
        # Who finds out first tells the other, whose messages still arrive.
        told = "has been silent for 4 s|closed the control connection"
        self.check_for_good(told, "-u", 20, "--retries", 7)
