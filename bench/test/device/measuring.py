# SPDX-License-Identifier: MIT
"""Latency of each operation, mode and size: figures must be consistent and plausible."""

import itertools
import os
import re

from verbmark import (
    ADDRESS, DEVICE, RUN_PATIENCE, Ended, Served, Server, below_heading, client, counter, measure,
    wait_until, wait_until_settled, warmed_up,
)

MODES = ("poll", "event", "adaptive")


def kind_of(op, cq, server_cq):
    if op == "read":
        return "full"
    if op == "write" and (cq, server_cq) != ("poll", "poll"):
        return "completion"
    return "half"


class Measuring(Served):
    def check_case(self, case, messages):
        latency = case["latency_ns"]
        histogram = latency["histogram"]
        self.assertEqual(case["status"], "complete")
        self.assertEqual(case["transport"], "RC")
        self.assertEqual(latency["kind"], kind_of(case["op"], case["cq"], case["server_cq"]))
        self.assertEqual(latency["count"], messages)
        self.assertEqual(histogram["count"], messages)
        self.assertEqual(histogram["over"] + sum(row[2] for row in histogram["bins"]), messages)
        self.assertAlmostEqual(latency["mean"], histogram["sum"] / messages, delta=1e-3)
        self.assertEqual(latency["min"], histogram["min"])
        self.assertEqual(latency["max"], histogram["max"])
        self.assertLessEqual(latency["min"], latency["p50"])
        if messages >= 100:
            self.assertLessEqual(latency["p50"], latency["p90"])
            self.assertLessEqual(latency["p90"], latency["max"])
        # A percentile with fewer than ten samples beyond it is omitted.
        self.assertNotIn("p99", latency)
        low, high, _ = histogram["bins"][0]
        self.assertTrue(low <= latency["min"] < high)
        (trial,) = case["trials"]
        warmup = trial["warmup"]
        self.assertTrue(warmed_up(trial), warmup)
        self.assertEqual(trial["messages"], messages)
        self.assertEqual(trial["cpu"], case["cpu"])
        # Samples do not overlap, so they fit into the interval; 1 % is for readings of the clock.
        factor = 2 if latency["kind"] == "half" else 1
        self.assertLessEqual(histogram["sum"] * factor, trial["duration_ns"] * 1.01)
        self.assertEqual(case["cpu"]["client"]["messages"], messages)
        if latency["kind"] == "half":
            self.assertEqual(case["cpu"]["server"]["messages"], messages + warmup["messages"])

    def check_product(self, ops, sizes, cqs, server_cqs=None, messages=100):
        options = ["--op", ",".join(ops), "-s", ",".join(sizes), "--cq", ",".join(cqs)]
        if server_cqs:
            options += ["--server-cq", ",".join(server_cqs)]
        document = measure(self.server, *options, "-n", messages).document
        cases = document["cases"]
        self.assertEqual(document["schema"], "verbmark.result/1")
        self.assertEqual(document["run"]["status"], "complete")
        self.assertEqual(document["run"]["command"][:3], ["verbmark", "run", ADDRESS])
        ids = []
        for op, size, cq, server_cq in itertools.product(ops, sizes, cqs, server_cqs or [None]):
            other = f"/server-{server_cq}" if server_cq not in (None, cq) else ""
            ids.append(f"{op}/lat/{size}/{cq}{other}")
        self.assertEqual([case["id"] for case in cases], ids)
        for case in cases:
            with self.subTest(case["id"]):
                self.check_case(case, messages)
        return cases

    def test_each_operation_mode_and_size(self):
        for op in ("send", "write", "read"):
            cases = self.check_product((op,), ("1", "64", "4k", "64k"), MODES)
            self.assertEqual([case["size"] for case in cases[::3]], [1, 64, 4096, 65536])
            self.check_events(cases)

    def test_one_mebibyte(self):
        cases = self.check_product(
            ("send", "write", "read"), ("1m",), ("poll", "event"), messages=20
        )
        self.assertEqual([case["size"] for case in cases], 6 * [1048576])

    def check_events(self, cases):
        for case in cases:
            events = case["cpu"]["client"]["cq_events"]
            if case["cq"] == "poll":
                self.assertEqual(events, 0)
            # On one machine rxe completes a one-sided operation while it is posted, so the first
            # look at the queue finds the completion and nobody sleeps.
            if case["cq"] == "event" and case["op"] == "send":
                self.assertGreater(events, 0)

    def test_different_modes_of_client_and_server(self):
        cases = self.check_product(("send", "write", "read"), ("64",), MODES, MODES)
        for case in cases:
            if case["op"] == "send" and case["server_cq"] != "adaptive":
                events = case["cpu"]["server"]["cq_events"]
                self.assertEqual(events > 0, case["server_cq"] == "event", case["id"])

    def test_hosts_in_the_document(self):
        document = measure(self.server, "-n", 100).document
        for end in document["hosts"].values():
            self.assertEqual(end["device"], DEVICE)
            self.assertEqual(end["port"], 1)
            self.assertEqual(end["address"], ADDRESS)
            self.assertEqual(end["host"], os.uname().nodename)
            self.assertEqual(end["mtu"], 4096)

    def test_table_and_file(self):
        path = f"{os.environ['OUT']}/result.json"
        with client("-n", 100, "-s", "64,1k", "--json", path, port=self.server.port) as program:
            self.assertEqual(program.wait(), 0)
            self.assertEqual(program.err, [])
            head, constants, titles, *lines, last = below_heading(program.out)
        os.unlink(path)
        self.assertIn(f"{DEVICE}/1 -> ", head)
        self.assertTrue(constants.startswith("LATENCY us: poll, half a round trip"))
        self.assertEqual(titles.split()[:2], ["size", "p50"])
        # Warnings follow the table.
        self.assertEqual([line.split()[:2] for line in lines[:2]], [["send", "64"], ["send", "1k"]])
        self.assertRegex(last, rf"^2 of 2 cases complete in [0-9]+ s; saved to {re.escape(path)}$")

    def test_other_names_of_the_server(self):
        for host in (os.environ["SOFTROCE_ADDRESS6"], os.uname().nodename, "127.0.0.1", "::1"):
            with self.subTest(host):
                document = measure(self.server, "-n", 50, host=host).document
                self.assertEqual(document["run"]["status"], "complete")
        six = measure(self.server, "-n", 50, host=os.environ["SOFTROCE_ADDRESS6"]).document
        self.assertEqual(six["hosts"]["server"]["address"], os.environ["SOFTROCE_ADDRESS6"])

    def test_devices_by_name(self):
        measure(self.server, "-n", 50, "-d", DEVICE, "--server-device", DEVICE)
        for option, who in (("-d", ""), ("--server-device", f"{ADDRESS}: ")):
            ended = Ended(client("-n", 50, option, "mlx5_0", port=self.server.port))
            self.assertEqual(ended.status, 1)
            self.assertEqual(ended.err, f"verbmark: {who}no device 'mlx5_0'; available: {DEVICE}")

    def test_port_of_a_device(self):
        document = measure(self.server, "-n", 50, "-i", 1).document
        self.assertEqual(document["hosts"]["client"]["port"], 1)
        measure(self.server, "-n", 50, "-d", DEVICE, "-i", 1)
        for options, who in ((("-i", 2), "no device has port 2"),
                             (("-d", DEVICE, "-i", 2), f"{DEVICE} has no port 2")):
            ended = Ended(client("-n", 50, *options, port=self.server.port))
            self.assertEqual(ended.status, 1)
            self.assertEqual(ended.err, f"verbmark: {who}; available: {DEVICE}/1")

    def test_consecutive_clients(self):
        for _ in range(5):
            measure(self.server, "-n", 50)

    def test_four_concurrent_clients(self):
        programs = [
            client("-n", 500, "-s", "64,4k", "--cq", "event", port=self.server.port)
            for _ in range(4)
        ]
        for program in programs:
            with program:
                self.assertEqual(program.wait(RUN_PATIENCE), 0, program.errors)

    def test_client_that_waits_for_the_server(self):
        with Server() as first:
            port = first.port
        with client("-n", 50, "--wait", "60s", port=port) as program:
            # When the client pauses between two tries, the first one has failed.
            wait_until(lambda: sleeps(program.pid), what="a pause of the client")
            with Server("-p", port):
                self.assertEqual(program.wait(RUN_PATIENCE), 0, program.errors)


