# SPDX-License-Identifier: MIT
"""Which series a result belongs to, including imported ones; and a history as a baseline."""

import os
import unittest

import documents
from histories import Histories
from verbmark import VERBMARK, Ended, Program, verbmark

LATENCY = "send/lat/64/poll"
RATE = "write/bw/1000/event/server-poll/t16"
TEXTS = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../../../reports/fuzz/corpus/import_text"
)


class Defaults(Histories):
    def deeper(self, numbers, factor, **parameters):
        """Writes runs of a version that has other default parameters, under the same ids."""
        paths = []
        for number in numbers:
            document = self.document(number, factor=factor)
            document["cases"][0] |= parameters
            paths.append(self.write(f"{number}.json", document))
        return paths

    def test_other_defaults(self):
        """Cases that compare would refuse to compare start a new series, not a change point."""
        self.add(*self.runs(*range(30)), version="1.0")
        self.add(*self.deeper(range(30, 38), 1.2, tx_depth=128), version="1.1")
        self.add(*self.deeper(range(38, 40), 1.0), version="1.0")
        found = {series.get("variant"): series for series in self.shown()["series"]
                 if series["case"] == LATENCY}
        self.assertEqual([len(series["points"]) for series in found.values()], [8, 32])
        self.assertEqual([word.split("tx-depth=")[1][:3] for word in found],
                         ["128", "64 "])
        self.assertFalse([series for series in found.values() if series["change_points"]])
        # The other case became worse in both versions.
        checked = self.called("check", status=1)
        self.assertIn(RATE, checked)
        self.assertNotIn(LATENCY, checked)
        shown = self.called("show")
        for depth in (64, 128):
            self.assertIn(f"\n{LATENCY} half, tx-depth={depth}\n", shown)

    def test_new_options(self):
        """A new option at the value implied before continues the series, as does other effort."""
        self.add(*self.runs(*range(4)), version="1.0")
        self.add(*self.deeper(range(4, 8), 1.0, threads=1, sge=1, post_list=1, iterations=99,
                              unheard_of="yes"), version="1.1")
        series, = (one for one in self.shown()["series"] if one["case"] == LATENCY)
        self.assertEqual(len(series["points"]), 8)


class Imported(Histories):
    def text(self, name="real-send-lat", **changes):
        """Writes perftest output with some words replaced."""
        with open(f"{TEXTS}/{name}", encoding="utf-8") as file:
            text = file.read()
        for before, after in changes.values():
            self.assertIn(before, text)
            text = text.replace(before, after)
        path = f"{self.folder}/{name}-{'-'.join(changes)}.txt"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def imported(self, number, printed):
        """Imports a result with the time of that run; without a time if number is None."""
        path = f"{self.folder}/imported-{number}.json"
        started = () if number is None else (
            "--started", self.document(number)["run"]["started"])
        ended = verbmark("import", "perftest", printed, *started, "--json", path)
        self.assertEqual(ended.status, 0, ended.err)
        return path

    def test_without_a_time(self):
        path = self.imported(None, self.text())
        self.assertEqual(self.refused("add", path),
                         f"{path}: imported results need a start time: import the output with "
                         "--started")

    def test_imported_next_to_native_runs(self):
        """Imported runs are ordered by time and form a setup of their own."""
        ours = self.document(1)
        for end in ours["hosts"].values():
            end.pop("hard_fingerprint")
            end.update(host="", device="soft0", kind="soft", rate_mbps=0, mtu=4096,
                       link_layer="Ethernet")
        self.add(self.write("ours.json", ours))
        for number in (2, 0):
            self.add(self.imported(number, self.text()))
        shown = self.shown()
        self.assertEqual([run["setup"] for run in shown["runs"]], [1, 2, 1])
        self.assertEqual([run["started"] for run in shown["runs"]],
                         [self.document(number)["run"]["started"] for number in range(3)])
        title = shown["setups"][0]["title"]
        self.assertTrue(title.startswith("imported from perftest: soft0  Ethernet MTU 4096"), title)
        # An unknown rate is not shown.
        self.assertTrue(shown["setups"][1]["title"].endswith("  Ethernet MTU 4096"),
                        shown["setups"])
        # The version of an imported result is not known.
        self.assertEqual(["version" in run for run in shown["runs"]], [False, True, False])
        series = [one for one in shown["series"] if one["setup"] == 1]
        self.assertEqual({(one["case"], one["figure"]): [point["value"] for point in one["points"]]
                          for one in series},
                         {("send/lat/2/poll", "p50_ns"): [6250, 6250],
                          ("send/lat/2/poll", "p99_ns"): [363690, 363690]})
        self.assertIn("imported from perftest: soft0", self.called("list"))
        self.called("check")

    def test_other_options_of_perftest(self):
        """Runs with the same id but other options belong to another series."""
        self.add(*(self.imported(number, printed) for number, printed in (
            (0, self.text()),
            (1, self.text(gid=("GID index       : 0", "GID index       : 3"))),
            (2, self.text(device=("soft0", "soft1"))),
            (3, self.text()),
        )), version="1.0")
        runs = self.shown()["runs"]
        self.assertEqual([run["setup"] for run in runs], [1, 2, 3, 1])
        self.assertEqual({run["version"] for run in runs}, {"1.0"})

    def test_change_point(self):
        """Runs are ordered by their time, not in the order in which they were added."""
        numbers = [*range(20)]
        self.chance.shuffle(numbers)
        for number in numbers:
            median = f"{6.25 + number % 5 / 100 if number < 12 else 7.25 + number % 5 / 100:.2f}"
            self.add(self.imported(number, self.text(median=("6.25", median))))
        checked = self.called("check", status=1)
        self.assertRegex(checked, r"send/lat/2/poll half: p50 us 6\.\d+ -> 7\.\d+, "
                                  r"1\.1\d+ times, worse")
        self.assertIn(f"{self.document(12)['run']['started']}; neither run has a version or a "
                      "commit: label them with 'history add --version'", checked)
        self.assertNotIn("something else changed", checked)


