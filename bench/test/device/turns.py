# SPDX-License-Identifier: MIT
"""Interleaved trials and the comparison of their cases; and the tips, which are such a run."""

import json
import math
import os
import re
import signal
import statistics
import subprocess
import unittest

import documents
from verbmark import (
    ADDRESS, IS_SOFT, PATIENCE, RUN_PATIENCE, VERBMARK, Ended, Program, Served, client, measure,
    wait_until,
)

SHORT = ("-D", "5ms", "--warmup", "1ms")
# Enough messages for a median, however slow the machine is.
COUNTED = ("-n", 50, "--warmup", "1ms")
TIPS = ["inline", "post-list", "cq", "registration", "tx-depth", "cq-depth", "pin", "hugepages"]


def values_outside(count):
    """
    Returns how many of that number of values are on each side of the confidence interval of their
    median (95 %): by the sign test, a value of each half is as likely as heads of a coin.
    """
    outside, chance = 0, 1 / 2 ** count
    while chance <= 0.025:
        outside += 1
        chance += math.comb(count, outside) / 2 ** count
    return outside - 1


class Turns(Served):
    def test_order(self):
        """The order alternates, so that drift affects all cases equally."""
        ended = measure(
            self.server, "--op", "send,write,read", *SHORT, "--trials", 3, "--interleave",
            "--progress",
        )
        begun = re.findall(r"\d/3 cases, (\w+)/lat/64/poll", ended.err)
        # Progress does not repeat a case that has two trials in a row.
        self.assertEqual(begun, ["send", "write", "read", "write", "send", "write", "read"])
        for case in ended.document["cases"]:
            self.assertEqual(case["status"], "complete")
            self.assertEqual(len(case["trials"]), 3)
            self.assertEqual(
                case["latency_ns"]["count"], sum(trial["messages"] for trial in case["trials"])
            )
        # The cases do different things, so none is compared with another.
        self.assertNotIn("turns", ended.document)

    def test_ratios(self):
        """Ratios are those of trials of the same round; their median is recomputed here."""
        document = measure(
            self.server, "--op", "write", "--metric", "bw", "-l", "1,4,16", *SHORT, "--trials", 7,
            "--interleave",
        ).document
        first, *others = document["cases"]
        pairs = document["turns"][0]["pairs"]
        self.assertEqual([turns["by"] for turns in document["turns"]], ["post-list"])
        for case, pair in zip(others, pairs, strict=True):
            self.assertEqual(case["beside"], {"case": first["id"], "by": "post-list"})
            self.assertEqual((pair["case"], pair["beside"]), (case["id"], first["id"]))
            ratios = [
                with_it["bandwidth"]["messages_per_s"] / without["bandwidth"]["messages_per_s"]
                for with_it, without in zip(case["trials"], first["trials"], strict=True)
            ]
            self.assertAlmostEqual(pair["ratio"]["value"], statistics.median(ratios), places=9)
            low, high = (pair["ratio"]["interval"][key] for key in ("low", "high"))
            verdict = ("same" if 1 / 1.05 < low and high < 1.05 else
                       "better" if low > 1.05 else "worse" if high < 1 / 1.05 else "unclear")
            self.assertEqual(pair["verdict"], verdict)
            self.assertEqual("detectable" in pair, verdict == "unclear")

    @unittest.skipIf(IS_SOFT, "soft0 has no counters")
    def test_counters_cover_all_trials(self):
        """The device's counters include all 7 trials of a case, not only the last one."""
        cases = measure(
            self.server, "--op", "write", "-s", "64,128", "-n", 50, "--warmup", 0, "--trials", 7,
            "--interleave",
        ).document["cases"]
        for case in cases:
            self.assertGreaterEqual(case["counters"]["client"]["sent_pkts"], 7 * 50)

    def test_failed_case(self):
        """A failed case has its reason, and the others have all of their trials."""
        ended = Ended(client(
            "--op", "write,read", "--pin", "off,8191", *SHORT, "--trials", 3, "--interleave",
            "--json", "-", port=self.server.port,
        ), RUN_PATIENCE)  # fmt: skip
        self.assertEqual(ended.status, 1)
        cases = documents.parse(ended.out)["cases"]
        self.assertEqual([case["status"] for case in cases], ["complete", "failed"] * 2)
        for case in cases:
            self.assertEqual(len(case["trials"]), 3 if case["status"] == "complete" else 0)
            if case["status"] == "failed":
                self.assertIn("CPU 8191 is not available", case["error"])
        # A comparison that is not possible is listed with its reason.
        self.assertEqual(ended.err.count("not shown: "), 2)

    def test_interrupted(self):
        """The run ends at once; cases that lack trials have no figures."""
        path = f"{os.environ['OUT']}/turns.json"
        program = client("--op", "write,read", "-D", "200ms", "--trials", 100, "--interleave",
                         "--pin", "far,off", "--json", path, "--progress", port=self.server.port)
        self.addCleanup(program.kill)
        # Wait for three rounds. A machine without a far CPU does not end the run.
        wait_until(lambda: program.errors.count("write/lat/64/poll/pinoff") > 2, what="rounds")
        program.signal(signal.SIGINT)
        self.assertEqual(program.wait(), 1)
        document = documents.read(path)
        os.unlink(path)
        self.assertTrue(program.errors.endswith("verbmark: interrupted"), program.errors)
        statuses = {case["id"]: case["status"] for case in document["cases"]}
        for op in ("write", "read"):
            self.assertEqual(statuses[f"{op}/lat/64/poll/pinoff"], "interrupted")
        self.assertEqual([case["trials"] for case in document["cases"]], [[]] * 4)

    def test_killed(self):
        """Completed cases are on disk and can be read, whatever was in flight."""
        path = f"{os.environ['OUT']}/killed.json"
        program = client("--metric", "lat,bw", "-s", "64,128,256", "-D", "100ms", "--trials", 3,
                         "--interleave", "--json", path, "--progress", port=self.server.port)
        self.addCleanup(program.kill)
        wait_until(lambda: "send/bw/" in program.errors, what="the second list")
        program.signal(signal.SIGKILL)
        program.wait()
        subprocess.run([VERBMARK, "report", path], check=True, capture_output=True, timeout=PATIENCE)
        cases = documents.read(path)["cases"]
        os.unlink(path)
        self.assertEqual([(case["metric"], case["status"]) for case in cases],
                         [("lat", "complete")] * 3 + [("bw", "interrupted")] * 3)


