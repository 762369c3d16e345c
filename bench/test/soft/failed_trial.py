# SPDX-License-Identifier: MIT
"""A trial that fails in a run with a budget: what the case keeps, and what the run reports."""

import documents
from soft.choice import OnSoft, SOFT

# Without an end in sight: only the failure of a trial after the sixth ends the run. Two trials in a
# row must be precise, and the sixth is the first that can be, so there always is a seventh.
BUDGET = ("--budget", "1h", "--precision", 1, "-n", 50, "--warmup", "0s")


class FailedTrial(OnSoft):
    def run_faulty(self, fault, *options):
        """Runs cases whose client has that fault, once per trial; returns them and the output."""
        ended = self.run_it(
            "run", *SOFT, *BUDGET, *options, "--json", "r.json",
            env=dict(self.environment, VERBMARK_SOFT_FAULTS=fault),
        )
        document = documents.parse(self.good("report", "--format", "json", "r.json").out)
        failed = [row for row in document["warnings"] if row["code"] == "failed-trial"]
        return ended, document, failed

    def test_trials_before_it_are_kept(self):
        """Each case has a trial that fails, and keeps the trials before it."""
        ended, document, failed = self.run_faulty("rdma_connect#13+=ENETUNREACH", "--op", "write,read")
        self.assertEqual(ended.status, 0, ended.err)
        self.assertEqual(document["run"]["status"], "complete")
        for case in document["cases"]:
            self.assertEqual((case["status"], len(case["trials"])), ("complete", 6))
            self.assertEqual(case["latency_ns"]["count"], 6 * 50)
            self.assertNotIn("error", case)
            self.assertTrue(case["chosen"]["server"])
        self.assertEqual(len(failed), 2)
        # The case with the wider interval gets its seventh trial first.
        if not failed[0]["what"].startswith("write/"):
            failed.reverse()
        for case, warning in zip(document["cases"], failed, strict=True):
            self.assertTrue(warning["spoils"])
            self.assertRegex(warning["what"], f"^{case['id']}: trial 7 failed and is not counted: "
                             ".*cannot connect: Network is unreachable$")
            self.assertIn(warning["what"], ended.out)
            for form in ("markdown", "html"):
                self.assertIn("trial 7 failed",
                              self.good("report", "--format", form, "r.json").out)

    def test_failure_while_measuring(self):
        """The messages of a trial that fails halfway are not part of the result."""
        ended, document, failed = self.run_faulty("send#320=RETRY_EXC_ERR", "--op", "write")
        (case,) = document["cases"]
        self.assertEqual((ended.status, case["status"]), (0, "complete"))
        self.assertEqual(case["latency_ns"]["count"], 6 * 50)
        self.assertRegex(failed[0]["what"], "trial 7 .*retry counter exceeded: .*; 19 of 50 messages")

    def test_minimum_is_required(self):
        """A case without six trials has failed."""
        ended, document, failed = self.run_faulty("rdma_connect#6=ENETUNREACH", "--op", "write")
        (case,) = document["cases"]
        self.assertEqual((ended.status, case["status"], case["trials"]), (1, "failed", []))
        self.assertIn("Network is unreachable", case["error"])
        self.assertEqual(failed, [])

    def test_verified_data(self):
        """With --verify, every trial must succeed."""
        ended, document, failed = self.run_faulty(
            "rdma_connect#7=ENETUNREACH", "--op", "send", "--verify"
        )
        (case,) = document["cases"]
        self.assertEqual((ended.status, case["status"], case["trials"]), (1, "failed", []))
        self.assertEqual(failed, [])
