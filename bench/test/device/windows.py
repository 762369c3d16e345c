# SPDX-License-Identifier: MIT
"""Memory windows, sends that invalidate them, immediate data and atomic writes."""

from verbmark import IS_SOFT, Served, measure

MODES = ("poll", "event")
COUNT = 300  # more than the 256 keys of a window


class Windows(Served):
    def cases(self, *options, count):
        cases = measure(self.server, *options, "--trials", 1).document["cases"]
        self.assertEqual(len(cases), count)
        for case in cases:
            self.assertEqual(case["status"], "complete", case)
        return cases

    def test_binding(self):
        """A window of type 2 is bound and invalidated for each sample, one of type 1 only bound."""
        completions = {"bind-mw": 2 * COUNT, "rebind-mw": COUNT, "local-inv": 2 * COUNT}
        for case in self.cases(
            "--op", ",".join(completions), "--cq", ",".join(MODES), "-n", COUNT, count=6
        ):
            self.assertEqual(case["latency_ns"]["kind"], "completion")
            self.assertEqual(case["latency_ns"]["count"], COUNT)
            self.assertEqual(case["cpu"]["client"]["completions"], completions[case["op"]])
            self.assertEqual(case["cpu"]["server"]["completions"], 0)

    def test_streams_of_bindings(self):
        for case in self.cases(
            "--op", "bind-mw,rebind-mw", "--metric", "bw", "--cq", ",".join(MODES), "-q", "1,3",
            "-t", "1,16", "-n", 5 * COUNT, count=16,
        ):
            self.assertEqual(case["bandwidth"]["messages"], 5 * COUNT)
            self.assertEqual(case["cpu"]["server"]["completions"], 0)

    def test_send_with_invalidate(self):
        """If a reply did not invalidate the window, the client could not bind it again."""
        for case in self.cases(
            "--op", "send-inv", "--cq", ",".join(MODES), "-s", "1,64k", "--verify", "-n", COUNT,
            count=4,
        ):
            self.assertEqual(case["latency_ns"]["kind"], "full")
            self.assertEqual(case["latency_ns"]["count"], COUNT)
        self.cases("--op", "send-inv", "--threads", 2, "--use-srq", "-n", COUNT, count=1)

    def test_immediate_data(self):
        for case in self.cases(
            "--op", "send-imm", "--cq", ",".join(MODES), "-c", "RC,UC,UD", "--verify", "-n", COUNT,
            count=6,
        ):
            self.assertEqual(case["latency_ns"]["kind"], "half")
        self.cases(
            "--op", "send-imm", "--metric", "bw", "-l", "1,4", "-c", "RC,UD", "-n", 5 * COUNT, count=4
        )

    def test_atomic_writes(self):
        """Soft-RoCE has them since Linux 6.3."""
        common = ("--op", "send,atomic-write", "-s", 8, "-n", COUNT, "--trials", 1)
        for options in (("--cq", ",".join(MODES)), ("--metric", "bw", "-l", "1,4")):
            cases = measure(self.server, *common, *options).document["cases"]
            self.assertEqual(len(cases), 4)
            for case in cases:
                if IS_SOFT or case["op"] == "send" or case["status"] != "skipped":
                    self.assertEqual(case["status"], "complete", case)
                else:
                    self.assertIn("does not support atomic writes", case["error"])
