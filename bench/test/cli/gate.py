# SPDX-License-Identifier: MIT
"""The gate, with stand-ins for its sides whose figures are known: see gate_side.c."""

import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import tempfile
import unittest

import documents
from junit import faults
from verbmark import VERBMARK, Ended, Program, verbmark, wait_until

LIB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib")
SIDE = os.environ.get("GATE_SIDE")
SAMPLE = os.path.join(LIB, "..", "..", "..", "reports", "test", "lib", "sample.json")
ROUNDS = 12
CASES = ("--op", "send", "--metric", "lat,bw", "-s", "64,4k")
IDS = ("send/lat/64/poll", "send/lat/4k/poll", "send/bw/64/poll", "send/bw/4k/poll")


@unittest.skipUnless(SIDE, "GATE_SIDE is not set; run 'meson test gate'")
class Gate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.count = 0

    def side(self, *words):
        """Returns the command of a side with its own noise."""
        self.count += 1
        return " ".join((SIDE, SAMPLE, f"{self.folder.name}/side{self.count}", *words))

    def words(self, base, head, *options, cases=CASES):
        defaults = {"--rounds": ROUNDS, "--order-seed": "7"}
        plain = [word for pair in defaults.items() if pair[0] not in options for word in pair]
        return ("gate", "--base", base, "--head", head, *plain, *cases, *options)

    def states(self):
        """Returns the contents of all files in the folder: counts of runs, and documents."""
        return {path: path.read_bytes() for path in pathlib.Path(self.folder.name).iterdir()}

    def restore(self, before):
        for path in self.states():
            path.unlink()
        for path, was in before.items():
            path.write_bytes(was)

    def gate(self, *options, base=None, head=None, status=0, cases=CASES):
        """Returns the document and the output of a gate."""
        path = f"{self.folder.name}/gate.json"
        base = base or self.side()
        head = head or self.side()
        before = self.states()
        # A hypervisor short of CPUs adds a warning to the output; then run the gate again.
        for _ in range(5):
            ended = verbmark(*self.words(base, head, "--json", path, *options, cases=cases))
            if "the hypervisor took" not in ended.out:
                break
            self.restore(before)
        self.assertEqual(ended.status, status, ended.out + ended.err)
        self.assertEqual(ended.err, "")
        with open(path, encoding="utf-8") as file:
            return documents.parse(file.read(), "verbmark.gate-1"), ended.out

    def verdicts(self, document):
        return {(each["case"], each["figure"]): each["verdict"] for each in document["figures"]}

    def test_equal_sides(self):
        for i in range(3):
            document, shown = self.gate("--order-seed", str(i + 1))
            self.assertEqual(document["verdict"], "same")
            self.assertEqual(len(document["figures"]), 4)
            self.assertNotIn("worse", shown)
            self.assertEqual(len(document["rounds"]), ROUNDS)

    def test_slower_latency(self):
        document, shown = self.gate(head=self.side("lat=1.2"), status=1)
        self.assertEqual(document["verdict"], "worse")
        self.assertEqual(self.verdicts(document), {
            (IDS[0], "p50_ns"): "worse", (IDS[1], "p50_ns"): "worse",
            (IDS[2], "bytes_per_s"): "same", (IDS[3], "bytes_per_s"): "same",
        })
        # Figures that were worse were measured again, and no others.
        self.assertEqual([each["again"] for each in document["rounds"]],
                         [False] * ROUNDS + [True] * ROUNDS)
        for case in document["cases"]:
            extra = ROUNDS if "/lat/" in case["id"] else 0
            self.assertEqual(case["head"]["trials"], ROUNDS + extra)
        self.assertRegex(shown, r"(?m)^send/lat/64/poll +p50 us +(9\.9|10\.)\d +1[12]\.\d +1\.\d+ +\S+\.\.\S+ "
                                r"+12\+12 +worse$")
        self.assertTrue(shown.endswith("worse: 4 figures of 4 cases in 12 pairs of runs: 2 worse, "
                                       "2 same; 12 more pairs to confirm what was worse"), shown)

    def test_unclear(self):
        """Figures that the pairs of runs cannot decide are unclear, even after more of them."""
        path = f"{self.folder.name}/gate.xml"
        base, head = self.side("noise=0.3"), self.side("noise=0.3")
        cases = ("--op", "send", "--metric", "lat", "-s", "64")
        document, shown = self.gate("--junit", path, "--annotations", base=base, head=head,
                                    cases=cases)
        self.assertEqual(document["verdict"], "unclear")
        # The gate went on to four times as many pairs of runs.
        self.assertEqual(len(document["rounds"]), 4 * ROUNDS)
        self.assertEqual([each["again"] for each in document["rounds"]], [False] * 4 * ROUNDS)
        (figure,) = document["figures"]
        self.assertEqual((figure["verdict"], figure["first"]["rounds"]), ("unclear", 4 * ROUNDS))
        self.assertGreater(figure["detectable"], 0.05)
        self.assertRegex(shown, r"(?m)^send/lat/64/poll .* unclear \(detects \d+ %\)$")
        self.assertRegex(shown, r"(?m)^note: send/lat/64/poll p50 us: unclear: .*; the smallest "
                                r"difference that the data could have shown is \d+ %$")
        self.assertIn("note: 12 pairs of runs left 1 figure unclear; added 36 pairs for it\n", shown)
        self.assertIn("\nunclear: 1 figure of 1 case in 48 pairs of runs: 1 unclear\n", shown)
        self.assertIn("::warning title=verbmark gate::unclear: 1 figure", shown)
        self.assertNotRegex(shown, "PASSED")
        with open(path, encoding="utf-8") as file:
            self.assertIn('<skipped message="send/lat/64/poll p50 us: unclear: ', file.read())
        document, _ = self.gate("--strict", base=base, head=head, cases=cases, status=3)
        self.assertEqual(document["verdict"], "unclear")
        # If another figure is worse, that is a regression, with or without --strict.
        self.gate("--strict", base=self.side(), head=self.side("lat=1.2"), status=1)
        self.gate("--strict", base=self.side(), head=self.side())

    def test_more_pairs_until_decided(self):
        """A worse figure is confirmed by as many pairs of runs as it took to find it."""
        base, head = self.side("noise=0.04"), self.side("lat=1.12", "noise=0.04")
        cases = ("--op", "send", "--metric", "lat", "-s", "64")
        document, shown = self.gate(base=base, head=head, cases=cases, status=1)
        self.assertEqual(document["verdict"], "worse")
        self.assertEqual([each["again"] for each in document["rounds"]],
                         [False] * 2 * ROUNDS + [True] * 2 * ROUNDS)
        self.assertIn("note: 12 pairs of runs left 1 figure unclear; added 12 pairs for it\n", shown)

    def test_lower_bandwidth(self):
        document, _ = self.gate(head=self.side("bw=0.8"), status=1)
        self.assertEqual(self.verdicts(document)[IDS[2], "bytes_per_s"], "worse")

    def test_faster_head(self):
        document, _ = self.gate(head=self.side("lat=0.7", "bw=1.5"))
        self.assertEqual(set(self.verdicts(document).values()), {"better"})
        self.assertEqual(len(document["rounds"]), ROUNDS)

    def test_below_the_threshold(self):
        self.assertEqual(self.gate(head=self.side("lat=1.02", "noise=0.01"))[0]["verdict"], "same")
        head = self.side("lat=1.2", "noise=0.01")
        document, _ = self.gate("--floor", "p50=40%,bw=off", head=head)
        self.assertEqual(document["floors"], {"p50_ns": 0.4, "p99_ns": 0.1})
        self.assertEqual({figure for _, figure in self.verdicts(document)}, {"p50_ns"})

    def test_one_slow_trial(self):
        document, _ = self.gate(head=self.side("outlier=9"))
        self.assertEqual(document["verdict"], "same")
        values = document["cases"][0]["values"]["p50_ns"]["head"]
        self.assertGreater(max(values), 5 * statistics.median(values))

    def test_pairs_of_runs(self):
        """Each side is first equally often, and figures follow from the trials."""
        document, _ = self.gate(head=self.side("lat=1.01"))
        firsts = [each["first"] for each in document["rounds"]]
        for pair in range(0, ROUNDS, 2):
            self.assertEqual(set(firsts[pair : pair + 2]), {"base", "head"})
        figure = document["figures"][0]
        values = next(case["values"] for case in document["cases"] if case["id"] == IDS[0])
        ratios = sorted(head / base for base, head in
                        zip(values["p50_ns"]["base"], values["p50_ns"]["head"]))
        self.assertAlmostEqual(figure["first"]["ratio"], statistics.geometric_mean(
            ratios[ROUNDS // 2 - 1 : ROUNDS // 2 + 1]), places=9)
        # 12 coins show at most 1 head with a probability of 0.3 %, at most 2 with 1.9 %.
        self.assertAlmostEqual(figure["first"]["low"], ratios[1], places=9)
        self.assertAlmostEqual(figure["first"]["high"], ratios[-2], places=9)
        again, _ = self.gate(head=self.side("lat=1.01"))
        self.assertEqual([each["first"] for each in again["rounds"]], firsts)

    def test_failing_head(self):
        document, shown = self.gate(head=self.side("broken=5"), status=1)
        self.assertEqual(document["verdict"], "worse")
        self.assertRegex(shown, r"fails in \d+ of 13 runs of the head: no completion for 5 s")
        self.assertRegex(shown, r"in 4 of 4 cases \(e\.g\. \S+\) trials failed: 0 of the base and "
                                r"\d+ of the head; the document has the reasons")
        # The same with few failures per case, each time in another case.
        cases = ("--op", "send", "--metric", "lat", "-s", "1:64k")
        document, _ = self.gate(head=self.side("broken=5"), status=1, cases=cases)
        self.assertEqual(document["verdict"], "worse")
        # Eight failures of one side occur by chance in one gate of 256. Still, each case misses a
        # value, and pairs of runs made for other cases do not count for it.
        document, shown = self.gate(head=self.side("broken=7"), status=3, cases=cases)
        self.assertEqual(document["verdict"], "invalid")
        self.assertEqual(len(document["rounds"]), ROUNDS + 1)
        self.assertIn("only 11 of 12 pairs of runs have values on both sides; a verdict needs 12", shown)
        # Only the head fails four times, as four coins do in one of 16 tries.
        document, _ = self.gate(head=self.side("broken=10"), status=3)
        self.assertEqual(document["verdict"], "invalid")
        # Worse at first, then failing when measured again; with one case, which always runs first.
        cases = ("--op", "send", "--metric", "lat", "-s", "64")
        document, shown = self.gate(head=self.side("lat=1.4", "broken=14"), status=1, cases=cases)
        self.assertEqual(document["verdict"], "worse")
        self.assertIn("worse at first, then failed in 13 of 13 pairs of runs: no completion", shown)
        self.assertIn("trials failed: 0 of the base and 13 of the head", shown)
        # If both sides fail, the machine is at fault.
        document, _ = self.gate(base=self.side("broken=14"), head=self.side("lat=1.4", "broken=14"),
                                status=3, cases=cases)
        self.assertEqual(document["verdict"], "invalid")

    def test_early_failure_is_retried(self):
        """A failure in the first run, which measures how long a case takes, is retried."""
        document, _ = self.gate(base=self.side("once=1"))
        self.assertEqual([case["id"] for case in document["cases"]], list(IDS))
        self.assertEqual(document["cases"][0]["base"]["failed"], 0)

    def test_failed_pair_of_runs(self):
        """A failed pair is replaced at the end, so twelve remain; only one in ten may fail."""
        for base, head, who in ((["once=5"], [], "base"), ([], ["once=5"], "head"),
                                (["stumbles=5"], [], "base"), ([], ["stumbles=13"], "head")):
            with self.subTest(base=base, head=head):
                document, shown = self.gate(base=self.side(*base), head=self.side(*head))
                self.assertEqual(document["verdict"], "same", shown)
                self.assertEqual(len(document["rounds"]), ROUNDS + 1)
                # Each figure has twelve pairs with values of both sides.
                self.assertEqual(min(figure["first"]["rounds"] for figure in document["figures"]),
                                 ROUNDS)
                self.assertEqual(max(case[who]["failed"] for case in document["cases"]), 1)
                self.assertIn("1 pair of runs added for one in which a trial failed", shown)
        document, _ = self.gate(base=self.side("stumbles=5"), head=self.side("stumbles=7"),
                                status=3)
        self.assertEqual(len(document["rounds"]), ROUNDS + 1)
        # Failures during confirmation are replaced too.
        document, _ = self.gate(base=self.side("stumbles=20"), head=self.side("lat=1.4"), status=1)
        self.assertEqual([each["again"] for each in document["rounds"]],
                         [False] * ROUNDS + [True] * (ROUNDS + 1))

    def test_cases_that_cannot_run(self):
        """They are reported, and the others run."""
        cases = ("--op", "send,read", *CASES[2:], "-c", "RC,UC")
        ended = verbmark(*self.words("a/b", "a/b", "--dry-run", cases=cases))
        note = ("4 cases skipped because they cannot run, e.g. read/lat/64/poll/UC: "
                "UC supports only ")
        self.assertIn(note, ended.out)
        document, shown = self.gate(cases=("--op", "send,fetch-add", "--metric", "lat", "-c", "UC"),
                                    status=3)
        note = "1 case skipped because it cannot run: fetch-add/lat/8/poll/UC: UC supports only "
        self.assertIn(note, shown)
        self.assertTrue(any(line.startswith(note) for line in document["notes"]), document["notes"])
        junit = f"{self.folder.name}/gate.xml"
        document, shown = self.gate("--junit", junit, "--annotations", base=self.side("broken=1"),
                                    status=3)
        note = f"{IDS[0]} is skipped because the base does not run it: no completion for 5 s"
        with open(junit, encoding="utf-8") as file:
            self.assertIn(note, file.read())
        self.assertIn(f"::warning title=verbmark gate::{note}", shown)
        ended = verbmark(*self.words("a/b", "a/b", cases=("--preset", "semantics")))
        self.assertEqual(ended.status, 2)
        self.assertIn("gate does not support --needs; use 'verbmark run'", ended.err)

    def test_failing_base(self):
        document, shown = self.gate(base=self.side("broken=5"), status=3)
        self.assertEqual(document["verdict"], "invalid")
        self.assertRegex(shown, r"fails in \d+ of 13 runs of the base: no completion for 5 s")

    def test_losses(self):
        """If both sides lose messages, the path does; if only the base does, it looks slow."""
        document, shown = self.gate(base=self.side("losses=1"), head=self.side("losses=1"))
        self.assertEqual(document["verdict"], "same")
        self.assertIn("note: in 4 of 4 cases (e.g. ", shown)
        document, shown = self.gate(base=self.side("losses=1"), status=3)
        self.assertEqual(document["verdict"], "invalid")
        self.assertIn("messages were lost and retransmitted in 12 of 12 runs of the base, and in 0 "
                      "of the head", shown)
        self.assertEqual(self.gate(head=self.side("losses=1"))[0]["verdict"], "same")

    def test_sides_that_cannot_run(self):
        for words, reason in (
            (("dies=1",), "the head cannot run: the card has caught fire"),
            (("garbage=1",), "the head cannot run: "),
        ):
            document, shown = self.gate(head=self.side(*words), status=3)
            self.assertIn(reason, document["reason"])
            self.assertIn("note: " + reason, shown)
        document, _ = self.gate(head="/no/such/verbmark", status=3)
        self.assertIn("cannot run /no/such/verbmark: No such file", document["reason"])

    def test_side_that_stops_working(self):
        document, _ = self.gate(head=self.side("dies=6"), status=3)
        self.assertIn("the head gave no result 3 times in a row: the card has caught fire",
                      document["reason"])
        self.assertLess(len(document["rounds"]), ROUNDS)
        self.check_counts(document)

    def check_counts(self, document):
        """Checks that trials are counted only for complete pairs of runs."""
        self.assertEqual([(case["base"]["trials"], case["head"]["trials"])
                          for case in document["cases"]],
                         [(len(document["rounds"]),) * 2] * len(IDS))

    def test_different_facts(self):
        head = self.side("kernel=6.9")
        document, _ = self.gate(head=head, status=3)
        self.assertRegex(document["reason"], r'kernel.release is "6\.1" in the base and "6\.9"')
        self.assertIn("--differs", document["reason"])
        document, _ = self.gate("--differs", "tool,kernel", head=head)
        self.assertEqual(document["verdict"], "same")

    def test_malformed_revision(self):
        """The program under test controls neither the output nor the verdict."""
        for revision, is_shown in (("1f2e", True), ("x\n::warning::y", False), ("\x1b[2Jx", False),
                                  ("é" * 40, False)):
            document, shown = self.gate(head=self.side("revision=" + revision.encode().hex()))
            self.assertEqual(document["verdict"], "same")
            self.assertEqual(document["head"]["revision"], revision if is_shown else "")
            self.assertEqual(revision in shown, is_shown)

    def test_time_limit(self):
        document, _ = self.gate("--time-limit", "1ms", status=3)
        self.assertIn("the time limit was reached after 0 of 12 pairs of runs", document["reason"])
        # One run, 12 pairs, and the first run of the confirmation; however much worse the head is.
        document, _ = self.gate("--time-limit", "20s", head=self.side("lat=1.4", "late=14"), status=3)
        self.assertEqual(document["verdict"], "invalid")
        self.assertRegex(document["reason"], "the time limit was reached after [0-9]+ pairs of "
                                             "runs to confirm regressions")

    def test_interrupted(self):
        path = f"{self.folder.name}/gate.json"
        base = self.side()
        # The head hangs in the third pair, after the base has run.
        with Program(VERBMARK, *self.words(base, self.side("hangs=4"), "--json", path)) as program:
            state = f"{self.folder.name}/side2"
            wait_until(lambda: os.path.exists(state) and os.path.getsize(state) >= 4)
            program.signal(signal.SIGTERM)
            self.assertEqual(program.wait(), 3, program.errors)
        with open(path, encoding="utf-8") as file:
            document = documents.parse(file.read(), "verbmark.gate-1")
        self.assertEqual(document["reason"], "interrupted")
        self.assertGreaterEqual(len(document["rounds"]), 1)
        self.check_counts(document)
        # No process is left.
        found = subprocess.run(("pgrep", "-f", state), capture_output=True, check=False)
        self.assertEqual(found.stdout, b"")

    def test_killed_gate(self):
        """Its sides stop measuring."""
        state = f"{self.folder.name}/side2"
        with Program(VERBMARK, *self.words(self.side(), self.side("hangs=3"))) as program:
            wait_until(lambda: os.path.exists(state) and os.path.getsize(state) >= 3)
            program.kill()
        wait_until(lambda: not subprocess.run(("pgrep", "-f", state), capture_output=True,
                                              check=False).stdout)

    def test_nohup(self):
        """A signal that the parent ignores does not end the gate."""
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            program = Program(VERBMARK, *self.words(self.side(), self.side()))
        finally:
            signal.signal(signal.SIGHUP, before)
        with program:
            state = f"{self.folder.name}/side2"
            wait_until(lambda: os.path.exists(state) and os.path.getsize(state) >= 2)
            program.signal(signal.SIGHUP)
            self.assertEqual(program.wait(), 0, program.errors)

    def test_lingering_child(self):
        """The gate does not wait for a side's child, which would outlive the test."""
        document, _ = self.gate(head=self.side("lingers=1"))
        self.assertEqual(document["verdict"], "same")

    def test_no_figure_left(self):
        document, _ = self.gate("--floor", "bw=off",
                                cases=("--op", "send", "--metric", "bw", "-s", "64"), status=3)
        self.assertEqual(document["reason"], "--floor leaves no figure of any case to gate")

    def test_bisect(self):
        self.gate("--bisect")
        self.gate("--bisect", head=self.side("lat=1.3"), status=1)
        self.gate("--bisect", head=self.side("dies=1"), status=125)
        ended = verbmark(*self.words(self.side(), self.side(), "--bisect", "--json", "/no/such/x"))
        self.assertEqual(ended.status, 128, ended.err)
        self.assertEqual(verbmark("gate", "--bisect", "--base", "x/y").status, 128)
        state = f"{self.folder.name}/side{self.count + 2}"
        words = self.words(self.side(), self.side("hangs=3"), "--bisect")
        with Program(VERBMARK, *words) as program:
            wait_until(lambda: os.path.exists(state) and os.path.getsize(state) >= 3)
            program.signal(signal.SIGINT)
            self.assertEqual(program.wait(), 128, program.errors)

    def test_ended_early(self):
        """The reason for missing verdicts is given once, not for each figure."""
        state = f"{self.folder.name}/side{self.count + 2}"
        words = self.words(self.side(), self.side("hangs=5"))
        with Program(VERBMARK, *words) as program:
            wait_until(lambda: os.path.exists(state) and os.path.getsize(state) >= 5)
            program.signal(signal.SIGINT)
            self.assertEqual(program.wait(), 3, program.errors)
            shown = "\n".join(program.out)
        self.assertRegex(shown, r"(?m)^note: too few pairs of runs for a verdict: \d of 12$")
        self.assertEqual(shown.count("too few pairs of runs"), 1, shown)
        self.assertIn("\nnote: interrupted\n", shown)

    def test_no_side(self):
        ended = verbmark("gate", "--base", "/no/such/program", "--head", "/no/such/program")
        self.assertEqual(ended.status, 3)
        self.assertRegex(ended.out, r"invalid: 0 figures of \d+ cases in 0 pairs of runs: nothing$")

    def test_help_lists_metrics(self):
        shown = verbmark("gate", "--help").out
        self.assertRegex(shown, r"(?m)^ +--metric LIST +lat or bw \(lat\)$")

    def test_markdown_junit_html_annotations(self):
        markdown, junit, page = (f"{self.folder.name}/{name}"
                                 for name in ("gate.md", "gate.xml", "gate.html"))
        document, shown = self.gate("--markdown", markdown, "--junit", junit, "--html", page,
                                    "--annotations", head=self.side("lat=1.2"), status=1)
        with open(markdown, encoding="utf-8") as file:
            text = file.read()
        self.assertTrue(text.startswith("### Gate: worse\n"))
        self.assertRegex(text, r"(?m)^\| send/lat/64/poll \| p50 us \| .* \| worse \|$")
        errors = [line for line in shown.splitlines() if line.startswith("::error ")]
        self.assertEqual(len(errors), 3)
        # The most important error comes first: the end of a long list is not shown.
        self.assertRegex(errors[0], "^::error title=verbmark gate::worse: 4 figures of 4 cases")
        self.assertRegex(errors[1], r"^::error title=verbmark gate::send/lat/64/poll p50 us: "
                                    r"worse: \d+\.\d %25 more \(\+")
        with open(junit, encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(faults(text), [])
        self.assertEqual(len(re.findall("<failure ", text)), 2)
        self.assertIn('tests="4" failures="2" errors="0" skipped="0"', text)
        self.assertEqual(document["figures"][0]["verdict"], "worse")
        with open(page, encoding="utf-8") as file:
            text = file.read()
        self.assertIn('data-verdict="worse">worse: 4 figures of 4 cases', text)
        self.assertEqual(len(re.findall(r">send/lat/64/poll</th>.*>p50 us<.*>worse</td>", text)), 1)
        self.assertIn("<li>send/lat/64/poll p50 us: worse: ", text)

    def test_invalid_is_no_regression(self):
        """Whatever the figures of an invalid gate say, no format reports a regression."""
        markdown, junit = (f"{self.folder.name}/{name}" for name in ("gate.md", "gate.xml"))
        # The head is worse both times, and the last runs are on another machine.
        head = self.side("lat=1.2", f"moves={2 * ROUNDS}")
        document, shown = self.gate("--markdown", markdown, "--junit", junit, "--annotations",
                                    head=head, status=3)
        self.assertEqual(document["verdict"], "invalid")
        self.assertEqual(self.verdicts(document)[IDS[0], "p50_ns"], "worse")
        reason = "the head changed in pair of runs "
        self.assertIn(reason, document["reason"])
        with open(markdown, encoding="utf-8") as file:
            summary = file.read()
        with open(junit, encoding="utf-8") as file:
            tests = file.read()
        self.assertEqual(faults(tests), [])
        for text in (shown, summary, tests):
            for word in (" worse: ", "PerfRegression", "<failure", "% more"):
                self.assertNotIn(word, text)
            self.assertIn("2 of 4 figures, such as send/lat/4k/poll p50 us, were worse both times, "
                          "which proves nothing in an invalid gate", text)
            self.assertIn("invalid: 4 figures of 4 cases in 12 pairs of runs: 4 invalid; 12 more pairs", text)
            self.assertIn(reason, text)
        self.assertEqual(len(re.findall(r"(?m)^send/.* invalid$", shown)), 4)
        self.assertEqual(len(re.findall(r"(?m)^\| send/.* \| invalid \|$", summary)), 4)
        levels = [line.split(" ")[0] for line in shown.splitlines() if line.startswith("::")]
        self.assertEqual(levels[:3], ["::error", "::error", "::warning"])
        self.assertEqual(levels.count("::error"), 2)
        self.assertIn('tests="5" failures="0" errors="1" skipped="4"', tests)
        self.assertEqual(tests.count(f'<skipped message="the gate is invalid: {reason}'), 4)
        self.assertEqual(len(re.findall("<error ", tests)), 1)

    def test_slow_trials(self):
        """All formats report slow trials; on a busy machine those of 64 bytes may be slow too."""
        markdown = f"{self.folder.name}/gate.md"
        note = (r"trials of \d of 4 cases mostly took longer than 0\.2 s, including process "
                r"overhead \(send/(lat|bw)/4k/poll: \d\.\d\d s\); a shorter -D or --warmup, or ")
        document, shown = self.gate("--annotations", "--markdown", markdown,
                                    base=self.side("warm=0.3"), head=self.side("warm=0.3"))
        self.assertEqual(document["verdict"], "same")
        self.assertRegex("\n".join(document["notes"]), note)
        self.assertRegex(shown, f"(?m)^note: {note}")
        self.assertRegex(shown, f"(?m)^::warning title=verbmark gate::{note}")
        with open(markdown, encoding="utf-8") as file:
            self.assertRegex(file.read(), note)

    def test_arguments_of_sides(self):
        base = self.side()
        self.gate("-d", "dev0", "--head-device", "dev1", "-p", "7777", "n02", base=base)
        for number, device in ((1, "dev0"), (2, "dev1")):
            with open(f"{self.folder.name}/side{number}.words", encoding="utf-8") as file:
                words = json.load(file)
            self.assertEqual(words[words.index("run") :], [
                "run", "--plan", "/dev/stdin", "--json", "-", "--quiet", "--device", device,
                "--port", "7777", "n02"])

    def test_output_files_are_checked_first(self):
        for option in ("--json", "--markdown", "--junit"):
            base = self.side()
            ended = verbmark(*self.words(base, self.side(), option, "/no/such/folder/x"))
            self.assertEqual(ended.status, 3)
            self.assertIn("/no/such/folder/x", ended.err)
            self.assertFalse(os.path.exists(f"{self.folder.name}/side{self.count}"))
        ended = Ended(Program("sh", "-c", '"$@" >/dev/full', "sh", VERBMARK,
                              *self.words(self.side(), self.side(), "--json", "-")))
        self.assertEqual(ended.status, 3, ended.err)

    def test_full_output(self):
        """Failing to write the output is no regression, and other files are still written."""
        path = f"{self.folder.name}/gate.json"
        for script, options, status in (('"$@" >/dev/full', (), 3),
                                        ('"$@" >/dev/full', ("--bisect",), 128),
                                        ('"$@" | true; exit 3', (), 3)):
            ended = Ended(Program("sh", "-c", script, "sh", VERBMARK, *self.words(
                self.side(), self.side(), "--json", path, *options)))
            self.assertEqual(ended.status, status, ended.err)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(json.load(file)["verdict"], "same")
            os.unlink(path)

    def test_dry_run(self):
        sides = ("--base", "a/b", "--head", "a/b")
        ended = verbmark("gate", *sides, "--dry-run")
        self.assertEqual(ended.status, 0)
        self.assertRegex(ended.out, r"\n12 cases, 60 pairs of runs, about \d+ s$")


if __name__ == "__main__":
    unittest.main()
