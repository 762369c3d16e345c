# SPDX-License-Identifier: MIT
"""Comparing results, with documents derived from the sample whose differences are known."""

import copy
import csv
import io
import json
import math
import os
import subprocess
import tempfile
import unittest

import documents
from verbmark import PATIENCE, VERBMARK, verbmark

SAMPLE = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../../../reports/test/lib/sample.json"
)
# Runs of the same side differ by up to 2 %.
SPREAD = (1.00, 1.02, 0.99, 1.01, 0.98)
LATENCY = "send/lat/64/poll"
RATE = "write/bw/1000/event/server-poll/t16"
FACTS = {"kernel": {"release": "6.1.0-18"}, "cpu": {"model": "x"}, "libc": "2.36"}
MANY = 600
BANNER = "SOFTWARE DEVICE: CPUs copy the data; not a measurement of RDMA hardware"


def scale(case, latency, rate):
    for trial in case.get("trials") or []:
        for figures, factor in (
            (trial.get("latency_ns", {}), latency), (trial.get("bandwidth", {}), rate)
        ):
            for name in figures:
                figures[name] *= factor


def facts(document, end, fingerprint, known=None):
    document["hosts"][end] |= {"hard_fingerprint": fingerprint}
    if known:
        document["hosts"][end]["facts"] = known


