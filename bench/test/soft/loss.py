# SPDX-License-Identifier: MIT
"""Datagrams on the software device: what counts as bandwidth, and how losses are reported."""

import documents
from soft.choice import OnSoft, SOFT

DATAGRAMS = (*SOFT, "--op", "send", "--transport", "ud", "--metric", "bw", "--trials", 1)
# During the warm-up, which lasts for at least a hundred messages and 20 ms.
STALLED = "peer#100=stall:10s"
NOTHING = (
    r"^no message arrived during the measurement \(sent in total: \d+, arrived: \d+\): "
    "UC and UD do not retransmit"
)
# A receiver that gets no CPU during the whole warm-up sees earlier messages only afterwards.
TRIES = 5


class Measured(OnSoft):
    def run_stalled(self, *options):
        """Runs a case in which no message arrives during the measurement; returns its error."""
        ended = self.run_it(
            "run", *DATAGRAMS, "-D", "100ms", "--json", "-", *options,
            env=dict(self.environment, VERBMARK_SOFT_FAULTS=STALLED),
        )
        (case,) = documents.parse(ended.out)["cases"]
        return case.get("error", "complete")

    def check(self, *options):
        for _ in range(TRIES):
            error = self.run_stalled(*options)
            if error != "complete":
                break
        self.assertRegex(error, NOTHING)

    def test_messages_of_warmup_are_no_bandwidth(self):
        self.check()

    def test_bidirectional(self):
        self.check("-b")


class Reported(OnSoft):
    def test_worst_loss_is_reported_once(self):
        """The receiver takes one message in 200 us, so most of them are lost."""
        # Long enough for the receiver to get a CPU on a busy machine.
        ended = self.good(
            "run", *DATAGRAMS, "--think", "200us", "-s", "64,1k", "-D", "300ms", "--json", "r.json"
        )
        document = documents.parse(self.good("report", "--format", "json", "r.json").out)
        losses = [case["loss"] for case in document["cases"]]
        worst = max(loss["lost"] * 1000 // loss["sent"] for loss in losses)
        (finding,) = [row for row in document["warnings"] if row["code"] == "lost-messages"]
        self.assertTrue(finding["spoils"])
        (line,) = [row for row in ended.out.splitlines() if "messages were lost" in row]
        self.assertIn(f": {worst // 10}.{worst % 10} % of the messages were lost", line)
        for text in (finding["what"], finding["mend"]):
            self.assertIn(text, line)

    def test_sent_includes_the_warmup(self):
        """Losses are relative to everything that was sent; a warm-up is at least 100 messages."""
        self.good("run", *DATAGRAMS, "-n", 200000, "--json", "r.json")
        document = documents.parse(self.good("report", "--format", "json", "r.json").out)
        (case,) = document["cases"]
        self.assertGreaterEqual(case["loss"]["sent"], 200000 + 100)