def sleeps(pid):
    with open(f"/proc/{pid}/wchan", encoding="ascii") as wchan:
        return "nanosleep" in wchan.read()


class Packets(Served):
    """Compares the number of messages with the device's own counters."""

    def check_packets(self, op, cq, size, per_message):
        before = counter("sent_pkts")
        retries = counter("completer_retry_err")
        case = measure(self.server, "--op", op, "--cq", cq, "-s", size, "-n", 500).document[
            "cases"
        ][0]
        messages = case["latency_ns"]["count"] + case["trials"][0]["warmup"]["messages"]
        wanted = messages * per_message
        sent = wait_until_settled() - before
        # The connection needs a handful: REQ, REP, RTU, DREQ, DREP, some of them twice. On a busy
        # machine an acknowledgment may be late; rxe counts that and sends the message again.
        # Each packet of the duplicate is acknowledged.
        again = counter("completer_retry_err") - retries
        self.assertGreaterEqual(sent, wanted)
        self.assertLessEqual(sent, wanted + 20 + again * 2 * per_message)

    def test_packets_of_send(self):
        # Ping and pong need a packet and an acknowledgment each: rxe acknowledges each SEND
        # separately.
        self.check_packets("send", "poll", 64, 4)
        # 64 KiB are 16 packets at this MTU; only the last one requests an acknowledgment.
        self.check_packets("send", "event", "64k", 2 * (16 + 1))

    def test_packets_of_write(self):
        # A ping-pong with polling of memory also consists of two messages.
        self.check_packets("write", "poll", 64, 4)
        self.check_packets("write", "poll", "4k", 4)
        # Up to the local completion: one message and its acknowledgment.
        self.check_packets("write", "event", 64, 2)
        self.check_packets("write", "event", "64k", 16 + 1)

    def test_packets_of_read(self):
        # The data acknowledge the request.
        self.check_packets("read", "poll", 64, 2)
        self.check_packets("read", "event", "64k", 1 + 16)