class Budget(Served):
    def test_minimum(self):
        """Every case has the minimum of trials, whatever the budget; rounds alternate."""
        ended = measure(self.server, "--op", "send,write", "-s", "64,4k", "--metric", "lat,bw",
                        *COUNTED, "--budget", "1ms", "--progress")
        cases = ended.document["cases"]
        self.assertEqual([len(case["trials"]) for case in cases], [6] * 8)
        begun = re.findall(r"(\d)/8 cases, \w+/", ended.err)
        self.assertEqual("".join(begun), "1" + "23456787654321" * 3)
        self.check_precise(cases, ended.err, 5)

    def test_precision(self):
        """The document and the table say which cases have the precision."""
        ended = measure(self.server, "--op", "write", "--metric", "lat,bw", *COUNTED,
                        "--budget", "3s", "--precision", 50)  # fmt: skip
        cases = ended.document["cases"]
        for case in cases:
            self.assertGreaterEqual(len(case["trials"]), 6)
            self.assertEqual(case["precision"], 50)
        self.check_precise(cases, ended.err, 50)

    def check_precise(self, cases, shown, per_cent):
        for case in cases:
            values = sorted(one["bandwidth"]["messages_per_s"] if case["metric"] == "bw"
                            else one["latency_ns"]["p50"] for one in case["trials"])
            outside = values_outside(len(values))
            width = (values[-1 - outside] - values[outside]) / statistics.median(values)
            self.assertEqual(case["precise"], width <= per_cent / 100, case["id"])
        counts = sorted({len(case["trials"]) for case in cases})
        between = f"{counts[0]} to {counts[-1]}" if counts[1:] else counts[0]
        self.assertIn(
            f"{sum(case['precise'] for case in cases)} of {len(cases)} cases reached --precision, "
            f"in {between} trials\n", shown,
        )

    def test_interrupted(self):
        """Cases keep the trials that they had, and the run is not complete."""
        path = f"{os.environ['OUT']}/budget.json"
        # The minimum of trials is far from over when the signal arrives.
        program = client("--op", "write,read", "-D", "500ms", "--budget", "1h", "--json", path,
                         "--progress", port=self.server.port)
        self.addCleanup(program.kill)
        wait_until(lambda: program.errors.count("write/lat/64/poll") > 2, what="rounds")
        program.signal(signal.SIGINT)
        self.assertEqual(program.wait(), 1)
        document = documents.read(path)
        os.unlink(path)
        self.assertTrue(program.errors.endswith("verbmark: interrupted"), program.errors)
        self.assertEqual(document["run"]["status"], "interrupted")
        for case in document["cases"]:
            self.assertEqual(case["status"], "complete")
            self.assertGreaterEqual(len(case["trials"]), 2)

    def test_killed(self):
        """Trials are on disk before the first case has all of them."""
        path = f"{os.environ['OUT']}/killed.json"
        program = client("--op", "write,read", "-D", "500ms", "--budget", "1h", "--json", path,
                         port=self.server.port)
        self.addCleanup(program.kill)
        wait_until(lambda: os.path.exists(path) and len(documents.read(path)["cases"][-1]["trials"]) > 1,
                   what="the second trial")  # fmt: skip
        program.signal(signal.SIGKILL)
        program.wait()
        subprocess.run([VERBMARK, "report", path], check=True, capture_output=True, timeout=PATIENCE)
        document = documents.read(path)
        os.unlink(path)
        self.assertEqual(document["run"]["status"], "interrupted")
        self.assertEqual([case["status"] for case in document["cases"]], ["complete"] * 2)

    def test_failed_case(self):
        """A failed case has its reason and no figures; the others go on."""
        ended = Ended(client(
            "--op", "write", "--pin", "off,8191", *COUNTED, "--budget", "1ms", "--json", "-",
            port=self.server.port,
        ), RUN_PATIENCE)  # fmt: skip
        self.assertEqual(ended.status, 1)
        cases = documents.parse(ended.out)["cases"]
        self.assertEqual([case["status"] for case in cases], ["complete", "failed"])
        self.assertEqual([len(case["trials"]) for case in cases], [6, 0])
        self.assertNotIn("precise", cases[1])

    def test_loads(self):
        """Loads run after the cases that share the budget, and have the usual trials."""
        ended = measure(self.server, "--op", "write", "--metric", "lat,load", "--rate", "1k",
                        "-D", "5ms", "--warmup", "1ms", "--budget", "1ms", "--progress")
        lat, load = ended.document["cases"]
        self.assertEqual((len(lat["trials"]), len(load["trials"])), (6, 1))
        self.assertNotIn("budget_ns", load)
        begun = re.findall(r"(\d)/2 cases, \w+/", ended.err)
        self.assertEqual("".join(begun), "12")