class Compared(Histories):
    """A run compared with earlier runs of the same setup."""

    def compared(self, *words, status=0):
        ended = Ended(Program(VERBMARK, "compare", f"--history={self.db}", *words))
        self.assertEqual(ended.status, status, ended.out + ended.err)
        return ended

    def found(self, *words, **options):
        out = self.compared(*words, "--format", "json", **options).out
        return documents.parse(out, "verbmark.comparison-1")

    def test_verdicts(self):
        self.add(*self.runs(*range(8)))
        same, other = self.runs(10, 11)
        self.add(same, other)
        slower, = self.runs(9, factor=1.2)
        for path, verdict in ((same, "same"), (slower, "worse")):
            figures = self.found(path)["figures"]
            self.assertEqual({figure["verdict"] for figure in figures}, {verdict}, figures)
            # Neither the run itself nor later ones are in the baseline.
            self.assertEqual({figure["base_runs"] for figure in figures}, {8})
        self.compared("--fail", slower, status=1)
        shown = self.compared(slower).out
        self.assertIn("note: NEW is a single run and is assumed to vary like those of BASE; run it "
                      "again to be sure", shown)
        self.assertEqual(
            {figure["base_runs"] for figure in self.found("--last", "5", other)["figures"]}, {5}
        )
        # Four runs are too few.
        self.assertEqual(
            {figure["verdict"] for figure in self.found("--last", "4", other)["figures"]},
            {"unclear"},
        )

    def test_several_new_runs(self):
        """The baseline ends before the oldest of them, in whatever order they are given."""
        self.add(*self.runs(*range(8)))
        older, newer = self.runs(8, 9)
        self.add(older, newer)
        for figure in self.found(newer, older)["figures"]:
            self.assertEqual((figure["base_runs"], figure["new_runs"]), (8, 2))

    def test_default_database(self):
        data = f"{self.folder}/data"
        self.db = f"{data}/verbmark/history.sqlite"
        self.add(*self.runs(*range(5)))
        new, = self.runs(6)
        ended = Ended(Program("env", f"XDG_DATA_HOME={data}", VERBMARK, "compare", "--history", new))
        self.assertEqual((ended.status, ended.err), (0, ""))
        self.assertIn(" 5/1 ", ended.out)

    def test_other_setups(self):
        self.add(*self.runs(0, 1, 2))
        stranger = self.document(3)
        for end in ("client", "server"):
            stranger["hosts"][end]["hard_fingerprint"] = "fedcba9876543210"
        ended = self.compared(self.write("stranger.json", stranger), status=3)
        self.assertEqual(
            ended.err,
            f"verbmark: {self.db} has no earlier run of the same setup; see 'verbmark history list'",
        )
        first = self.write("first.json", self.document(0))
        self.assertIn("no earlier run of the same setup", self.compared(first, status=3).err)

    def test_usage(self):
        new, base = self.runs(0, 1)
        self.assertIn("no history in", self.compared(new, status=1).err)
        self.assertEqual(
            self.compared(base, "--new", new, status=2).err,
            "verbmark: --history replaces the baseline files: drop those before --new",
        )
        self.assertIn("NEW is missing", self.compared(status=2).err)
        ended = Ended(Program(VERBMARK, "compare", "--last", "5", base, new))
        self.assertEqual((ended.status, ended.err), (2, "verbmark: --last needs --history"))


if __name__ == "__main__":
    unittest.main()
