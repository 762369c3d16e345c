# SPDX-License-Identifier: MIT
"""
Programs that the kernel denies access to the memory of other processes: their data is copied
through a socket, and arrives unchanged.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(__file__))
import programs

HERE = os.path.dirname(programs.SOFTRDMA)
REFUSING = os.path.join(HERE, "..", "test", "soft", "refusing")
VERBMARK = os.path.join(HERE, "..", "..", "bench", "verbmark")

PINGPONGS = [
    f"ibv_{kind}_pingpong -g 0 -n 200{options}"
    for kind in ("rc", "uc", "ud", "srq")
    for options in (" -c", " -e -c -s 2048")
] + ["ibv_rc_pingpong -g 0 -n 20 -s 1048576 -c"]

PERFTESTS = [
    "ib_send_lat -n 300 -s 4096",
    "ib_send_bw -n 300 -b -q 4 -s 4096",
    "ib_send_bw -n 300 -c UD -s 2048 -r 512 -t 64",
    "ib_write_lat -n 300 -s 4096",
    "ib_write_bw -n 5 -a",
    "ib_write_bw -n 300 -c UC",
    "ib_read_lat -n 300 -e",
    "ib_read_bw -n 20 -s 1048576",
    "ib_atomic_lat -n 300",
    "ib_atomic_bw -n 300 -b -q 4",
    "ib_atomic_lat -n 300 -A CMP_AND_SWAP",
]


class Refused(programs.OnDevice):
    """Programs whose server, client or both are started with ways[0] and ways[1]."""

    ways = ([REFUSING, "EPERM"], [REFUSING, "EPERM"])
    started = 0

    def setUp(self):
        super().setUp()
        for way in filter(None, self.ways):
            tried = subprocess.run([*way, "true"], capture_output=True, text=True)
            if tried.returncode == 77 or tried.returncode and way[0] == "unshare":
                self.skipTest(tried.stderr.strip())
            self.assertEqual(tried.returncode, 0, tried.stderr)

    def start(self, *command, **options):
        self.started += 1
        return super().start(*self.ways[(self.started - 1) % 2], *command, **options)


class Pingpong(Refused):
    check = programs.Pingpong.check


class Measured(programs.Tables, Refused):
    def run_perftest(self, command):
        return self.run_pair(command)


class Perftest(Measured):
    pass


class NotThere(Measured):
    ways = ([REFUSING, "ENOSYS"], [REFUSING, "ENOSYS"])


class Client(Measured):
    """Only the client is denied access to the peer's memory."""

    ways = ([], [REFUSING, "EPERM"])


class OtherProcesses(Measured):
    """The client is in a PID namespace, where the server has no PID."""

    ways = ([], ["unshare", "--pid", "--fork", "--kill-child"])


class OtherUsers(Measured):
    """The client is in a user namespace, with no rights outside of it."""

    ways = ([], ["unshare", "--user", "--map-root-user"])


class ByConnection(Refused):
    check_pings = programs.ByConnection.check_pings
    has_server = programs.Connected.has_server
    run_connected = programs.Connected.run_connected

    def test_rping(self):
        self.check_pings("rping -a 127.0.0.1 -C 3 -S 1000 -V -v")


class Verbmark(Refused):
    def test_every_operation(self):
        path = os.path.join(tempfile.mkdtemp(dir=self.directory), "result.json")
        self.run_alone(
            VERBMARK, "run", "--device", "soft0", "--op", "send,write,read,fetch-add",
            "--size", "8,64k", "--metric", "lat,bw", "--iterations", "200", "--json", path,
        )  # fmt: skip
        with open(path) as file:
            cases = json.load(file)["cases"]
        # Fetch-add has one size.
        self.assertEqual(len(cases), 14)
        for case in cases:
            self.assertEqual(case["status"], "complete", case)

    def test_null_memory(self):
        """The server takes the message in several pieces, and drops each of them."""
        self.run_alone(
            VERBMARK, "run", "--device", "soft0", "--op", "send", "--size", "100000",
            "--metric", "bw", "--iterations", "200", "--server-memory", "null", "--no-save",
        )  # fmt: skip


programs.add(Pingpong, PINGPONGS)
programs.add(Perftest, PERFTESTS)
programs.add(NotThere, PERFTESTS[:1])
programs.add(Client, PERFTESTS[3:4] + PERFTESTS[6:7])
programs.add(OtherProcesses, PERFTESTS[3:4] + PERFTESTS[6:7])
programs.add(OtherUsers, PERFTESTS[3:4] + PERFTESTS[6:7])
