# SPDX-License-Identifier: MIT
"""
Options of a case observed from outside: in the device's attributes of a queue pair, in the
kernel's lists of resources, and in the memory of the processes.
"""

import itertools
import json
import os
import subprocess
import tempfile
import unittest

from verbmark import (
    IS_SANITIZED, IS_SOFT, RUN_PATIENCE, Ended, Served, Server, client, counter, measure, wait_until,
)

WATCHING = os.environ["WATCHING"]
PRELOAD = ":".join(filter(None, (WATCHING, os.environ.get("LD_PRELOAD"))))
# Access flags of verbs.h.
REMOTE_WRITE, RELAXED = 1 << 1, 1 << 20
HUGE = "/proc/sys/vm/nr_hugepages"


def resources(kind, pid):
    """Returns a process's resources, which the kernel lists by its threads."""
    shown = subprocess.run(
        ["rdma", "res", "show", kind, "-d", "-j"], check=True, capture_output=True
    )
    threads = {int(name) for name in os.listdir(f"/proc/{pid}/task")}
    return [row for row in json.loads(shown.stdout) if row.get("pid") in threads]


def watched(file):
    """Returns the prefix of a command whose verbs calls are recorded."""
    before = ("env", f"LD_PRELOAD={PRELOAD}", f"WATCHED={file.name}")
    return (*before, "ASAN_OPTIONS=verify_asan_link_order=0") if IS_SANITIZED else before