class Compare(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.minute = 0
        with open(SAMPLE, encoding="utf-8") as file:
            self.sample = json.load(file)

    def document(self, latency=1.0, rate=1.0, complete=True):
        """Returns a run of the next minute."""
        made = copy.deepcopy(self.sample)
        for case in made["cases"]:
            scale(case, latency, rate)
        if complete:
            made["cases"] = [case for case in made["cases"] if case["status"] == "complete"]
            made["run"]["status"] = "complete"
        for end in ("client", "server"):
            facts(made, end, "0123456789abcdef", FACTS)
        clock = f"2001-02-03T{self.minute // 60:02}:{self.minute % 60:02}"
        made["run"] |= {"started": f"{clock}:06Z", "finished": f"{clock}:36Z"}
        self.minute += 1
        return made

    def write(self, name, document):
        path = f"{self.folder.name}/{name}"
        with open(path, "w", encoding="utf-8") as file:
            if isinstance(document, str):
                file.write(document)
            else:
                json.dump(document, file)
        return path

    def runs(self, name, count=3, latency=1.0, rate=1.0, change=None):
        paths = []
        for i, spread in enumerate(SPREAD[:count]):
            document = self.document(latency * spread, rate * spread)
            if change:
                change(document)
            paths.append(self.write(f"{name}-{i}.json", document))
        return paths

    def compared(self, *words, status=0):
        ended = verbmark("compare", *words)
        self.assertEqual(ended.status, status, ended.out + ended.err)
        if status in (0, 1):
            self.assertEqual(ended.err, "")
        return ended.out

    def refused(self, *words, status=3):
        ended = verbmark("compare", *words)
        self.assertEqual((ended.status, ended.out), (status, ""), ended.err)
        self.assertEqual(len(ended.err.splitlines()), 1, ended.err)
        return ended.err.removeprefix("verbmark: ")

    def found(self, *words, status=0):
        shown = self.compared(*words, "--format", "json", status=status)
        return documents.parse(shown, "verbmark.comparison-1")

    def verdicts(self, *words, status=0):
        return {
            (figure["case"], figure["figure"]): figure["verdict"]
            for figure in self.found(*words, status=status)["figures"]
        }

    def test_two_files(self):
        one = self.write("one.json", self.document())
        other = self.write("other.json", self.document(1.1))
        self.assertEqual(set(self.verdicts(one, other).values()), {"unclear"})
        shown = self.compared(one, other)
        self.assertRegex(shown, r"(?m)^send +64 poll half p50 us +1\.24 +1\.36 +1\.100 +- +1/1 +"
                                r"unclear$")
        self.assertIn("note: the spread between runs is unknown, so such figures are unclear: alternate several runs", shown)
        self.assertIn("verbmark run --interleave", shown)
        self.assertNotIn("verbmark gate", shown)
        self.assertTrue(shown.endswith("unclear: 2 figures of 2 cases: 2 unclear; 0 cases not "
                                       "compared"), shown)
        self.assertEqual(self.verdicts(one, one)[LATENCY, "p50_ns"], "unclear")

    def test_verdicts(self):
        base = self.runs("base")
        new = self.runs("new", latency=1.3)
        expected = {
            (LATENCY, "p50_ns"): "worse", (RATE, "bytes_per_s"): "same",
            (RATE, "messages_per_s"): "same",
        }
        self.assertEqual(self.verdicts(*base, "--new", *new), expected)
        self.assertEqual(self.verdicts(*new, "--new", *base),
                         expected | {(LATENCY, "p50_ns"): "better"})
        shown = self.compared(*base, "--new", *new)
        self.assertRegex(shown, r"(?m)^send .* 1\.300 \S+\.\.\S+ +3/3 +worse$")
        self.assertTrue(shown.endswith("worse: 2 figures of 2 cases: 1 worse, 1 same; 0 cases not "
                                       "compared"), shown)
        self.assertIn("the runs of one side are all older", shown)
        self.assertEqual(set(self.verdicts(*base, "--new", *self.runs("again")).values()),
                         {"same"})

    def test_figures(self):
        base = self.runs("base", 3)
        new = self.runs("new", 3, latency=1.3)
        document = self.found(*base, "--new", *new)
        self.assertEqual(document["schema"], "verbmark.comparison/1")
        self.assertEqual([run["file"] for run in document["base"]["runs"]], base)
        figure = document["figures"][0]
        # The median of the trials is 1240 ns.
        product = SPREAD[0] * SPREAD[1] * SPREAD[2]
        self.assertAlmostEqual(figure["base"], 1240 * product ** (1 / 3), places=6)
        self.assertAlmostEqual(figure["ratio"], 1.3, places=9)
        self.assertLess(figure["interval"]["low"], 1.3)
        self.assertGreater(figure["interval"]["high"], 1.3)
        self.assertAlmostEqual(figure["p_corrected"], 2 * figure["p"], places=12)
        self.assertEqual((document["verdict"], figure["threshold"]), ("worse", 0.05))
        self.assertNotIn("detectable", figure)
        self.assertEqual(document["counts"], {
            "cases": 2, "tests": 2, "better": 0, "same": 1, "unclear": 0, "invalid": 0, "worse": 1,
        })
        self.assertNotIn("forced", document)
        cpu = self.found(*base, "--new", *new, "--cpu")
        self.assertIn("client_cpu_ns", {figure["figure"] for figure in cpu["figures"]})

    def test_runs_that_differ_much(self):
        paths = [self.write(f"{i}.json", self.document(factor))
                 for i, factor in enumerate((1, 2, 1, 2))]
        sides = (*paths[:2], "--new", *paths[2:])
        figure = self.found(*sides)["figures"][0]
        low, high = figure["interval"]["low"], figure["interval"]["high"]
        self.assertEqual(figure["verdict"], "unclear")
        # Each side has logarithms 0 and log 2; 2 degrees of freedom: 4.303 * log(2) / sqrt(2).
        self.assertAlmostEqual(math.log(high), 4.302653 * math.log(2) / math.sqrt(2), places=5)
        self.assertAlmostEqual(low * high, 1, places=9)
        # The first of two figures is tested at 2.5 %, like the interval.
        self.assertAlmostEqual(figure["detectable"], 1.05 * high - 1, places=6)
        shown = self.compared(*sides)
        self.assertRegex(shown, r"(?m)^send .* unclear \(detects 766 %\)$")
        self.assertRegex(shown, r"note: unclear, for example: NEW's p50 us of send/lat/64/poll is 0\.0 % "
                                r"\w+ \(-87\.9 to \+723\.9 %\); the smallest difference that the "
                                r"data could have shown is 766 %")
        base = self.runs("base")
        self.assertNotIn("unclear, for", self.compared(*base, "--new", *self.runs("new")))

    def test_alternating_runs(self):
        paths = []
        for i in range(6):
            paths.append(self.write(f"{i}.json", self.document(SPREAD[i // 2])))
        shown = self.compared(*paths[::2], "--new", *paths[1::2])
        self.assertNotIn("older", shown)

    def test_exit_status(self):
        def tailed(document):
            for trial in document["cases"][0]["trials"]:
                trial["latency_ns"]["p99"] = 1.5 * trial["latency_ns"]["p50"]

        base = self.runs("base", change=tailed)
        self.compared(*base, "--new", *self.runs("new", latency=1.3, change=tailed), "--fail",
                      status=1)
        self.compared(*base, "--new", *self.runs("same", change=tailed), "--fail")
        self.compared(base[0], base[1], "--fail", status=1)
        # All known figures are the same. There is no tail to compare, which must fail too.
        document = self.found(*base, "--new", *self.runs("short"), "--fail", status=1)
        self.assertEqual((document["counts"]["worse"], document["counts"]["unclear"]), (0, 0))
        self.assertEqual(document["unknown"], [{
            "case": LATENCY, "figure": "p99_ns", "reason": "unknown in 3 of 3 runs of NEW",
        }])
        less = self.runs("less", change=lambda document: document["cases"].pop())
        self.compared(*base, "--new", *less, "--fail", status=1)
        self.compared(*base, "--new", *less)

    def test_different_facts(self):
        base = self.write("base.json", self.document())
        other = self.document()
        known = copy.deepcopy(FACTS)
        known["kernel"]["release"] = "6.1.0-21"
        known["cpu"]["model"] = "\u001b[31my"
        facts(other, "server", "f" * 16, known)
        new = self.write("new.json", other)
        sentence = self.refused(base, new)
        self.assertRegex(sentence, r'^the server: cpu model is "x" in \S+base\.json and '
                                   r'"\\u001B\[31my" in \S+new\.json; 2 facts differ in all; '
                                   r"use --force to compare them anyway$")
        # Facts must also agree within a side.
        self.refused(base, new, "--new", self.write("more.json", self.document()))
        shown = self.compared("--force", base, new).splitlines()
        self.assertRegex(shown[0], r"^FORCED: the setups differ, .*the server: cpu model")
        self.assertEqual(shown[-2], shown[0])
        shown = self.compared("--force", base, new, "--format", "markdown").splitlines()
        self.assertEqual(len([line for line in shown if "FORCED" in line]), 2)
        shown = self.compared("--force", base, new, "--format", "html")
        self.assertRegex(shown, r"(?s)<li>FORCED: .*>Ratios</h3>.*</table></div>\n"
                                r".*<p><b>FORCED: .*</b></p>\n</section>")
        rows = list(csv.DictReader(io.StringIO(
            self.compared("--force", base, new, "--format", "csv"))))
        self.assertEqual({row["forced"][:7] for row in rows}, {"FORCED:"})
        self.assertIn("the server", self.found("--force", base, new)["forced"])
        # An unknown fact is no difference, but it is reported.
        del other["hosts"]["server"]["hard_fingerprint"]
        shown = self.compared(base, self.write("new.json", other))
        self.assertIn("note: 1 of 2 results do not record the setup of both hosts", shown)

    def test_software_device(self):
        def soft(document):
            for end in ("client", "server"):
                document["hosts"][end]["kind"] = "soft"
                facts(document, end, "5" * 16)

        base = self.runs("base", 2, change=soft)
        new = self.runs("new", 2, change=soft)
        for name in ("table", "markdown", "csv", "json"):
            with self.subTest(name):
                shown = self.compared(*base, "--new", *new, "--format", name)
                self.assertIn("SOFTWARE DEVICE", shown)
        self.assertEqual(self.compared(*base, "--new", *new).splitlines()[0], BANNER)
        hard = self.write("hard.json", self.document())
        self.assertIn("device is hardware in", self.refused(hard, new[0]))
        self.assertIn("device is soft in", self.refused(new[0], hard))
        shown = self.compared("--force", hard, new[0]).splitlines()
        self.assertEqual(shown[0], BANNER)
        self.assertTrue(shown[1].startswith("FORCED: "))

    def test_two_kinds(self):
        base = self.runs("base", 2)

        def full(document):
            document["cases"][0]["latency_ns"]["kind"] = "full"

        new = self.runs("new", 2, change=full)
        for words in ((), ("--force",)):
            document = self.found(*base, "--new", *new, *words)
            self.assertEqual({figure["case"] for figure in document["figures"]}, {RATE})
            self.assertEqual(document["missing"], [{
                "case": LATENCY, "compared": False,
                "reason": "its latency is half in one run and full in another: different "
                          "kinds cannot be compared",
            }])

    def test_missing_cases(self):
        base = self.write("base.json", self.document(complete=False))
        new = self.document()
        new["cases"].pop()
        new["cases"][0] |= {"id": "send/lat/64/poll/q2"}
        new = self.write("new.json", new)
        ended = verbmark("compare", base, new)
        self.assertEqual((ended.status, ended.err), (3, "verbmark: no case can be compared"))
        for line in (
            "  send/lat/64/poll: missing in NEW",
            "  write/lat/4k/event/server-poll: failed in BASE: no completion for 5 s; missing in "
            "NEW",
            "  read/lat/1m/adaptive: interrupted in BASE; missing in NEW",
            "  send/lat/64/poll/q2: missing in BASE",
        ):
            self.assertIn(line, ended.out.splitlines())
        self.assertTrue(ended.out.endswith("invalid: 0 figures of 0 cases: nothing; 6 cases not "
                                           "compared"), ended.out)
        # CSV lists these cases too, with empty fields.
        ended = verbmark("compare", base, new, "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(ended.out)))
        self.assertEqual(len(rows), 6)
        self.assertEqual(rows[0]["reason"], "missing in NEW")
        self.assertEqual((rows[0]["verdict"], rows[0]["ratio"]), ("", ""))

    def test_csv(self):
        base = self.runs("base")
        new = self.runs("new", latency=1.3)
        rows = list(csv.DictReader(io.StringIO(
            self.compared(*base, "--new", *new, "--format", "csv"))))
        found = self.found(*base, "--new", *new)["figures"]
        self.assertEqual(len(rows), len(found) + 1)
        self.assertEqual(
            (rows[-1]["case"], rows[-1]["figure"], rows[-1]["unit"], rows[-1]["reason"]),
            (LATENCY, "p99_ns", "ns",
             "unknown in 3 of 3 runs of BASE and 3 of 3 runs of NEW"))
        self.assertEqual((rows[-1]["verdict"], rows[-1]["ratio"], rows[-1]["banner"]), ("", "", ""))
        for row, figure in zip(rows, found):
            self.assertNotIn(None, row)
            self.assertNotIn(None, row.values())
            self.assertEqual((row["case"], row["figure"], row["verdict"]),
                             (figure["case"], figure["figure"], figure["verdict"]))
            for name in ("base", "new", "ratio", "p", "p_corrected"):
                self.assertAlmostEqual(float(row[name]) / figure[name], 1, places=12)
            self.assertAlmostEqual(float(row["low"]), figure["interval"]["low"])
        self.assertEqual([row["kind"] for row in rows], ["half", "", "", "half"])

    def test_markdown(self):
        base = self.runs("base")
        shown = self.compared(*base, "--new", *self.runs("new", latency=1.3), "--format",
                              "markdown")
        rows = [line.split("|")[1:-1] for line in shown.splitlines() if line.startswith("|")]
        self.assertEqual({len(row) for row in rows[:3]}, {11})
        self.assertEqual([cell.strip() for cell in rows[2]][-1], "worse")
        self.assertEqual({len(row) for row in rows[3:]}, {10})

    def test_alignment(self):
        base = self.runs("base")
        lines = self.compared(*base, "--new", *self.runs("new", latency=1.3)).splitlines()
        title = next(i for i, line in enumerate(lines) if line.startswith("LATENCY"))
        end = lines[title].index("BASE") + len("BASE")
        self.assertRegex(lines[title + 1][:end], r"1\.2\d$")
        self.assertEqual(lines[title].index("verdict"), lines[title + 1].index("worse"))

    def test_units(self):
        base = self.runs("base", 2)
        new = self.runs("new", 2)
        self.assertRegex(self.compared(*base, "--new", *new, "--units", "MB/s"),
                         r"(?m)^write/t16 +1000 event/poll MB/s +4\d\.\d")
        for name in ("table", "html", "markdown"):
            self.assertIn("MB/s", self.compared(*base, "--new", *new, "--format", name,
                                                "--units", "MB/s"))

    def test_output(self):
        base = self.runs("base", 1)[0]
        new = self.runs("new", 1)[0]
        path = f"{self.folder.name}/out"
        self.assertEqual(self.compared(base, new, "-o", path), "")
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read().rstrip("\n"), self.compared(base, new))
        self.assertEqual(self.compared(base, new, "-o", "-"), self.compared(base, new))
        self.assertIn("is an input file and would be overwritten", self.refused(base, new, "-o", new, status=2))
        self.assertIn("cannot write", self.refused(base, new, "-o", "/nowhere/at/all", status=1))

    def test_new_may_be_repeated(self):
        base = self.runs("base")
        self.compared(base[0], "--new", base[1], "--new", base[2])

    def test_same_run_twice(self):
        base = self.runs("base", 2)
        self.assertIn("are the same run",
                      self.refused(base[0], base[0], "--new", base[1]))
        # A copy under another name is the same run.
        with open(base[0], encoding="utf-8") as file:
            copied = self.write("copy.json", file.read())
        self.assertIn("are the same run", self.refused("--force", base[0], copied, "--new", base[1]))

    def test_same_run_on_both_sides(self):
        base = self.runs("base", 2)
        new = self.runs("new", 2)
        self.assertRegex(self.refused(*base, "--new", base[1], *new),
                         r"^\S+base-1\.json of BASE and \S+base-1\.json of NEW are the same run$")
        self.assertIn("note: BASE and NEW are the same run", self.compared(base[0], base[0]))
        self.assertNotIn("are the same run", self.compared(base[0], new[0]))

    def test_broken_files(self):
        good = self.write("good.json", self.document())
        for text, sentence in (
            ("", "line 1"), ("{}", "JSON, but not a verbmark result"), ("[1", "line 1"),
            ('{"schema": "verbmark.comparison/1"}', "JSON, but not a verbmark result"),
        ):
            bad = self.write("bad.json", text)
            for words in ((good, bad), (bad, good), (good, "--new", good, bad)):
                self.assertIn(sentence, self.refused(*words, status=1))
        self.assertIn("cannot read", self.refused(good, "/nowhere/at/all", status=1))

    def test_useless_numbers(self):
        base = self.runs("base", 2)

        def nothing(document):
            scale(document["cases"][0], 0, 0)
            document["cases"][1]["trials"][0]["bandwidth"]["bytes_per_s"] = 9e18

        new = self.runs("new", 2, change=nothing)
        document = self.found(*base, "--new", *new)
        self.assertEqual(document["missing"][0]["reason"],
                         "no figure is known in all runs")

    def test_standard_input(self):
        base = self.write("base.json", self.document())
        ended = subprocess.run(
            [VERBMARK, "compare", base, "-"], input=json.dumps(self.document()),
            capture_output=True, text=True, timeout=PATIENCE, check=True,
        )
        self.assertIn("2 unclear", ended.stdout)
        for words in (("-", "-"), (base, "-", "--new", "-")):
            self.assertEqual(self.refused(*words, status=2), "'-' is given twice")

    def test_file_names_with_any_bytes(self):
        base = self.write("b\x1b\udcff|.json".encode("utf-8", "surrogateescape").decode(
            "utf-8", "surrogateescape"), self.document())
        new = self.write("new.json", self.document())
        ended = subprocess.run([VERBMARK, "compare", base, new, "--format", "json"],
                               capture_output=True, timeout=PATIENCE, check=True)
        self.assertEqual(len(json.loads(ended.stdout)["base"]["runs"]), 1)
        for words in ((base, new), (base, base, "--new", new), (base + "x", new)):
            ended = subprocess.run([VERBMARK, "compare", *words], capture_output=True,
                                   timeout=PATIENCE, check=False)
            self.assertNotRegex(ended.stdout + ended.stderr, rb"[\x1b\xff]")
            self.assertRegex(ended.stdout + ended.stderr, rb"b\?\?\|\.json")

    def test_many_cases(self):
        def many(document):
            case = document["cases"][0]
            document["cases"] = []
            for i in range(MANY):
                document["cases"].append(copy.deepcopy(case) | {"id": f"send/lat/64/poll/q{i + 2}"})

        base = self.runs("base", 2, change=many)
        new = self.runs("new", 2, latency=1.1, change=many)
        document = self.found(*base, "--new", *new)
        self.assertEqual(document["counts"]["tests"], MANY)
        self.assertEqual(len(document["figures"]), MANY)
        # All p-values are equal; corrected for that many tests, none is significant.
        self.assertEqual(document["counts"]["unclear"], MANY)
        shown = self.compared(*base, "--new", *new, "--format", "markdown")
        self.assertLess(len(shown.encode()), 1 << 20)
        one = self.write("one.json", self.document())
        ended = verbmark("compare", base[0], one)
        self.assertEqual(ended.status, 3)
        self.assertIn(f"  {MANY} cases, from send/lat/64/poll/q2 to send/lat/64/poll/q{MANY + 1}: "
                      "missing in NEW", ended.out)
