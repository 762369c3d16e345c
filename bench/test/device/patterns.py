# SPDX-License-Identifier: MIT
"""Traffic patterns: several clients and servers at once, in threads of one process."""

import unittest

from verbmark import IS_SOFT, Ended, Served, client, measure

# Long enough for each flow to get its turn if CPUs are slow and fewer than threads.
SPELL_MS = 30 if IS_SOFT else 200
SPELL = ("-D", f"{SPELL_MS}ms", "-t", 8)
# The same with even more threads than CPUs.
LONG_SPELL = ("-D", "200ms", "-t", 8)

PATTERNS = "one-to-one,many-to-one,one-to-many,all-to-all"


def jain(rates):
    """Implements the definition in R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984."""
    return sum(rates) ** 2 / (len(rates) * sum(rate * rate for rate in rates))


def ends_of(case):
    return [(flow["from"], flow["to"]) for flow in case["flows"]["flows"]]


class InOneProcess(Served):
    def check_flows(self, case):
        """Checks that flows add up and that the fairness index matches its definition."""
        flows = case["flows"]["flows"]
        self.assertEqual(case["status"], "complete", case)
        self.assertEqual(sum(flow["messages"] for flow in flows), case["bandwidth"]["messages"])
        # On a busy machine some flow may have had no turn.
        for flow in (flow for flow in flows if flow["messages"]):
            seconds = flow["duration_ns"] / 1e9
            self.assertAlmostEqual(flow["messages_per_s"] * seconds / flow["messages"], 1)
            self.assertAlmostEqual(flow["bytes_per_s"], flow["messages_per_s"] * case["size"])
        self.assertAlmostEqual(
            case["flows"]["fairness"], jain([flow["messages_per_s"] for flow in flows])
        )

    def test_patterns(self):
        wanted = {
            "one-to-one": [(0, 0), (1, 1), (2, 2)],
            "many-to-one": [(0, 0), (1, 0), (2, 0)],
            "one-to-many": [(0, 0), (0, 1), (0, 2)],
            "all-to-all": [(client, server) for client in range(3) for server in range(3)],
        }
        for connect in ("cm", "qp"):
            document = measure(
                self.server, "--op", "write,send,read", "-s", "512", *SPELL, "-q", 2,
                "--trials", 2, "--threads", 3, "--pattern", PATTERNS, "--connect", connect,
            ).document
            self.assertEqual(len(document["cases"]), 12)
            for case in document["cases"]:
                with self.subTest(case["id"]):
                    self.check_flows(case)
                    self.assertEqual(
                        ends_of(case),
                        [(f"client {source}", f"server {target}")
                         for source, target in wanted[case["pattern"]]],
                    )
                    for flow in case["flows"]["flows"]:
                        self.assertGreaterEqual(flow["duration_ns"], 2 * SPELL_MS * 1e6)

    def test_payload_verification(self):
        """Each queue pair's messages arrive in its own buffer."""
        document = measure(
            self.server, "--op", "send,read", "--verify", "-s", "100", "-D", "200ms", "-t", 8,
            "-q", 2, "--threads", 3, "--pattern", PATTERNS,
        ).document
        for case in document["cases"]:
            self.check_flows(case)

    def test_notifications_and_bidirectional(self):
        document = measure(
            self.server, "--op", "write-notify,write-imm,fetch-add", "-s", "64", *LONG_SPELL,
            "--threads", 2, "--pattern", PATTERNS,
        ).document
        for case in document["cases"]:
            self.check_flows(case)
        document = measure(
            self.server, "--op", "send,write", "-b", *LONG_SPELL, "--threads", 2, "--use-srq",
            "--access", "same", "--pattern", PATTERNS,
        ).document
        for case in document["cases"]:
            self.check_flows(case)
            self.assertGreater(case["bandwidth"]["total"]["bytes_per_s"],
                               case["bandwidth"]["bytes_per_s"])

    def test_invalid_options(self):
        for options, sentence in (
            ((), "--pattern needs --threads above 1"),
            (("--threads", 2, "--metric", "lat"), "--pattern applies only to bw"),
            (("--threads", 2, "-n", 5), "--pattern needs a common duration; use -D instead of -n"),
        ):
            ended = Ended(client("--pattern", "many-to-one", *options, port=self.server.port))
            self.assertEqual(ended.status, 2)
            self.assertIn(sentence, ended.err)


if __name__ == "__main__":
    unittest.main()
