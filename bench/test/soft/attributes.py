# SPDX-License-Identifier: MIT
"""Attributes of queues and memory that Soft-RoCE in the kernel lacks."""

import os
import re

from soft.choice import OnSoft, SOFT

SHORT = (*SOFT, "--warmup", "0ms", "--trials", 1)


class Attributes(OnSoft):
    def calls(self, *options):
        """Returns the document of a run, and how often both ends made each call."""
        report = f"{self.folder}/report"
        document = self.document(
            *SHORT, *options,
            env=dict(self.environment, VERBMARK_SOFT_FAULTS=f"count;report={report}"),
        )
        counts = {}
        with open(report, encoding="ascii") as lines:
            for line in lines:
                count, name = re.search(r"count (\d+): (\S+)$", line).groups()
                counts[name] = counts.get(name, 0) + int(count)
        os.remove(report)
        return document, counts

    def skipped(self, *options):
        """Returns why the only case is skipped."""
        ended = self.run_it("run", *SHORT, *options)
        self.assertEqual(ended.status, 2, ended.out)
        return ended.err + ended.out

    def test_event_moderation(self):
        document, counts = self.calls(
            "-n", 50, "--cq", "event", "--event-count", "4,8", "--event-period", "20us"
        )
        self.assertEqual(counts["ibv_modify_cq"], 4)
        self.assertEqual(
            [case["id"] for case in document["cases"]],
            ["send/lat/64/event/events4/period20us", "send/lat/64/event/events8/period20us"],
        )
        # Only the side that waits for events moderates them.
        _, counts = self.calls("-n", 50, "--server-cq", "event", "--event-count", 4)
        self.assertEqual(counts["ibv_modify_cq"], 1)
        _, counts = self.calls("-n", 50, "--cq", "event")
        self.assertNotIn("ibv_modify_cq", counts)
        self.assertIn(
            "--event-period 5000us exceeds the device's limit 4095us",
            self.skipped("--cq", "event", "--event-count", 4, "--event-period", "5ms"),
        )

    def test_lists_of_receives(self):
        """Both ends post 50 receives; what arrives at the server is reposted in lists."""
        for each, srq in ((1, ()), (10, ()), (50, ("--use-srq",))):
            with self.subTest(each=each):
                _, counts = self.calls(
                    "--metric", "bw", "-r", 50, "--recv-post-list", each, "-n", 500, *srq
                )
                posts = counts["ibv_post_srq_recv" if srq else "ibv_post_recv"]
                # The last ones arrive when the server no longer needs them.
                self.assertLessEqual(posts - 2 * 50, counts["receive"] // each)
                self.assertGreaterEqual(posts - 2 * 50, (counts["receive"] - 100) // each)

    def test_rate_limit(self):
        """What is measured cannot exceed the limit."""
        document, counts = self.calls(
            "--metric", "bw", "-s", "1000", "-n", 200, "--rate-limit", "50Mb/s,100Mb/s"
        )
        self.assertEqual(counts["ibv_modify_qp_rate_limit"], 4)
        for limit, case in zip((50e6, 100e6), document["cases"], strict=True):
            self.assertLess(8 * case["bandwidth"]["bytes_per_s"], 1.1 * limit)
        self.assertIn(
            "--rate-limit 200gbit exceeds the device's limits, 1kbit to 100gbit",
            self.skipped("--metric", "bw", "--rate-limit", "200Gb/s"),
        )

    def test_bursts(self):
        """Bursts change neither the number of messages nor the rate that is reported."""
        document, _ = self.calls(
            "--metric", "load", "--rate", "10k", "-n", 400, "--burst", "1,20"
        )
        single, bursts = document["cases"]
        self.assertEqual((single["burst"], bursts["burst"]), (1, 20))
        for case in (single, bursts):
            self.assertEqual(case["trials"][0]["messages"], 400)
            self.assertEqual(case["load"]["rate"], 10000)

    def test_payload(self):
        """The server's buffer is a file, which has what arrived after what it sends."""
        for length, size in ((7, 5000), (100000, 70000)):
            with self.subTest(length=length):
                content = bytes(i * 31 % 251 for i in range(length))
                with open(f"{self.folder}/payload", "wb") as file:
                    file.write(content)
                with open(f"{self.folder}/arrived", "wb") as file:
                    file.truncate(1 << 20)
                self.good(
                    "run", *SHORT, "--no-save", "-n", 20, "-s", size, "--payload", "payload",
                    "--server-memory", f"file:{self.folder}/arrived",
                )
                # A latency test uses the last byte of each message.
                expected = (content * (size // length + 1))[: size - 1]
                with open(f"{self.folder}/arrived", "rb") as file:
                    self.assertTrue(expected in file.read())

    def test_bad_payload(self):
        open(f"{self.folder}/empty", "wb").close()
        for file, why in (("missing", "cannot open missing: No such file"), ("empty", "empty is empty"),
                          (".", "cannot read .: Is a directory")):
            ended = self.run_it("run", *SHORT, "-n", 20, "--payload", file)
            self.assertEqual(ended.status, 1, ended.out)
            self.assertIn(f"--payload: {why}", ended.err)
        for options in (("--verify",), ("--op", "read")):
            ended = self.run_it("run", *SHORT, "-n", 20, "--payload", "empty", *options)
            self.assertEqual(ended.status, 2, ended.err)

    def test_null_memory(self):
        """The client's buffer has no memory, and the server's has none where it only receives."""
        for operation, metrics, ends in (("send", "lat,bw", 2), ("read", "lat,bw", 1), ("write", "bw", 1)):
            document, counts = self.calls(
                "-n", 200, "--op", operation, "--metric", metrics, "-s", "64,70000",
                "--memory", "null", *(("--server-memory", "null") if ends == 2 else ()),
            )
            for case in document["cases"]:
                self.assertEqual(case["chosen"]["client"]["memory_path"], "ibv_alloc_null_mr")
            # A buffer for each case, after each host has tried whether the device has null regions.
            self.assertEqual(counts["ibv_alloc_null_mr"], len(document["cases"]) * ends + 2)

    def test_regions(self):
        """Three queue pairs have a region each, at both ends, instead of one for all."""
        for operation, connect in (("write", "cm"), ("read", "qp"), ("write-notify", "cm")):
            registered = []
            for options in ((), ("--mr-per-qp",)):
                _, counts = self.calls(
                    "--op", operation, "--metric", "bw", "-q", 3, "-n", 300, "--connect", connect,
                    *options,
                )
                registered.append(counts["ibv_reg_mr_iova2"])
            self.assertEqual(registered[1] - registered[0], 2 * 2)