class Registered(Served):
    def test_registration_for_each_message(self):
        """Read data arrive in the memory that is registered for the message."""
        cases = measure(
            self.server, "--op", "read", "--registration", "once,each", "-s", "64,100000", "-n",
            50, "--verify", "--inline", 0,
        ).document["cases"]
        self.assertEqual([case["registration"] for case in cases], ["once", "each"] * 2)
        for case in cases:
            self.assertEqual(case["latency_ns"]["count"], 50)

    def test_only_for_read_latency(self):
        for options in (("--op", "write"), ("--op", "read", "--metric", "bw")):
            ended = Ended(client(*options, "--registration", "each", port=self.server.port))
            self.assertEqual(ended.status, 2)
            self.assertIn("--registration applies only to --op read with --metric lat", ended.err)

    def test_long_completion_queues(self):
        """Client and server have queues at least as long as requested."""
        for depth in (1, 5000):
            case = measure(self.server, "--cq-depth", depth, "-n", 50).document["cases"][0]
            for end in ("client", "server"):
                self.assertGreaterEqual(case["chosen"][end]["cq_depth"], depth)
        # Hardly any device supports that depth; if one does, it is measured.
        ended = Ended(client("--cq-depth", "4194304", "-n", 50, port=self.server.port))
        if ended.status:
            self.assertIn("completion queue depth", ended.err)


class Tips(Served):
    def tips(self, *options):
        return Ended(Program(
            VERBMARK, "tips", ADDRESS, "-p", self.server.port, *SHORT, "--trials", 6, *options,
        ), RUN_PATIENCE)  # fmt: skip

    def test_tips(self):
        ended = self.tips("--json", "-")
        self.assertEqual(ended.status, 0, ended.err)
        document = documents.parse(ended.out)
        self.assertEqual([turns["by"] for turns in document["turns"]], TIPS)
        for turns in document["turns"]:
            self.assertTrue(turns["pairs"] or turns["missing"], turns)
            self.assertIn("tip", turns)
            self.assertTrue(turns.get("advice") or not turns["pairs"], turns)
        # More was posted than a short queue holds, and the device reported the overrun.
        overflow = document["overflow"]
        self.assertGreater(overflow["posted"], overflow["entries"])
        self.assertLessEqual(overflow["taken"], overflow["entries"] + 1)
        self.assertTrue(overflow["told"], overflow)
        self.assertIn("the completion queue overran", overflow["seen"])
        # 'verbmark report' prints the same from the document.
        shown = ended.err[ended.err.index("INTERLEAVED"):].splitlines()
        again = subprocess.run([VERBMARK, "report", "-"], input=ended.out, capture_output=True,
                               text=True, timeout=PATIENCE, check=True).stdout
        self.assertEqual(again[again.index("INTERLEAVED"):].splitlines()[:10], shown[:10])

    def test_machine_with_one_node(self):
        """Without a second NUMA node no CPU is far; that is listed, but is no failure."""
        ended = self.tips("--json", "-")
        turns = {each["by"]: each for each in json.loads(ended.out)["turns"]}
        nodes = [name for name in os.listdir("/sys/devices/system/node") if name[4:].isdigit()] \
            if os.path.isdir("/sys/devices/system/node") else []
        if len(nodes) < 2:
            self.assertIn("--pin far: all available CPUs are near", " ".join(turns["pin"]["missing"]))

    def test_options_that_tips_lacks(self):
        for options in (("--preset", "quick"), ("--plan", "plan.json")):
            ended = self.tips(*options)
            self.assertEqual(ended.status, 2)
            self.assertEqual(ended.err, f"verbmark: unknown option '{options[0]}'; see --help")
