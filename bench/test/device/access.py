# SPDX-License-Identifier: MIT
"""Access patterns: which addresses of a buffer messages use, and the buffer's size."""

from verbmark import CASE, HELLO, Ended, Peer, Served, client, measure

LARGEST = 64 << 30
NO_MEMORY = r"no memory for a buffer of \d+ bytes: this machine has \d+ MiB left"
WALKING = "send,write,read,write-imm,fetch-add,compare-swap"
ACCESSES = "sequential,random,stride=256"


class Access(Served):
    def measure(self, *options):
        cases = measure(self.server, *options).document["cases"]
        for case in cases:
            self.assertEqual(case["status"], "complete", case)
        return cases

    def check_places(self, cases, count):
        for case in cases:
            for end in case["chosen"].values():
                self.assertEqual(end["places"], count, case["id"])
                self.assertGreaterEqual(end["buffer_bytes"], case["buffer"])

    def test_latencies(self):
        """Eight laps around the buffer in several trials: no old message passes for a new one."""
        cases = self.measure(
            "--op", WALKING, "-n", 2048, "--trials", 3, "--buffer", "64k", "--access", ACCESSES
        )
        self.assertEqual(len(cases), 18)
        for case in cases:
            self.assertEqual(case["latency_ns"]["count"], 3 * 2048, case["id"])
        self.check_places([case for case in cases if case["access"].startswith("stride")], 256)
        atomics = [case for case in cases if case["size"] == 8 and case["access"] == "random"]
        self.assertEqual(len(atomics), 2)
        self.check_places(atomics, 8192)

    def test_few_places(self):
        """More laps than there are sequence numbers, with one and with two addresses."""
        for buffer, count in ((64, 1), (128, 2)):
            cases = self.measure("--op", "write", "-n", 1500, "--buffer", buffer)
            self.assertEqual([case["access"] for case in cases], ["random"])
            self.check_places(cases, count)

    def test_datagrams_and_events(self):
        self.measure("-c", "ud", "-n", 300, "--buffer", "32k", "--metric", "lat", "--cq", "poll,event")
        cases = self.measure("--op", "write", "-n", 300, "--buffer", "32k", "--cq", "event")
        self.assertEqual(cases[0]["latency_ns"]["kind"], "completion")

    def test_streams(self):
        bw = ("--metric", "bw", "-n", 3000, "--buffer", "1m", "--op")
        cases = self.measure(*bw, WALKING, "--access", ACCESSES, "-q", 4)
        self.assertEqual(len(cases), 18)
        self.check_places(
            [case for case in cases if case["size"] == 64 and case["access"] == "random"], 4096
        )
        self.measure(*bw, "send,write,read", "-l", 4)
        self.measure(*bw, "send,write,write-imm", "-b")
        self.measure(*bw, "send,read", "--latencies", "--sge", 3)
        self.measure(*bw, "send", "--use-srq")
        self.measure(*bw, "write", "-I", 0, "-l", 8)

    def test_loads(self):
        cases = self.measure(
            "--metric", "load", "--rate", "2k", "-n", 300, "--op", WALKING, "--buffer", "64k",
            "--access", ACCESSES, "-q", 2,
        )  # fmt: skip
        self.assertEqual(len(cases), 18)
        for case in cases:
            self.assertEqual(case["latency_ns"]["count"], 300, case["id"])

    def test_default_is_shown(self):
        ended = measure(self.server, "-n", 20)
        self.assertEqual(ended.document["cases"][0]["access"], "same")
        self.assertIn(" RC 1 QP access same", ended.err)
        ended = measure(self.server, "--metric", "lat,bw", "-n", 20)
        self.assertEqual([case["access"] for case in ended.document["cases"]], ["same", "random"])
        self.assertEqual(ended.document["cases"][1]["buffer"], 4 << 20)
        self.assertIn(" RC 1 QP access lat same, bw random", ended.err)
        ended = measure(self.server, "-n", 20, "--buffer", "64k,128k")
        self.assertIn(" RC 1 QP access random", ended.err)
        self.assertEqual(
            [case["id"] for case in ended.document["cases"]],
            ["send/lat/64/poll/buffer64k", "send/lat/64/poll/buffer128k"],
        )

    def test_buffer_exceeds_memory(self):
        """A client or server without enough memory says so before it touches any, and survives."""
        with open("/proc/meminfo", encoding="ascii") as file:
            kib = next(int(line.split()[1]) for line in file if line.startswith("MemTotal:"))
        if kib * 1024 > LARGEST:
            print("# this machine has more than 64 GiB")
            return
        before = self.server.rss_kib()
        ended = Ended(client("-n", 20, "--buffer", "64g", port=self.server.port))
        self.assertEqual(ended.status, 1)
        self.assertRegex(ended.out + ended.err, NO_MEMORY)
        with Peer.dial(self.server.port) as peer:
            peer.send(HELLO)
            peer.expect("welcome")
            peer.send(CASE | {"parameters": {"op": "write", "buffer": LARGEST}})
            self.assertRegex(peer.expect("failed")["reason"], NO_MEMORY + "|above this server's limit")
        self.assertLess(self.server.rss_kib(), before + 65536)
        measure(self.server, "-n", 20)
