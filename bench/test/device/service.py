# SPDX-License-Identifier: MIT
"""
The sandbox of the systemd unit must allow what a server of its command line does while clients
measure: its system calls, its sockets, and the files that it opens for writing.
"""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from verbmark import IS_SOFT, Server, measure

with open(os.environ["UNIT"], encoding="ascii") as unit:
    TEXT = unit.read()
STRACE = ("strace", "-f", "-qq", "-s", "256", "-o")
# The options in the unit itself, without the variable for the administrator's options.
OPTIONS = [
    word for word in re.findall(r"^ExecStart=\S+ serve(.*)$", TEXT, re.MULTILINE)[0].split()
    if not word.startswith("$")
]
# /dev/null, and the devices that the unit allows.
WRITTEN = r"/dev/(null|infiniband/(uverbs\d+|rdma_cm))"
# The unit is not meant for the software device, which maps other processes' memory through
# descriptors and names its thread.
SOFT_CALLS = {"pidfd_getfd"} if IS_SOFT else set()
SOFT_WRITTEN = (r"/proc/self/task/\d+/comm|/proc/\d+/mem|"
                + re.escape(os.environ.get("VERBMARK_SOFT_DIR", "")) + "/.*")


def words(key):
    """Returns the words of all lines with that key."""
    return [word for line in re.findall(rf"^{key}=(.*)$", TEXT, re.MULTILINE) for word in line.split()]


def groups():
    """Returns the members of each group of system calls: calls and other groups."""
    shown = subprocess.run(
        ["systemd-analyze", "syscall-filter", "--no-pager"], capture_output=True, text=True, check=True
    )
    found = {}
    for line in shown.stdout.splitlines():
        if line.startswith("@"):
            members = found.setdefault(line.strip(), [])
        elif line.startswith(" ") and not line.strip().startswith("#"):
            members.append(line.strip())
        elif line.startswith("#"):
            members = []  # calls that are in no group
    return found


def allowed_calls():
    known = groups()

    def calls_of(name):
        return set().union(*map(calls_of, known[name])) if name in known else {name}

    allowed = set()
    for word in words("SystemCallFilter"):
        calls = calls_of(word.lstrip("~"))
        allowed = allowed - calls if word.startswith("~") else allowed | calls
    return allowed


def whole_calls(lines):
    """Joins the two lines of a call that strace printed before and after other threads' calls."""
    begun = {}
    for line in map(str.rstrip, lines):
        pid, _, call = line.partition(" ")
        resumed = re.fullmatch(r" *<\.\.\. \w+ resumed>(.*)", call)
        if call.endswith("<unfinished ...>"):
            begun[pid] = line.removesuffix("<unfinished ...>")
        elif resumed:
            yield begun.pop(pid, f"{pid} ") + resumed[1]
        else:
            yield line
    # Calls that never returned, such as accept4 in a thread that was ended, have only one line.
    yield from begun.values()


@unittest.skipUnless(shutil.which("strace"), "strace is not installed")
@unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not installed")
class Confined(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/trace"
            with Server(*OPTIONS, before=(*STRACE, path)) as server:
                # strace blocks signals for itself and ends with the program: signal that.
                with open(path, encoding="utf-8", errors="replace") as trace:
                    traced = int(trace.readline().split()[0])
                try:
                    cls.drive(server)
                    os.kill(traced, signal.SIGTERM)
                    cls.status = server.wait()
                except BaseException:
                    os.kill(traced, signal.SIGKILL)
                    raise
            with open(path, encoding="utf-8", errors="replace") as trace:
                cls.trace = "\n".join(whole_calls(trace))

    @classmethod
    def drive(cls, server):
        few = ("--trials", 1, "-n", 20, "--warmup", 0)
        measure(server, "--op", "send,write,read,fetch-add,write-notify", "--metric", "lat,bw",
                "--cq", "poll,event,adaptive", *few)
        measure(server, "--op", "send", "--metric", "bw", "--connect", "cm,qp", "-q", 4, "--threads", 2, *few)
        measure(server, "--op", "send", "-c", "UC,UD", "--use-srq", *few)
        measure(server, "--op", "connect,alloc,register", *few)

    def test_server_ended_normally(self):
        """The other tests cover the server's whole life."""
        self.assertEqual(self.status, 0)

    def test_system_calls(self):
        made = set(re.findall(r"(?m)^\d+ +(\w+)\(", self.trace))
        # Make sure that the trace is not empty.
        self.assertLessEqual({"execve", "socket", "accept4", "mmap", "poll"}, made)
        self.assertEqual(made - allowed_calls() - SOFT_CALLS, set())

    def test_address_families(self):
        made = set(re.findall(r"(?m)^\d+ +socket(?:pair)?\((AF_\w+)", self.trace))
        self.assertTrue(made)
        self.assertLessEqual(made, set(words("RestrictAddressFamilies")))

    def test_files_opened_for_writing(self):
        opened = re.findall(
            r'(?m)^\d+ +(?:openat\(\S+ |open\()"([^"]*)", [^)]*O_(?:WRONLY|RDWR)\b.*\) += \d+', self.trace
        )
        # Make sure that the trace is not empty.
        self.assertTrue(opened)
        fine = f"{WRITTEN}|{SOFT_WRITTEN}" if IS_SOFT else WRITTEN
        self.assertEqual([path for path in opened if not re.fullmatch(fine, path)], [])

    def test_no_writable_and_executable_memory(self):
        self.assertEqual(words("MemoryDenyWriteExecute"), ["yes"])
        self.assertNotRegex(self.trace, r"(?m)^\d+ +(mmap|mprotect)\([^)]*PROT_WRITE\|PROT_EXEC")
        self.assertNotRegex(self.trace, r"(?m)^\d+ +sched_setscheduler\(")
