# SPDX-License-Identifier: MIT
"""Kinds of memory: every operation on each of them at both ends, and what is refused."""

import os
import re
import tempfile
import unittest

from verbmark import (
    CASE, FAULTY, IS_SOFT, RUN_PATIENCE, Ended, Peer, Served, Server, client, measure,
)  # fmt: skip

KINDS = ("nic", "odp", "odp:warm", "odp:prefetch", "dmabuf:memfd")
BOTH = "host,nic,odp,dmabuf:memfd"
WRONG = re.compile(r"byte 5 of message \d+ is 0x.., expected 0x..")
UNPOLLED = "--verify of write latency needs memory that the CPU can poll; use write-imm"
PATHS = {
    "nic": "ibv_reg_dm_mr", "odp": "IBV_ACCESS_ON_DEMAND", "odp:warm": "IBV_ACCESS_ON_DEMAND",
    "odp:prefetch": "IBV_ACCESS_ON_DEMAND", "dmabuf:memfd": "ibv_reg_dmabuf_mr",
}  # fmt: skip


@unittest.skipUnless(IS_SOFT, "this device lacks kinds of memory that soft0 has")
class Kinds(Served):
    def test_every_kind_at_both_ends(self):
        document = measure(
            self.server, "--op", "send,write,write-imm,read", "--metric", "lat,bw", "-s", "4k",
            "-n", 50, "-t", 8, "-r", 8, "--trials", 1, "--memory", BOTH, "--server-memory", BOTH,
            "--verify",
        ).document
        self.assertEqual(len(document["cases"]), 4 * 2 * 4 * 4)
        for case in document["cases"]:
            is_unpolled = "memory-nic" in case["id"]
            if case["id"].startswith("write/lat") and is_unpolled:
                self.assertEqual((case["status"], case["error"]), ("skipped", UNPOLLED))
            elif case["op"] in ("write", "write-imm") and case["metric"] == "bw":
                self.assertEqual(case["status"], "skipped")
            else:
                self.assertEqual(case["status"], "complete", case)

    def test_write_latency_of_unpolled_memory(self):
        """Nothing polls memory that the CPU cannot reach: the latency is that of completions."""
        cases = measure(
            self.server, "--op", "write", "-n", 50, "--memory", "host,nic", "--server-memory",
            "host,nic",
        ).document["cases"]
        self.assertEqual(
            [case["latency_ns"]["kind"] for case in cases],
            ["half", "completion", "completion", "completion"],
        )

    def test_facts(self):
        for kind, path in PATHS.items():
            case = measure(self.server, "-n", 50, "--server-memory", kind).document["cases"][0]
            self.assertEqual(case["chosen"]["server"]["memory_path"], path)
            self.assertNotIn("memory_path", case["chosen"]["client"])
            self.assertTrue(case["id"].endswith("/server-memory-" + kind))

    def test_a_wrong_byte_is_found(self):
        for options in [("--memory", kind) for kind in KINDS] + [
            ("--server-memory", kind) for kind in KINDS
        ]:
            with self.subTest(options):
                ended = Ended(
                    client("-n", 1000, "--warmup", "0ms", "--verify", *options, program=FAULTY,
                           port=self.server.port),
                    RUN_PATIENCE,
                )
                self.assertEqual(ended.status, 1)
                self.assertRegex(ended.out, WRONG)

    def test_memory_of_the_device_is_limited(self):
        case = measure(
            self.server, "-s", "64,1m", "-n", 50, "--server-memory", "nic"
        ).document["cases"]
        self.assertEqual([line["status"] for line in case], ["complete", "skipped"])
        self.assertRegex(case[1]["error"], "of the device's memory, which has [0-9]+; use a small")
        # The buffers of all threads count.
        case = measure(
            self.server, "-s", "64", "-n", 50, "--threads", 64, "--server-memory", "host,nic"
        ).document["cases"]
        self.assertEqual([line["status"] for line in case], ["complete", "skipped"])
        self.assertRegex(case[1]["error"], "buffers need [0-9]+ bytes of the device's memory, wh")

    def test_spellings_of_a_kind(self):
        (case,) = measure(
            self.server, "-n", 50, "--memory", "ODP:Warm", "--server-memory", "dmabuf:Memfd"
        ).document["cases"]
        self.assertEqual(
            case["id"], "send/lat/64/poll/memory-odp:warm/server-memory-dmabuf:memfd"
        )
        self.assertEqual(case["memory"], "odp:warm")

    def test_registration_is_timed(self):
        cases = measure(
            self.server, "--op", "register,deregister", "-s", "4k", "-n", 20, "--memory",
            ",".join(KINDS),
        ).document["cases"]
        self.assertEqual([case["status"] for case in cases], 10 * ["complete"])
        with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
            os.truncate(file.name, 4096)
            cases = measure(
                self.server, "--op", "register,deregister", "-s", "4k", "-n", 20, "--memory",
                f"file:{file.name}",
            ).document["cases"]
        self.assertEqual([case["status"] for case in cases], 2 * ["complete"])
        self.assertEqual(cases[0]["chosen"]["client"]["memory_path"], "MAP_SHARED")

    def test_files_at_the_client(self):
        with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
            os.truncate(file.name, 1 << 16)
            cases = measure(
                self.server, "-s", "4k,64k", "-n", 50, "--verify", "--memory",
                f"file:{file.name},offset=4096",
            ).document["cases"]
            self.assertEqual([case["status"] for case in cases], ["complete", "skipped"])
            self.assertIn("try 'fallocate -l", cases[1]["error"])
            self.assertNotEqual(file.read(), bytes(1 << 16))

    def test_a_client_cannot_use_up_the_names(self):
        """The server has room for 1024 names at once."""
        with Peer.greeted(self.server.port) as peer:
            for i in range(1100):
                peer.send(
                    CASE
                    | {
                        "parameters": CASE["parameters"]
                        | {"memory": f"file:/client{i}", "server-memory": f"file:/server{i}"}
                    }
                )
                self.assertIn(f"clients may not write to /server{i}", peer.expect("failed")["reason"])
            peer.send({"type": "bye"})

    def test_files_of_the_server_are_closed(self):
        """A client must not write to files that the server does not offer."""
        with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
            os.truncate(file.name, 1 << 20)
            for kind in ("file", "dax", "dmabuf"):
                case = measure(
                    self.server, "-n", 50, "--memory", "host", "--server-memory",
                    f"host,{kind}:{file.name}",
                ).document["cases"][1]
                self.assertEqual(case["status"], "skipped")
                self.assertIn(f"clients may not write to {file.name}", case["error"])
            self.assertEqual(file.read(), bytes(1 << 20))
            with Server("--allow-file", file.name) as server:
                case = measure(
                    server, "-n", 50, "--verify", "--server-memory", f"file:{file.name}"
                ).document["cases"][0]
                self.assertEqual(case["status"], "complete", case)
                other = measure(
                    server, "-n", 50, "--server-memory", f"host,file:{file.name}.other"
                ).document["cases"][1]
                self.assertEqual(other["status"], "skipped")

    def test_two_ends_share_a_file(self):
        """Their ranges must not overlap."""
        with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
            os.truncate(file.name, 1 << 20)
            with Server("--allow-file", file.name) as server:
                ends = ("--memory", f"file:{file.name}", "--server-memory", f"file:{file.name},")
                case = measure(
                    server, "-n", 50, "--verify", *ends[:3], ends[3] + "offset=65536"
                ).document["cases"][0]
                self.assertEqual(case["status"], "complete")
                ended = Ended(
                    client("-n", 50, *ends[:3], ends[3] + "offset=4096", port=server.port),
                    RUN_PATIENCE,
                )
                self.assertEqual(ended.status, 1)
                self.assertRegex(
                    ended.out,
                    f"bytes [0-9]+ to [0-9]+ of {file.name} are already in use by another buffer",
                )
