# SPDX-License-Identifier: MIT
"""Results over time: adding and labeling them, and all formats to show them in."""

import csv
import io
import json
import os
import re
import subprocess
import unittest
import zlib

import documents
from histories import Histories
from verbmark import PATIENCE, verbmark

LATENCY = "send/lat/64/poll"
RATE = "write/bw/1000/event/server-poll/t16"
BANNER = "SOFTWARE DEVICE: CPUs copy the data; not a measurement of RDMA hardware"
NAME = re.compile(r"^\d{8}T\d{6}Z-[0-9a-f]{16}$")


class History(Histories):
    def test_add(self):
        path, = self.runs(0)
        added = self.add(path)
        name = added.split()[1]
        self.assertRegex(name, NAME)
        self.assertEqual(added, f"{path}: {name} added")
        # The document is stored byte for byte.
        (packed, size), = self.query("SELECT document, size FROM runs WHERE name = ?", name)
        with open(path, "rb") as given:
            self.assertEqual(zlib.decompress(packed), given.read())
        self.assertEqual(size, os.path.getsize(path))
        self.assertEqual(self.add(path), f"{path}: {name} was added before")
        self.assertEqual(len(self.shown()["runs"]), 1)

    def test_labels(self):
        path, = self.runs(0)
        self.add(path)
        self.assertEqual(self.shown()["runs"][0]["version"], "1.2.3")
        self.assertIn("was added before; labels updated", self.add(path, version="5.0", commit="abc"))
        self.assertTrue(self.add(path).endswith("was added before"))
        run, = self.shown()["runs"]
        self.assertEqual((run["version"], run["commit"]), ("5.0", "abc"))
        self.assertIn("was added before; labels updated", self.add(path, commit="def"))
        run, = self.shown()["runs"]
        self.assertEqual((run["version"], run["commit"]), ("5.0", "def"))
        for words in (("--version", "x" * 128), ("--commit", "\x1b[2J"), ("--version", "=1+1"),
                      ("--version", "@1"), ("--commit", "+1"), ("--commit=-1",),
                      ("--commit", "\udcff")):
            self.refused("add", path, *words, status=2)
        document = self.document(1, facts={"tool": {"revision": "0123abc"}})
        self.add(self.write("revision.json", document))
        self.assertEqual(self.shown()["runs"][1]["commit"], "0123abc")
        # A label must not become a formula in a spreadsheet.
        document = self.document(2, facts={"tool": {"revision": "=1+1"}})
        self.add(self.write("formula.json", document))
        self.assertNotIn("commit", self.shown()["runs"][2])

    def test_files_that_are_no_results(self):
        good, = self.runs(0)
        bad = self.write("bad.json", {"schema": "verbmark.result/1"})
        late = self.document(1)
        late["run"]["started"] = "yesterday"
        late = self.write("late.json", late)
        ended = verbmark("history", "--db", self.db, "add", bad, good, late, "/nowhere/at")
        self.assertEqual(ended.status, 1)
        lines = ended.err.splitlines()
        self.assertEqual(len(lines), 3, ended.err)
        self.assertIn("bad.json: ", lines[0])
        self.assertIn("late.json: run.started is 'yesterday', not a time such as 2026-11-23T10:12:44Z", lines[1])
        self.assertIn("cannot read /nowhere/at", lines[2])
        self.assertEqual(len(self.shown()["runs"]), 1)

    def test_empty_history(self):
        for _ in range(2):
            for verb in ("list", "show", "check"):
                self.assertEqual(
                    self.refused(verb),
                    f"no history in {self.db}; create one with 'verbmark history add FILE'")
            # An empty file, as left by a process that was killed early.
            with open(self.db, "w", encoding="ascii"):
                pass
        self.add(*self.runs(0))
        self.assertEqual(len(self.shown()["runs"]), 1)

    def test_default(self):
        path, = self.runs(0)
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("HOME", "XDG_DATA_HOME")}
        for variable, folder in (("XDG_DATA_HOME", "data"), ("HOME", "home/.local/share")):
            root = f"{self.folder}/{folder.split('/')[0]}"
            ended = verbmark("history", "add", path, env=environment | {variable: root})
            self.assertEqual(ended.status, 0, ended.err)
            self.db = f"{self.folder}/{folder}/verbmark/history.sqlite"
            self.assertEqual(len(self.kept()), 1)
        ended = verbmark("history", "list", env=environment)
        self.assertEqual((ended.status, ended.err),
                         (1, "verbmark: cannot find the history: neither $XDG_DATA_HOME nor $HOME is "
                             "set; use --db FILE"))

    def test_change_point(self):
        self.changed()
        document = self.shown()
        first = document["runs"][30]["run"]
        last = document["runs"][29]["run"]
        seen = set()
        for series in document["series"]:
            change, = series["change_points"]
            self.assertEqual((change["run"], change["run_before"]), (first, last))
            self.assertTrue(change["worse"] and change["recent"])
            wanted = 1 / 1.2 if series["figure"] == "bytes_per_s" else 1.2
            self.assertAlmostEqual(change["ratio"], wanted, delta=0.01)
            seen.add((series["case"], series["figure"]))
        self.assertEqual(seen, {(LATENCY, "p50_ns"), (RATE, "bytes_per_s")})
        checked = self.called("check", status=1)
        self.assertRegex(checked, rf"(?m)^setup 1: {LATENCY} half: p50 us 1\.2\d* -> 1\.4\d*, "
                               r"1\.\d+ times, worse: at 2001-09-09T02:16:40Z with version 1\.1, "
                               r"commit bbb; the run before: version 1\.0, commit aaa$")
        self.assertTrue(checked.endswith("38 runs, 2 series: 2 change points in the newest 20 "
                                      "runs, 2 of them worse; 0 older"), checked)
        # Older than --last, below --magnitude, and outside of the pattern.
        self.assertNotIn("times", self.called("check", "--last", "7"))
        self.called("check", "--last", "8", status=1)
        self.assertTrue(self.called("check", "--last", "0", status=1).endswith(
            "38 runs, 2 series: 2 change points in all runs, 2 of them worse; 0 older"))
        self.called("check", "--magnitude", "30%")
        self.assertIn("no complete case in the history matches 'x*'", self.refused("show", "x*"))
        self.assertEqual(len(self.shown("send/*")["series"]), 1)

    def test_better(self):
        self.changed(factor=0.8)
        self.called("check", status=1)
        self.assertNotIn("times", self.called("check", "--worse"))
        self.assertEqual({change["worse"] for series in self.shown()["series"]
                          for change in series["change_points"]}, {False})

    def test_same_version(self):
        self.add(*self.runs(*range(30)), version="1")
        self.add(*self.runs(*range(30, 38), factor=1.2), version="1")
        self.assertIn("version 1, same as the run before: something else changed",
                      self.called("check", status=1))

    def test_no_change_point(self):
        self.add(*self.runs(*range(60), spread=0.03))
        self.assertIn("60 runs, 2 series: 0 change points", self.called("check"))

    def test_setups(self):
        """Another fingerprint, MTU or device starts other series."""
        self.add(*self.runs(*range(30)))
        self.add(*self.runs(*range(30, 38), factor=1.5, hard_fingerprint="f" * 16))
        document = self.shown()
        self.assertEqual([setup["runs"] for setup in document["setups"]], [30, 8])
        self.assertEqual({len(series["points"]) for series in document["series"]}, {30, 8})
        self.called("check")
        # No alarm for a setup that is no longer measured.
        self.add(*self.runs(*range(100, 110), factor=1.5), version="late")
        self.called("check", status=1)
        self.add(*self.runs(*range(200, 220), factor=1.5, hard_fingerprint="f" * 16))
        self.called("check")

    def test_formats(self):
        self.changed()
        document = self.shown()
        rows = list(csv.DictReader(io.StringIO(self.called("show", "--format", "csv"))))
        self.assertEqual(len(rows), 76)
        values = {(series["case"], series["figure"], point["run"]): point["value"]
                  for series in document["series"] for point in series["points"]}
        for row in rows:
            self.assertNotIn(None, row.values())
            self.assertAlmostEqual(
                float(row["value"]) / values[row["case"], row["figure"], row["run"]], 1, places=12)
        self.assertEqual([row["version"] for row in rows if row["change_after"]], ["1.1", "1.1"])
        table = self.called("show").splitlines()
        self.assertIn("18 older runs; --last 0 shows all", table)
        row = next(line for line in table if line.startswith("2001-09-09T02:16:40Z"))
        self.assertRegex(row, r"^\S+ 1\.1 +bbb +\* 1\.\d+$")
        self.assertEqual(len([line for line in table if line.startswith("* ")]), 2)
        path = f"{self.folder}/out.json"
        self.called("show", "--format", "json", "-o", path)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(documents.parse(file.read(), "verbmark.history-1"), document)
        listed = self.called("list")
        self.assertIn("setup 1: n01 mlx5_0/1 -> n02 mlx5_1/2", listed)
        self.assertIn("18 older runs", listed)
        self.assertEqual(len(self.called("list", "--last", "0").splitlines()), 40)

    def test_page(self):
        self.changed()
        page = self.called("show", "--format", "html")
        older = "older runs; <code>--last 0</code> shows all"
        self.assertNotIn(older, page)
        self.assertTrue(f"<p>18 {older}</p>" in
                        self.called("show", "--format", "html", "--last", "20"))
        # The only script is the page's own, which cli/browser.py tests.
        self.assertRegex(page, r"content=\"default-src 'none'; style-src 'sha256-[\w+/=]+'; "
                               r"script-src 'sha256-[\w+/=]+'\"")
        self.assertEqual(page.count("<script"), 1)
        page = re.sub("(?s)<(script|style)>.*?</\\1>", "", page)
        for word in ("<style", "style=", "onclick", "http://", "https://"):
            self.assertNotIn(word, page)
        # The figure has exactly the values of the series.
        drawn = re.findall(r'data-x="(\d+)" data-y="([^"]+)" data-case="([^"]+)"', page)
        wanted = {(series["case"], point["value"])
                  for series in self.shown()["series"] for point in series["points"]}
        self.assertEqual({(case, float(y)) for _, y, case in drawn}, wanted)
        self.assertEqual(page.count('<g data-series="change point"'), 2)
        self.assertEqual(page.count("<svg"), 2)
        self.assertEqual(page.count("<summary>Values of this figure</summary>"), 2)
        self.assertIn("version 1.1, commit bbb; the run before: version 1.0, commit aaa", page)

    def many_cases(self, number, count):
        """Writes a run with that many copies of one case."""
        made = self.document(number)
        case = next(case for case in made["cases"] if case["id"] == LATENCY)
        made["cases"] = [case | {"id": f"{LATENCY}/t{i}"} for i in range(10, 10 + count)]
        return self.write(f"{number}.json", made)

    def drawn(self, *words):
        """Returns the drawn runs of each case, and the cases listed as left out."""
        page = self.called("show", "--format", "html", *words)
        runs = {}
        for run, case in re.findall(r'data-x="(\d+)" data-y="[^"]+" data-case="([^"]+)"', page):
            runs.setdefault(case, []).append(int(run))
        self.assertFalse("more values have no room" in page)
        return runs, re.findall(f"<li>({LATENCY}.*) half</li>", page)

    def test_page_without_room(self):
        """A series is drawn whole or only listed: 24 series of 41 values are below 1000."""
        self.add(*(self.many_cases(number, 26) for number in range(41)))
        runs, named = self.drawn()
        self.assertEqual(len(runs), 24)
        for drawn in runs.values():
            self.assertEqual(drawn, list(range(1, 42)))
        self.assertEqual(named, [f"{LATENCY}/t34", f"{LATENCY}/t35"])
        for words in (("--last", "35"), ("*/t34", "*/t35")):
            runs, others = self.drawn(*words)
            self.assertEqual((set(named) - set(runs), others), (set(), []))
        # There is room for 40 cases, however few values they have.
        self.db = f"{self.folder}/wide.sqlite"
        self.add(self.many_cases(0, 42))
        runs, named = self.drawn()
        self.assertEqual((len(runs), named), (40, [f"{LATENCY}/t50", f"{LATENCY}/t51"]))

    def test_page_of_long_names(self):
        """Each case has its figure, even if only the ends of the names differ."""
        def long(number):
            made = self.document(number)
            case = next(case for case in made["cases"] if case["id"] == LATENCY)
            made["cases"] = [case | {"id": f"{LATENCY}/{'t1' * 150}/{end}"} for end in "ab"]
            return self.write(f"{number}.json", made)

        self.add(*map(long, range(20)))
        runs, named = self.drawn()
        self.assertEqual([(name[-1], drawn) for name, drawn in sorted(runs.items())],
                         [(end, list(range(1, 21))) for end in "ab"])
        self.assertEqual(named, [])
        page = self.called("show", "--format", "html")
        self.assertEqual(page.count("<svg"), 2)

    def test_text_from_documents_is_escaped(self):
        document = self.document(0, host="<u>&\"n01")
        self.add(self.write("0.json", document), version="<script>alert(1)</script>")
        page = self.called("show", "--format", "html")
        self.assertEqual(page.count("<script"), 1)
        self.assertNotIn("alert(1)</script", page)
        self.assertNotIn("<u>", page)
        self.assertIn("&lt;script&gt;", page)

    def test_software_device(self):
        self.add(*self.runs(0, 1, kind="soft"))
        for verb in ("list", "show", "check"):
            self.assertEqual(self.called(verb).splitlines()[0], BANNER)
        for name in ("html", "csv", "json"):
            self.assertIn(BANNER, self.called("show", "--format", name))

    def test_slow_reader(self):
        """A slow consumer of the output does not block writers."""
        self.add(*self.runs(*range(40)))
        with subprocess.Popen(self.command("show", "--format", "json"),
                              stdout=subprocess.PIPE) as reader:
            reader.stdout.read(1)
            self.add(*self.runs(40))
            reader.communicate()

    @unittest.skipUnless(os.path.exists("/dev/full"), "this system has no /dev/full")
    def test_full_output(self):
        self.add(*self.runs(0))
        for words in (("show",), ("show", "--format", "json"), ("list",)):
            with open("/dev/full", "w", encoding="ascii") as full:
                ended = subprocess.run(self.command(*words), stdout=full, stderr=subprocess.PIPE,
                                       text=True, timeout=PATIENCE, check=False)
            self.assertEqual(ended.returncode, 1)
            self.assertIn("cannot write to standard output", ended.stderr)

    def test_loads_given_as_share(self):
        """20 % of another maximum is another load, so such cases have no series."""
        document = self.document(0)
        case = next(case for case in document["cases"] if case["id"] == LATENCY)
        for rate in ("20%", "100k"):
            document["cases"].append(case | {"id": f"send/load/64/poll/{rate}"})
        self.add(self.write("loads.json", document))
        cases = {series["case"] for series in self.shown()["series"]}
        self.assertIn("send/load/64/poll/100k", cases)
        self.assertNotIn("send/load/64/poll/20%", cases)


if __name__ == "__main__":
    unittest.main()
