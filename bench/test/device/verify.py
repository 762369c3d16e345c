# SPDX-License-Identifier: MIT
"""Payload verification: correct payloads pass, and the receiver finds a wrong byte."""

import re

from verbmark import (
    ADDRESS, FAULTY, IS_SOFT, RUN_PATIENCE, VERBMARK, Ended, Served, Server, client, measure,
)

# FAULTY corrupts a byte in every message that it fills with this number.
EVERY = 200
WRONG = re.compile(r"byte 5 of message (\d+) is 0x(..), expected 0x(..)")
OVERWRITTEN = "--verify with bw applies only to send and read: a write overwrites the last one"


# Soft-RoCE now and then stalls at an operation that is fenced behind a read.
STALLS = re.compile(r"^read-notify/bw/.*: nothing arrived for 5 s although", re.M)
TRIES = 3


class Correct(Served):
    def measure(self, *options):
        for _ in range(TRIES - 1):
            try:
                return measure(self.server, "--verify", *options)
            except AssertionError as failure:
                if IS_SOFT or not STALLS.search(str(failure)):
                    raise
                print("# Soft-RoCE stalled behind a fence; trying again")
        return measure(self.server, "--verify", *options)

    def check(self, *options, count):
        cases = self.measure(*options).document["cases"]
        self.assertEqual(len(cases), count)
        # In messages of one byte, the sequence number leaves no payload to verify.
        for case in cases:
            self.assertEqual(case["status"], "complete", case)
        return cases

    def test_latencies(self):
        ops = "send,write,read,write-imm,write-notify,read-notify,doorbell"
        self.check("--op", ops, "-s", "1,9000", "-n", 100, count=14)
        self.check("--op", ops, "-s", "33,9000", "-n", 100, "--sge", "2,32", count=28)
        for transport, ops in (("uc", "send,write,write-imm"), ("ud", "send")):
            self.check("-c", transport, "--op", ops, "-s", "9,1024", "-n", 100,
                       count=2 * len(ops.split(",")))

    def test_streams(self):
        ops = ("--metric", "bw", "-n", 600, "--op")
        self.check(*ops, "send,read,read-notify", "-s", "1,9000", "-q", "1,3", count=12)
        self.check(*ops, "send", "-q", 3, "--use-srq", "--cq", "event", count=1)
        self.check(*ops, "send,read", "-l", 4, count=2)
        self.check(*ops, "send,read-notify", "-b", count=2)
        # Long enough for the receiver to get a CPU on a busy machine.
        self.check("--metric", "bw", "-D", "500ms", "--op", "send", "-c", "uc,ud", "-s", "8,4096",
                   "-q", 2, count=4)
        # Receives with several scatter/gather entries, and datagrams with their header.
        self.check(*ops, "send,read", "-s", "33,9000", "--sge", "2,32", "-q", 3, count=8)
        self.check(*ops, "send", "-b", "-l", 4, "--sge", 5, count=1)
        self.check(*ops, "send", "-c", "ud", "-s", "8,4096", "--sge", 3, count=2)
        # Ten laps around the buffer.
        self.check(*ops, "send", "-t", 5, "-r", 7, count=1)

    def test_operations_without_verification(self):
        cases = measure(
            self.server, "--verify", "--metric", "bw", "--op", "send,write,write-imm", "-n", 50,
        ).document["cases"]
        self.assertEqual(
            [(case["status"], case.get("error")) for case in cases],
            [("complete", None)] + 2 * [("skipped", OVERWRITTEN)],
        )


class Wrong(Served):
    """A wrong byte fails the case, with its position, its value and the expected value."""

    def run_faulty(self, *options, messages=1000, program=FAULTY, server=None):
        return Ended(
            client(
                "-n", messages, "--warmup", "0ms", *options, program=program,
                port=(server or self.server).port,
            ),
            RUN_PATIENCE,
        )

    def check(self, ended):
        """Checks the error and returns the number of the message."""
        self.assertEqual(ended.status, 1)
        found = WRONG.search(ended.out)
        self.assertTrue(found, ended.out)
        self.assertEqual(int(found[2], 16) ^ int(found[3], 16), 0xFF)
        return int(found[1])

    def test_at_the_server(self):
        """The server reports the client's corrupted message."""
        for options in (
            ("--op", "send"), ("--op", "write", "-s", "4k"), ("--op", "send", "-c", "ud"),
            ("--op", "send", "--metric", "bw"), ("--op", "send", "--metric", "bw", "-l", 8),
            ("--op", "send", "--metric", "bw", "-c", "ud"),
            ("--op", "send", "--metric", "bw", "-c", "uc"),
        ):
            with self.subTest(options):
                ended = self.run_faulty("--verify", *options)
                self.assertEqual(self.check(ended) % EVERY, EVERY - 1)
                self.assertIn(f"{ADDRESS}: byte 5", ended.out)

    def test_every_nth_message(self):
        """Only every n-th message is filled, so the 200th filled one comes late."""
        stream = ("--op", "send", "--metric", "bw")
        number = self.check(self.run_faulty("--verify=4", *stream))
        self.assertEqual(number, 4 * (EVERY - 1))
        # Every sixth of a thousand messages is filled: fewer than 200.
        self.assertEqual(self.run_faulty("--verify=6", *stream).status, 0)

    def test_several_queue_pairs(self):
        """Messages are numbered by queue pair."""
        self.assertLess(
            self.check(
                self.run_faulty(
                    "--verify", "--op", "send", "--metric", "bw", "-q", 4, "--use-srq"
                )
            ), EVERY - 1,
        )

    def test_at_the_client(self):
        for options in (("--op", "send"), ("--op", "send", "--metric", "bw", "-b")):
            with self.subTest(options), Server(program=FAULTY) as server:
                ended = self.run_faulty(
                    "--verify", *options, messages=5000, program=VERBMARK, server=server
                )
                self.assertEqual(self.check(ended) % EVERY, EVERY - 1)
                self.assertNotIn(f"{ADDRESS}: byte", ended.out)
