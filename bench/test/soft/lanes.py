# SPDX-License-Identifier: MIT
"""
Several threads on the software device: when one of them fails, all of them end. Also a sweep of
operations for sanitized builds, such as ThreadSanitizer's, which have the device linked in.
"""

import concurrent.futures
import resource
import unittest

import documents
from soft.choice import OnSoft, SOFT
from verbmark import IS_SANITIZED, WARMUP

# More queue pairs than a typical device or descriptor limit allows; fewer with sanitizers,
# where each of them is slow.
MANY = 2000 if IS_SANITIZED else 6000


class Stalled(OnSoft):
    """A message is delayed beyond the time limit while both programs are alive."""

    def check(self, op, hint, *options):
        ended = self.run_it(
            "run", *SOFT, "--op", op, "--metric", "bw", "-s", 64, "-D", "2s", "--trials", 1,
            "--json", "-", *options,
            env=dict(self.environment, VERBMARK_SOFT_FAULTS="message#3000=delay:60s"),
        )
        self.assertEqual(ended.status, 1, ended.err)
        (case,) = documents.parse(ended.out)["cases"]
        self.assertRegex(
            case["error"], f"^nothing arrived for 5 s although the peer is alive{hint}; "
        )

    def test_stalled_stream_and_fenced_operation(self):
        """All wait for the time limit, so they run concurrently."""
        path = "; run 'verbmark doctor HOST' to check the path for packet loss"
        fence = "; Soft-RoCE sometimes loses work requests behind a fence"
        slow = "; raise --rate-limit, or run 'verbmark doctor HOST'"
        rows = (
            ("write", path), ("read-notify", fence), ("write", f"{slow}.*", "--rate-limit", "1kb/s"),
        )
        with concurrent.futures.ThreadPoolExecutor() as pool:
            tries = [pool.submit(self.check, *row) for row in rows]
        for one in tries:
            one.result()


@unittest.skipIf(
    resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 20000, f"descriptors for {MANY} queue pairs"
)
class Many(OnSoft):
    def test_thousands_of_queue_pairs(self):
        ended = self.run_it(
            "run", *SOFT, "--op", "write", "--metric", "bw", "-s", 64, "-q", MANY, "-n", 5 * MANY,
            "--trials", 1,
            "--warmup", 0, "--json", f"{self.folder}/r.json",
            before=("sh", "-c", 'ulimit -Sn 1024; exec "$0" "$@"'),
        )
        self.assertEqual(ended.status, 0, ended.err)
        # The result can be read back.
        shown = self.run_it("report", "--format", "json", "r.json")
        self.assertEqual((shown.status, shown.err), (0, ""))
        (case,) = documents.parse(shown.out)["cases"]
        # Each queue pair got the same share.
        (thread,) = case["shares"]["threads"]
        self.assertEqual([pair["messages"] for pair in thread["queue_pairs"]], [5] * MANY)


class Faulty(OnSoft):
    def one_fails(self, plan, *options):
        """Runs a case in which one thread fails, and a second case that must succeed."""
        threads = () if "--threads" in options else ("--threads", "3,2")
        trials = () if "--trials" in options else ("--trials", 1)
        words = ("run", *SOFT, *threads, *trials)
        ended = self.run_it(
            *words, "--json", "-", *(() if "--warmup" in options else WARMUP), *options,
            env=dict(self.environment, VERBMARK_SOFT_FAULTS=plan),
        )
        self.assertEqual(ended.status, 1, ended.err)
        document = documents.parse(ended.out)
        self.assertEqual(document["cases"][0]["status"], "failed")
        return document["cases"]

    def test_local_completion(self):
        first, second = self.one_fails(
            "send#5000=REM_ACCESS_ERR", "--op", "write", "--metric", "bw", "-s", 64, "-D", "2s",
            "--warmup", "0ms",
        )
        # The server notices too, and may be the first to say so.
        self.assertRegex(
            first["error"],
            r"^thread [0-2]: post: remote access error.* messages$"
            "|^the server: the peer accessed memory without permission$",
        )
        self.assertEqual(second["status"], "complete")

    def test_during_warmup(self):
        first, _ = self.one_fails(
            "send#20=REM_ACCESS_ERR", "--op", "read", "--metric", "lat", "-D", "2s"
        )
        self.assertRegex(first["error"], r"^thread [0-2]: post: .*; during warm-up$")

    def test_remote_receive(self):
        """The server reports why, once, and all threads of the client end."""
        first, second = self.one_fails(
            "receive#3000=LOC_PROT_ERR", "--op", "send", "--metric", "bw", "-s", 64, "-D", "2s"
        )
        self.assertIn("receive", first["error"])
        self.assertNotIn("shares", first)
        self.assertEqual(second["status"], "complete")

    def test_creation_fails(self):
        """A second thread cannot create its channel, first on the client, then on the server."""
        first, second, third = self.one_fails(
            "ibv_create_comp_channel#2=ENOMEM", "--op", "send", "--metric", "lat", "-n", 500,
            "--threads", "3,2,4",
        )
        self.assertRegex(first["error"], "^cannot create a completion channel")
        self.assertRegex(second["error"], "^the server: cannot create a completion channel")
        self.assertEqual(third["status"], "complete")


class Sweep(OnSoft):
    def test_operations_and_modes(self):
        """A sanitizer's complaint would change the exit status."""
        for options in (
            ("--op", "send,write,read,write-imm,fetch-add,write-notify", "--metric", "lat,bw"),
            ("--op", "send", "--metric", "lat,bw", "--cq", "event,adaptive"),
            ("--op", "send,write", "--metric", "bw", "-s", 64, "-b", "-q", 2),
            ("--op", "send", "--metric", "lat", "-s", 64, "-c", "UC,UD"),
            ("--op", "send", "--metric", "bw", "-s", 64, "-c", "XRC,DC,SRD"),
            ("--op", "send,read", "--metric", "bw", "-s", 64, "--verify", "-q", 2, "--connect", "qp"),
            ("--op", "send", "--metric", "bw", "-s", 64, "--use-srq", "-q", 2, "--latencies"),
        ):
            with self.subTest(options):
                document = self.document(
                    *SOFT, "--threads", 2, "-n", 200, "--trials", 2, "--warmup", "20ms", *options
                )
                for case in document["cases"]:
                    self.assertEqual(case["status"], "complete", case.get("error"))
                    self.assertEqual(len(case["trials"]), 2)