class Watched(Served):
    """A library between the client and libibverbs records the calls."""

    def watch(self, *options):
        """Returns each queue pair's attributes, and how often the kernel was told to send."""
        lines = self.lines(self.server, *options)
        return [line for line in lines if "mtu" in line], lines[-1]["posts"]

    def lines(self, server, *options):
        """Returns all recorded lines of a run."""
        with tempfile.NamedTemporaryFile("r", encoding="ascii") as file:
            ended = Ended(
                client("--warmup", "0ms", *options, port=server.port, before=watched(file)),
                RUN_PATIENCE,
            )
            self.assertEqual(ended.status, 0, ended.err)
            return [json.loads(line) for line in file]

    def orders(self, *options):
        """Returns the relaxed flags of remotely writable memory, for client and server."""
        with tempfile.NamedTemporaryFile("r", encoding="ascii") as file:
            with Server(before=watched(file)) as server:
                ends = [self.lines(server, "-n", 20, *options), map(json.loads, file)]
                ends = [[line["access"] for line in end if "access" in line] for end in ends]
        return [{bool(access & RELAXED) for access in end if access & REMOTE_WRITE} for end in ends]

    def test_relaxed_ordering(self):
        for options in (("--op", "send"), ("--op", "read", "--registration", "each")):
            self.assertEqual(self.orders(*options), [{False}] * 2)
            self.assertEqual(self.orders(*options, "--relaxed-ordering", "on"), [{True}] * 2)
            self.assertEqual(self.orders(*options, "--relaxed-ordering", "off"), [{False}] * 2)
        registered = self.lines(self.server, "--op", "register", "-n", 20, "--relaxed-ordering", "on")
        self.assertGreater(sum(line.get("access", 0) & RELAXED != 0 for line in registered), 20)

    def test_both_orderings(self):
        """Both orderings in one run are cases of their own."""
        document = measure(
            self.server, "-n", 200, "--op", "send,write", "--metric", "lat,bw", "--verify",
            "--relaxed-ordering", "off,on",
        ).document
        found = {case["id"]: (case["status"], case.get("relaxed_ordering"))
                for case in document["cases"]}
        self.assertEqual(found, {
            "send/lat/64/poll/verify1": ("complete", None),
            "send/lat/64/poll/relaxed-on/verify1": ("complete", "on"),
            "write/lat/64/poll/verify1": ("complete", None),
            "write/lat/64/poll/relaxed-on/verify1": ("skipped", "on"),
            "send/bw/64/poll/verify1": ("complete", None),
            "send/bw/64/poll/relaxed-on/verify1": ("complete", "on"),
            "write/bw/64/poll/verify1": ("skipped", None),
            "write/bw/64/poll/relaxed-on/verify1": ("skipped", "on"),
        })

    def check(self, key, values, *options):
        """Checks an attribute of the queue pairs of several cases with one each."""
        pairs, _ = self.watch("-n", 20, *options)
        self.assertEqual([pair[key] for pair in pairs], values)

    def test_mtu(self):
        self.check("mtu", [256, 512, 1024, 2048, 4096], "-m", "256:4096")

    def test_service_level(self):
        self.check("sl", [0, 3, 15], "-S", "0,3,15", "--connect", "qp")

    def test_type_of_service(self):
        self.check("tos", [0, 4, 255], "-T", "0,4,255", "--connect", "qp")

    def test_path(self):
        self.check("flow_label", [0, 1, 0xFFFFF], "--flow-label", "0,1,1048575")
        self.check("hop_limit", [64], "--connect", "qp")
        self.check("hop_limit", [1, 255], "--hop-limit", "1,255")

    def test_pkey_index(self):
        """Soft-RoCE in the kernel has a table of one entry."""
        indexes = [0, 3] if IS_SOFT else [0]
        self.check("pkey_index", indexes, "--pkey-index", ",".join(map(str, indexes)))

    def test_rnr_retries(self):
        """A stream retries forever (7) while the receiver has no receive posted."""
        self.check("rnr_retries", [6], "--connect", "qp")
        self.check("rnr_retries", [7], "--metric", "bw", "--connect", "qp")

    def test_timeout_and_retries(self):
        for connect in ("cm", "qp"):
            with self.subTest(connect):
                self.check("timeout", [1, 14, 20], "-u", "1,14,20", "--connect", connect)
                self.check("retries", [0, 3, 7], "--retries", "0,3,7", "--connect", connect)

    def test_outstanding(self):
        for connect in ("cm", "qp"):
            with self.subTest(connect):
                self.check("reads", [1, 2, 8], "--op", "read", "-o", "1,2,8", "--connect", connect)

    def test_inline(self):
        pairs, _ = self.watch("-n", 20, "-I", "0,64,200")
        sizes = [pair["inline"] for pair in pairs]
        # A device may allow more than requested.
        self.assertLess(sizes[0], 64)
        self.assertTrue(64 <= sizes[1] < 200 <= sizes[2], sizes)

    def test_lists(self):
        """
        The posts of one list need one call to the kernel, whatever the depth, inline size and
        signaling. A shorter list is not posted only to fill the depth.
        """
        inline, several = ("-I", 0, "-Q", 16), ("-I", 128, "-Q", 16, "-q", 2)
        for each, depth, more in itertools.product((1, 4, 16), (32, 42), (inline, several)):
            with self.subTest(each=each, depth=depth, more=more):
                pairs, posts = self.watch(
                    "--op", "write", "--metric", "bw", "-n", 640, "-t", depth, "-l", each, *more
                )
                self.assertEqual(len(pairs), 1 + ("-q" in more))
                self.assertEqual(posts, 640 // each)

    def test_shared_receives(self):
        pairs, _ = self.watch("-n", 200, "--metric", "bw", "-q", 3, "--use-srq")
        self.assertEqual([pair["srq"] for pair in pairs], [True] * 3)
        pairs, _ = self.watch("-n", 200, "--metric", "bw", "-q", 3)
        self.assertEqual([pair["srq"] for pair in pairs], [False] * 3)


class Running(unittest.TestCase):
    """Observations while a case runs."""

    def start(self, *options):
        server = self.keep(Server())
        before = counter("sent_pkts")
        program = self.keep(client("-D", "60s", *options, port=server.port))
        wait_until(lambda: counter("sent_pkts") > before + 1000, what="the case")
        return server, program

    def keep(self, program):
        self.addCleanup(program.kill)
        return program

    def test_shared_receives_of_several_queue_pairs(self):
        ends = self.start("--metric", "bw", "-q", 4, "--use-srq")
        for end in ends:
            self.assertEqual(len(resources("qp", end.pid)), 4)
            self.assertEqual(len(resources("srq", end.pid)), 1)

    def test_connection_methods(self):
        for connect, ids in (("qp", 0), ("cm", 2)):
            server, program = self.start("--connect", connect, "-q", 2, "--metric", "bw")
            self.assertEqual(len(resources("qp", program.pid)), 2)
            self.assertEqual(self.connected(program), ids)
            program.kill()
            server.kill()

    @staticmethod
    def connected(program):
        """Counts connections by rdma_cm."""
        states = [row["state"] for row in resources("cm_id", program.pid)]
        return states.count("CONNECT")

    @staticmethod
    def huge_kib(pid):
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            return next(int(row.split()[1]) for row in status if row.startswith("HugetlbPages:"))

    def reserve(self, pages):
        with open(HUGE, "w", encoding="ascii") as file:
            file.write(str(pages))

    def test_huge_pages(self):
        self.reserve(16)
        self.addCleanup(self.reserve, 0)
        for options, least in (((), 0), (("--hugepages",), 4 * 1024)):
            ends = self.start("--op", "write", "--metric", "bw", "-s", "2m", *options)
            for end in ends:
                # Two areas of 2 MiB and what follows them.
                self.assertEqual(self.huge_kib(end.pid) > least, bool(options))
                self.assertLessEqual(self.huge_kib(end.pid), 16 * 2048)
            for end in reversed(ends):
                end.kill()

    def test_missing_huge_pages(self):
        self.reserve(1)
        self.addCleanup(self.reserve, 0)
        with Server() as server:
            ended = Ended(client("--hugepages", "-s", "2m", "-n", 20, port=server.port))
            self.assertEqual(ended.status, 1)
            self.assertRegex(
                ended.out, r"need \d huge pages of 2048 KiB, 1 free; try 'sysctl vm.nr_hugepages=\d"
            )
            measure(server, "-n", 20)
