# SPDX-License-Identifier: MIT
"""Cases that a device does not support are skipped before any case runs."""

import json
import os
import re
import subprocess
import unittest

from verbmark import (
    ADDRESS, DEVICE, IS_SOFT, PORT, RUN_PATIENCE, Ended, Impostor, Peer, Served, client, measure,
    wait_until_settled,
)

WHERE = f"{DEVICE}/1"
TRANSPORTS = {"RC", "UC", "UD", "XRC", "DC", "SRD"} if IS_SOFT else {"RC", "UC", "UD"}


def shown():
    """Returns the device's limits and GID indexes according to ibv_devinfo."""
    text = subprocess.run(
        ("ibv_devinfo", "-v", "-d", DEVICE), check=True, capture_output=True, text=True
    ).stdout
    limits = {
        name: int(value, 0)
        for name, value in re.findall(r"(?m)^\s*(max_\w+):\s+(0x[0-9a-f]+|\d+)\b", text)
    }
    return limits, [int(index) for index in re.findall(r"GID\[\s*(\d+)\]", text)]


class Limits(Served):
    """Limits of a real device, used by client and server; the client's is checked first."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.limits, cls.gids = shown()

    def check(self, options, sentence, whose="the client's"):
        """Checks that one of two values is skipped, and that it is an error if given alone."""
        *plain, (option, good, bad) = options
        ended = measure(self.server, "-n", 20, *plain, option, f"{bad},{good}")
        cases = {case["status"]: case for case in ended.document["cases"]}
        self.assertEqual(set(cases), {"skipped", "complete"}, ended.err)
        case = cases["skipped"]
        self.assertEqual(case["error"], f"{whose} {WHERE}: {sentence}")
        self.assertIn(f"{case['id']}: skipped: {case['error']}", ended.err.splitlines())
        self.assertEqual(ended.document["run"]["status"], "complete")
        before = wait_until_settled()
        alone = Ended(client("-n", 20, *plain, option, bad, port=self.server.port))
        self.assertEqual(alone.out, "")
        self.assertEqual(
            alone.err, f"verbmark: no case can run: {case['id']}: {case['error']}"
        )
        self.assertEqual(alone.status, 2)
        self.assertEqual(wait_until_settled(), before)
        self.assertEqual(self.server.errors, "")

    def exceeds(self, what, value, limit):
        return f"{what} {value} exceeds the device's limit {self.limits[limit]}"

    def test_queues(self):
        cqe = self.limits["max_cqe"]
        # A queue pair has its own send and receive queues; all share one completion queue.
        bad = cqe // 1024 + 1
        self.check(
            ("--metric", "bw", "-t", 512, "-r", 512, ("-q", 1, bad)),
            self.exceeds("completion queue depth", bad * 1024, "max_cqe"),
        )

    def test_messages(self):
        bad = self.limits["max_msg_sz"] + 1
        self.check(
            ("--op", "write", ("-s", 64, bad)), self.exceeds("message size", bad, "max_msg_sz")
        )

    def test_reads(self):
        for op in ("read", "fetch-add"):
            self.check(
                ("--op", op, ("-o", 1, 255)),
                self.exceeds("number of outstanding reads", 255, "max_qp_init_rd_atom"),
            )

    def test_inline(self):
        # Inline data take the place of scatter/gather entries of 16 bytes each.
        most = self.limits["max_sge"] * 16
        self.check(
            (("-I", most, most + 1),), f"inline size {most + 1} exceeds the device's limit {most}"
        )

    def test_scatter_gather_entries(self):
        # rxe supports the maximum of the option.
        if self.limits["max_sge"] < 32:
            self.check((("--sge", 1, 32),), self.exceeds("number of scatter/gather entries", 32, "max_sge"))
        cases = measure(self.server, "-n", 20, "--sge", "1,2,32", "-s", "31,32").document["cases"]
        self.assertEqual(
            [case.get("error") for case in cases],
            [None, None, "--sge exceeds the bytes of a message", None, None, None],
        )

    def test_gids(self):
        missing = max(self.gids) + 1
        indexes = ", ".join(map(str, sorted(self.gids)[:8])) + " and more" * (len(self.gids) > 8)
        sentence = f"the port has no GID at index {missing}; available: {indexes}"
        self.check((("-x", max(self.gids), missing),), sentence)
        (best,) = measure(self.server, "-n", 20, "--connect", "qp").document["cases"]
        self.check(
            (("--server-gid-index", best["chosen"]["server"]["gid_index"], missing),),
            sentence, f"{ADDRESS}'s",
        )

    def test_datagrams(self):
        self.check(
            ("-c", "UD", "-m", 1024, ("-s", 1024, 1025)),
            "message size 1025 exceeds the MTU 1024, the limit of a datagram",
        )

    def test_facts(self):
        document = measure(self.server, "-n", 20).document
        for end in document["hosts"].values():
            device = end["facts"]["device"]
            for name in (
                "max_qp", "max_qp_wr", "max_sge", "max_cqe", "max_srq", "max_srq_wr",
                "max_srq_sge", "max_sge_rd", "max_qp_rd_atom",
                "max_qp_init_rd_atom",
            ):
                self.assertEqual(device[name], self.limits[name], name)
            # Integers in our JSON have 63 bits.
            self.assertEqual(device["max_mr_size"], min(self.limits["max_mr_size"], 2**63 - 1))
            self.assertEqual(device["atomics"], "hca")
            self.assertEqual(set(device["max_inline"]), TRANSPORTS)
            self.assertEqual(end["facts"]["port"]["max_msg_sz"], self.limits["max_msg_sz"])
            self.assertEqual(end["facts"]["port"]["gids"], self.gids)


class ServerLimits(unittest.TestCase):
    """A server that reports made-up limits and records the messages it gets."""

    def run_against(self, facts, *options, port=None):
        messages = []

        def serve(sock):
            peer = Peer(sock)
            peer.expect("hello")
            peer.send({
                "type": "welcome", "protocol": 5, "version": "0", "host": "other",
                "devices": [PORT | (port or {})],
            })
            peer.expect("describe")
            peer.send({"type": "description", "facts": facts, "noise": {}})
            while message := peer.receive():
                messages.append(message)
                if message["type"] == "case":
                    peer.send({"type": "failed", "reason": "made up"})
                elif message["type"] == "note":
                    peer.send({"type": "noted", "counters": {}, "noise": {}})

        with Impostor(serve) as impostor:
            ended = Ended(
                client("-n", 20, "--json", "-", *options, port=impostor.port), RUN_PATIENCE
            )
        ended.messages = messages
        return ended

    def test_skipped(self):
        ended = self.run_against(
            {"device": {"atomics": "none", "max_qp_wr": 100, "max_cqe": 1000, "max_srq": 0}},
            "--op", "fetch-add,write", "-r", "100,101",
        )
        ids = {case["id"]: case for case in json.loads(ended.out)["cases"]}
        self.assertEqual(
            {name: case["error"] for name, case in ids.items() if case["status"] == "skipped"},
            {
                "fetch-add/lat/8/poll/r100":
                    f"{ADDRESS}'s {WHERE}: the device does not support atomics",
                "fetch-add/lat/8/poll/r101":
                    f"{ADDRESS}'s {WHERE}: the device does not support atomics",
                "write/lat/64/poll/r101":
                    f"{ADDRESS}'s {WHERE}: receive queue depth 101 exceeds the device's limit 100",
            },
        )
        self.assertEqual(ids["write/lat/64/poll/r100"]["error"], f"{ADDRESS}: made up")
        cases = [message for message in ended.messages if message["type"] == "case"]
        self.assertEqual(
            [(case["parameters"]["op"], case["parameters"]["rx-depth"]) for case in cases],
            [("write", 100)],
        )
        self.assertEqual(ended.status, 1)

    def check_nothing_left(self, options, sentence, facts=None, port=None):
        ended = self.run_against(facts or {}, *options, port=port)
        self.assertRegex(
            ended.err,
            f"^verbmark: no case can run: [^ ]+: {ADDRESS}'s {WHERE}: {sentence}$",
        )
        self.assertEqual((ended.out, ended.status), ("", 2))
        self.assertEqual([message["type"] for message in ended.messages], ["bye"])

    def test_nothing_is_left(self):
        self.check_nothing_left(
            ("--op", "fetch-add,compare-swap", "--metric", "lat,bw"),
            "the device does not support atomics",
            {"device": {"atomics": "none"}},
        )
        self.check_nothing_left(
            ("--use-srq",), "the device does not support shared receive queues",
            {"device": {"max_srq": 0}}
        )
        self.check_nothing_left(
            ("-c", "UC"), "the device does not support UC", {"device": {"max_inline": {"RC": 64}}}
        )
        if IS_SOFT:
            self.check_nothing_left(
                ("-c", "XRC"), "the device does not support XRC",
                {"device": {"max_inline": {"RC": 64, "UC": 64, "UD": 64}}}
            )
        self.check_nothing_left(
            ("-c", "UD", "-s", "1025,4096"),
            "message size 1025 exceeds the MTU 1024, the limit of a datagram",
            port={"mtu": 1024},
        )

    def test_unknown_limits(self):
        ended = self.run_against({}, "--op", "fetch-add", "--use-srq", "-I", 64)
        self.assertIn("fetch-add", ended.out)
        self.assertEqual(ended.messages[0]["type"], "case")


if not os.environ.get("SOFTROCE_ADDRESS"):
    raise unittest.SkipTest("no RDMA device")
