# SPDX-License-Identifier: MIT
"""What the command reports about the machine it runs on."""

import json
import os
import socket
import subprocess
import tempfile
import unittest

from verbmark import PATIENCE, VERBMARK, verbmark

NO_DEVICE = (
    "verbmark: no RDMA device; for Soft-RoCE: modprobe rdma_rxe && "
    "rdma link add rxe0 type rxe netdev eth0, or --device soft0 (not a measurement)"
)


def has_device():
    try:
        return bool(os.listdir("/sys/class/infiniband"))
    except FileNotFoundError:
        return False


def git(*words):
    """Returns git's output for the repository of these sources; "" if there is none."""
    root = os.path.realpath(f"{os.path.dirname(os.path.abspath(__file__))}/../../..")
    try:
        return subprocess.run(
            ("git", "--git-dir", f"{root}/.git", *words), capture_output=True, text=True,
            check=True,
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


class Machine(unittest.TestCase):
    def fails(self, *words, **options):
        ended = verbmark(*words, **options)
        self.assertEqual(ended.status, 1, ended.err)
        self.assertEqual(ended.out, "")
        return ended.err

    @unittest.skipIf(has_device(), "this machine has an RDMA device")
    def test_no_device(self):
        self.assertEqual(self.fails("devices"), NO_DEVICE)
        self.assertEqual(self.fails("devices", "--json"), NO_DEVICE)
        self.assertEqual(self.fails("serve", "-p", "0"), NO_DEVICE)
        self.assertEqual(self.fails("run", "--no-save", "127.0.0.1"), NO_DEVICE)
        self.assertEqual(self.fails("run", "--no-save"), NO_DEVICE)

    @unittest.skipIf(has_device(), "this machine has an RDMA device")
    def test_no_device_writes_no_document(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/result.json"
            for words in (("--json", path), (), ("--no-save",)):
                self.assertEqual(self.fails("run", "127.0.0.1", *words, cwd=folder), NO_DEVICE)
                self.assertEqual(os.listdir(folder), [])

    def test_build_facts(self):
        """The revision is a commit of the sources, if they come with their repository."""
        tool = json.loads(verbmark("doctor", "--json").out)["hosts"]["client"]["tool"]
        self.assertTrue(tool["build_type"])
        self.assertRegex(tool["flags"], r"^-O[0-3gs]")
        self.assertNotIn("/", tool["flags"])
        if not git("rev-parse", "HEAD"):
            self.skipTest("these sources are not in a git repository")
        revision = tool["revision"].removesuffix("-dirty")
        self.assertRegex(revision, r"^[0-9a-f]{12,}$")
        self.assertEqual(git("cat-file", "-t", revision), "commit")

    def test_port_in_use(self):
        for family, address in ((socket.AF_INET6, "::"), (socket.AF_INET, "0.0.0.0")):
            with socket.socket(family) as other:
                other.bind((address, 0))
                other.listen()
                port = other.getsockname()[1]
                self.assertEqual(
                    self.fails("serve", "-p", port),
                    f"verbmark: TCP port {port} is in use; use another --port",
                )

    def test_document_that_cannot_be_written(self):
        # Reported before the host is resolved and a device opened.
        with tempfile.TemporaryDirectory() as folder:
            for path, why in (
                ("/nowhere/at/all.json", "No such file or directory"),
                (folder, "Is a directory"),
                ("/dev/null/x.json", "Not a directory"),
            ):
                self.assertEqual(
                    self.fails("run", "nobody.invalid", "--json", path),
                    f"verbmark: cannot write {path}: {why}",
                )

    def test_full_output(self):
        with open("/dev/full", "wb") as full:
            for words in (("--help",), ("--version",), ("run", "--help")):
                status, errors = run_into(full, *words)
                self.assertEqual(status, 1, words)
                self.assertEqual(
                    errors, "verbmark: cannot write to standard output: No space left on device\n"
                )


def run_into(out, *words):
    ended = subprocess.run(
        [VERBMARK, *words], stdout=out, stderr=subprocess.PIPE, text=True, timeout=PATIENCE,
        check=False,
    )
    return ended.returncode, ended.stderr
