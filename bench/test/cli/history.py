# SPDX-License-Identifier: MIT
"""Results over time: what is kept, what is found in it, and what it survives."""

import csv
import io
import json
import os
import re
import signal
import sqlite3
import subprocess
import time
import unittest

import documents
from histories import Histories
from verbmark import IS_SANITIZED, PATIENCE, VERBMARK, Ended, Program, verbmark

LATENCY = "send/lat/64/poll"
RATE = "write/bw/1000/event/server-poll/t16"
BANNER = "SOFTWARE DEVICE: processors copy memory; not a measurement of RDMA hardware"
NAME = re.compile(r"^\d{8}T\d{6}Z-[0-9a-f]{16}$")
IS_ROOT = os.geteuid() == 0
# One who may write only what all may.
ANYBODY = {"user": 65534, "group": 65534, "extra_groups": ()} if IS_ROOT else {}


def scratch(file):
    """All pages of an index but its first."""
    for page in range(1, os.path.getsize(file.name) // 4096):
        file.seek(4096 * page)
        file.write(b"\xff" * 512)


class History(Histories):
    def test_add(self):
        path, = self.runs(0)
        told = self.add(path)
        name = told.split()[1]
        self.assertRegex(name, NAME)
        self.assertEqual(told, f"{path}: {name} added")
        # Byte for byte, and as public as any new file.
        with open(path, "rb") as given, open(f"{self.dir}/runs/{name}.json", "rb") as kept:
            self.assertEqual(given.read(), kept.read())
        self.assertEqual(os.stat(f"{self.dir}/runs/{name}.json").st_mode & 0o777,
                         os.stat(path).st_mode & 0o777)
        self.assertEqual(self.add(path), f"{path}: {name} is there already")
        self.assertEqual(len(self.shown()["runs"]), 1)

    def test_labels(self):
        path, = self.runs(0)
        self.add(path)
        self.assertEqual(self.shown()["runs"][0]["version"], "1.2.3")
        self.assertIn("labelled anew", self.add(path, version="5.0", commit="abc"))
        self.assertIn("is there already", self.add(path))
        run, = self.shown()["runs"]
        self.assertEqual((run["version"], run["commit"]), ("5.0", "abc"))
        self.assertIn("labelled anew", self.add(path, commit="def"))
        run, = self.shown()["runs"]
        self.assertEqual((run["version"], run["commit"]), ("5.0", "def"))
        # They are the runs', not the index's.
        os.unlink(f"{self.dir}/index.sqlite")
        self.assertEqual(self.shown()["runs"], [run])
        for words in (("--version", "x" * 128), ("--commit", "\x1b[2J"), ("--version", "=1+1"),
                      ("--version", "@1"), ("--commit", "+1"), ("--commit=-1",)):
            self.refused("add", path, *words, status=2)
        document = self.document(1, facts={"tool": {"revision": "0123abc"}})
        self.add(self.write("told.json", document))
        self.assertEqual(self.shown()["runs"][1]["commit"], "0123abc")
        # No formula of a spreadsheet.
        document = self.document(2, facts={"tool": {"revision": "=1+1"}})
        self.add(self.write("formula.json", document))
        self.assertNotIn("commit", self.shown()["runs"][2])

    def test_what_is_no_result(self):
        good, = self.runs(0)
        bad = self.write("bad.json", {"schema": "verbmark.result/1"})
        late = self.document(1)
        late["run"]["started"] = "yesterday"
        late = self.write("late.json", late)
        ended = verbmark("history", "--dir", self.dir, "add", bad, good, late, "/nowhere/at")
        self.assertEqual(ended.status, 1)
        lines = ended.err.splitlines()
        self.assertEqual(len(lines), 3, ended.err)
        self.assertIn("bad.json: ", lines[0])
        self.assertIn("late.json: it was started at 'yesterday', and that is no time", lines[1])
        self.assertIn("cannot read /nowhere/at", lines[2])
        self.assertEqual(len(self.shown()["runs"]), 1)

    def test_nothing_there(self):
        for verb in ("list", "show", "check", "rebuild"):
            self.assertEqual(
                self.refused(verb),
                f"there is no history in {self.dir}: 'verbmark history add FILE' begins one")
        self.assertFalse(os.path.exists(self.dir))

    def test_usage(self):
        for words, sentence in (
            ((), "what to do is missing: add, list, show, check, rebuild"),
            (("look",), "'look' is none of add, list, show, check, rebuild"),
            (("add",), "FILE is missing: a result that run has left"),
            (("list", "x"), "'x' is one word too many"),
            (("check", "--format", "json"), "--format is not for check; see --help"),
            (("list", "--worse"), "--worse is not for list; see --help"),
            (("show", "--last", "x"), "--last: 'x' is not a number of runs"),
            (("check", "--window", "5"), "--window: '5' is not a number of runs from 20 to 200"),
            (("check", "--magnitude", "3"), "--magnitude: '3' is not a part such as 3%"),
            (("show", "--format", "xml"), "--format: 'xml' is none of table, html, csv, json"),
        ):
            ended = verbmark("history", *words)
            self.assertEqual((ended.status, ended.err), (2, f"verbmark: {sentence}"))

    def test_usual_folder(self):
        path, = self.runs(0)
        for variable, folder in (("XDG_DATA_HOME", "data"), ("HOME", "home/.local/share")):
            environment = {name: value for name, value in os.environ.items()
                           if name not in ("HOME", "XDG_DATA_HOME")}
            root = f"{self.folder}/{folder.split('/')[0]}"
            ended = verbmark("history", "add", path, env=environment | {variable: root})
            self.assertEqual(ended.status, 0, ended.err)
            self.assertEqual(
                len(os.listdir(f"{self.folder}/{folder}/verbmark/history/runs")), 1)

    def test_step(self):
        self.stepped()
        document = self.shown()
        first = document["runs"][30]["run"]
        last = document["runs"][29]["run"]
        seen = set()
        for series in document["series"]:
            step, = series["steps"]
            self.assertEqual((step["run"], step["run_before"]), (first, last))
            self.assertTrue(step["worse"] and step["recent"])
            wanted = 1 / 1.2 if series["figure"] == "bytes_per_s" else 1.2
            self.assertAlmostEqual(step["ratio"], wanted, delta=0.01)
            seen.add((series["case"], series["figure"]))
        self.assertEqual(seen, {(LATENCY, "p50_ns"), (RATE, "bytes_per_s")})
        told = self.called("check", status=1)
        self.assertRegex(told, rf"(?m)^setup 1: {LATENCY} half: p50 us 1\.2\d* -> 1\.4\d*, "
                               r"1\.\d+ times, worse: at 2001-09-09T02:16:40Z with version 1\.1, "
                               r"commit bbb; the run before: version 1\.0, commit aaa$")
        self.assertTrue(told.endswith("38 runs, 2 series: 2 steps in the newest 20 runs, 2 of "
                                      "them worse; 0 older"), told)
        # Older than is asked for; another rule; and of a pattern that is not there.
        self.assertNotIn("times", self.called("check", "--last", "7"))
        self.called("check", "--last", "8", status=1)
        self.assertTrue(self.called("check", "--last", "0", status=1).endswith(
            "38 runs, 2 series: 2 steps in all of them, 2 of them worse; 0 older"))
        self.called("check", "--magnitude", "30%")
        self.assertIn("no run has a complete case like x*", self.refused("show", "x*"))
        self.assertEqual(len(self.shown("send/*")["series"]), 1)

    def test_better(self):
        self.stepped(factor=0.8)
        self.called("check", status=1)
        self.assertNotIn("times", self.called("check", "--worse"))
        self.assertEqual({step["worse"] for series in self.shown()["series"]
                          for step in series["steps"]}, {False})

    def test_same_version(self):
        self.add(*self.runs(*range(30)), version="1")
        self.add(*self.runs(*range(30, 38), factor=1.2), version="1")
        self.assertIn("version 1, which the run before was of too: something else came",
                      self.called("check", status=1))

    def test_no_step(self):
        self.add(*self.runs(*range(60), spread=0.03))
        self.assertIn("60 runs, 2 series: 0 steps", self.called("check"))

    def test_setups(self):
        """Of another fingerprint, MTU or device there are other series."""
        self.add(*self.runs(*range(30)))
        self.add(*self.runs(*range(30, 38), factor=1.5, hard_fingerprint="f" * 16))
        document = self.shown()
        self.assertEqual([setup["runs"] for setup in document["setups"]], [30, 8])
        self.assertEqual({len(series["points"]) for series in document["series"]}, {30, 8})
        self.called("check")
        # A setup that nobody measures on any more has had its alarms.
        self.add(*self.runs(*range(100, 110), factor=1.5), version="late")
        self.called("check", status=1)
        self.add(*self.runs(*range(200, 220), factor=1.5, hard_fingerprint="f" * 16))
        self.called("check")

    def test_formats(self):
        self.stepped()
        document = self.shown()
        rows = list(csv.DictReader(io.StringIO(self.called("show", "--format", "csv"))))
        self.assertEqual(len(rows), 76)
        values = {(series["case"], series["figure"], point["run"]): point["value"]
                  for series in document["series"] for point in series["points"]}
        for row in rows:
            self.assertNotIn(None, row.values())
            self.assertAlmostEqual(
                float(row["value"]) / values[row["case"], row["figure"], row["run"]], 1, places=12)
        self.assertEqual([row["version"] for row in rows if row["step_after"]], ["1.1", "1.1"])
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
        self.stepped()
        page = self.called("show", "--format", "html")
        older = "older runs; <code>--last 0</code> shows all"
        self.assertNotIn(older, page)
        self.assertTrue(f"<p>18 {older}</p>" in
                        self.called("show", "--format", "html", "--last", "20"))
        # Its only script is the page's own, which cli/browser.py tries.
        self.assertRegex(page, r"content=\"default-src 'none'; script-src 'sha256-[\w+/=]+'\"")
        self.assertEqual(page.count("<script"), 1)
        page = re.sub("(?s)<script>.*</script>", "", page)
        for word in ("<style", "style=", "onclick", "http://", "https://"):
            self.assertNotIn(word, page)
        # What is drawn is what is known.
        drawn = re.findall(r'data-x="(\d+)" data-y="([^"]+)" data-case="([^"]+)"', page)
        wanted = {(series["case"], point["value"])
                  for series in self.shown()["series"] for point in series["points"]}
        self.assertEqual({(case, float(y)) for _, y, case in drawn}, wanted)
        self.assertEqual(page.count('<g data-series="a step came"'), 2)
        self.assertEqual(page.count("<svg"), 2)
        self.assertEqual(page.count("<summary>Values of this figure</summary>"), 2)
        self.assertIn("version 1.1, commit bbb; the run before: version 1.0, commit aaa", page)

    def many_cases(self, number, count):
        """So many of them, all as one is."""
        made = self.document(number)
        case = next(case for case in made["cases"] if case["id"] == LATENCY)
        made["cases"] = [case | {"id": f"{LATENCY}/t{i}"} for i in range(10, 10 + count)]
        return self.write(f"{number}.json", made)

    def drawn(self, *words):
        """Runs that are drawn of each case, and the cases that are told to have no room."""
        page = self.called("show", "--format", "html", *words)
        runs = {}
        for run, case in re.findall(r'data-x="(\d+)" data-y="[^"]+" data-case="([^"]+)"', page):
            runs.setdefault(case, []).append(int(run))
        self.assertFalse("more values have no room" in page)
        return runs, re.findall(f"<li>({LATENCY}.*) half</li>", page)

    def test_page_without_room(self):
        """A series is drawn as far as its newest run, or named: 24 times 49 values are below 1200."""
        self.add(*(self.many_cases(number, 26) for number in range(49)))
        runs, named = self.drawn()
        self.assertEqual(len(runs), 24)
        for drawn in runs.values():
            self.assertEqual(drawn, list(range(1, 50)))
        self.assertEqual(named, [f"{LATENCY}/t34", f"{LATENCY}/t35"])
        for words in (("--last", "40"), ("*/t34", "*/t35")):
            runs, others = self.drawn(*words)
            self.assertEqual((set(named) - set(runs), others), (set(), []))
        # There is room for 40 cases, whatever they have.
        self.dir = f"{self.folder}/wide"
        self.add(self.many_cases(0, 42))
        runs, named = self.drawn()
        self.assertEqual((len(runs), named), (40, [f"{LATENCY}/t50", f"{LATENCY}/t51"]))

    def test_page_of_long_names(self):
        """Each has one figure, also where only the end of a name differs from another one's."""
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

    def test_text_of_others(self):
        document = self.document(0, host="<b>&\"n01")
        self.add(self.write("0.json", document), version="<script>alert(1)</script>")
        page = self.called("show", "--format", "html")
        self.assertEqual(page.count("<script"), 1)
        self.assertNotIn("alert(1)</script", page)
        self.assertNotIn("<b>", page)
        self.assertIn("&lt;script&gt;", page)

    def test_software_device(self):
        self.add(*self.runs(0, 1, kind="soft"))
        for verb in ("list", "show", "check"):
            self.assertEqual(self.called(verb).splitlines()[0], BANNER)
        for name in ("html", "csv", "json"):
            self.assertIn(BANNER, self.called("show", "--format", name))

    def tables(self):
        """What the index says, whatever its numbers are."""
        with sqlite3.connect(f"{self.dir}/index.sqlite") as index:
            return [
                index.execute("SELECT name, key, title, started, version, revision, runs.size FROM "
                              "runs JOIN setups ON setup = setups.id ORDER BY name").fetchall(),
                index.execute("SELECT key, case_id, kind, figure, run, value FROM points JOIN "
                              "series ON series = series.id JOIN setups ON setup = setups.id "
                              "ORDER BY 1, 2, 3, 4, 5").fetchall(),
                index.execute("SELECT key, case_id, figure, settled, at, run, run_before, "
                              "value_before, value_after FROM steps JOIN series ON series = "
                              "series.id JOIN setups ON setup = setups.id ORDER BY 1, 2, 3, 4, 5"
                              ).fetchall(),
            ]

    def test_rebuild(self):
        """In whatever order and pieces they came."""
        numbers = list(range(120))
        self.chance.shuffle(numbers)
        paths = []
        for number in range(120):
            paths += self.runs(number, factor=1.2 if 40 <= number < 90 else 1)
        for i in range(0, 120, 15):
            self.add(*[paths[number] for number in numbers[i:i + 15]])
            Ended(Program(*self.command("check")))
        before = self.shown()
        tables = self.tables()
        self.assertEqual([len(series["steps"]) for series in before["series"]], [2, 2])
        self.assertEqual(self.called("rebuild"), "120 runs, 2 series, 0 skipped")
        self.assertEqual(self.shown(), before)
        self.assertEqual(self.tables(), tables)
        # In their order, one by one at the end, each looked at.
        self.dir = f"{self.folder}/other"
        self.add(*paths[:100])
        for path in paths[100:]:
            self.add(path)
            Ended(Program(*self.command("check")))
        self.assertEqual(self.shown(), before)
        self.assertEqual(self.tables()[1:], tables[1:])

    def test_removed(self):
        self.stepped()
        for name in self.kept()[30:]:
            os.unlink(f"{self.dir}/runs/{name}")
        self.assertIn("30 runs, 2 series: 0 steps", self.called("check"))

    def test_corrupt_files(self):
        paths = self.runs(*range(5))
        self.add(*paths)
        names = self.kept()
        path = f"{self.dir}/runs/{names[2]}"
        with open(path, "r+b") as file:
            file.seek(100)
            file.write(b"X")
        with open(f"{self.dir}/runs/{names[3]}", "w", encoding="ascii"):
            pass
        with open(f"{self.dir}/runs/mine.json", "w", encoding="ascii") as file:
            file.write("{}")
        with open(f"{self.dir}/runs/{names[4].removesuffix('json')}label", "w",
                  encoding="ascii") as file:
            file.write("[]")
        for verb, status in (("list", 0), ("check", 0), ("show", 0), ("rebuild", 1)):
            ended = Ended(Program(*self.command(verb)))
            self.assertEqual(ended.status, status, ended.err)
            lines = sorted(ended.err.splitlines())
            self.assertEqual(len(lines), 4, ended.err)
            self.assertIn(f"skipped: runs/{names[2]}: it is not the document that was added",
                          lines[0])
            self.assertIn(f"skipped: runs/{names[3]}: ", lines[1])
            self.assertIn(f"skipped: runs/{names[4]}: the label is no JSON object", lines[2])
            self.assertIn("skipped: runs/mine.json is no name of a run", lines[3])
        self.assertEqual(ended.out, "2 runs, 2 series, 4 skipped")
        # To add it again mends it.
        os.unlink(f"{self.dir}/runs/mine.json")
        told = self.add(*paths)
        self.assertEqual((told.count(" added"), told.count("labelled anew")), (2, 1))
        self.assertEqual(len(self.shown()["runs"]), 5)

    def test_links(self):
        """Of what is not there for now it is told; of what cannot be looked at nothing is known."""
        self.add(*self.runs(*range(3)))
        path = f"{self.dir}/runs/{self.kept()[1]}"
        os.rename(path, f"{self.folder}/elsewhere")
        os.symlink(f"{self.folder}/elsewhere", path)
        self.assertIn("3 runs, ", self.called("check"))
        os.rename(f"{self.folder}/elsewhere", f"{self.folder}/away")
        for verb, status in (("check", 0), ("rebuild", 1)):
            ended = Ended(Program(*self.command(verb)))
            self.assertEqual(ended.err, f"verbmark: skipped: runs/{os.path.basename(path)} is no file, or "
                                        "leads to none that is there")
            self.assertIn("2 runs, ", ended.out)
            self.assertEqual(ended.status, status)
        os.unlink(path)
        notes = f"{self.dir}/runs/notes"
        os.symlink(notes, notes)
        ended = Ended(Program(*self.command("check")))
        self.assertIn("skipped: runs/notes is no name of a run", ended.err)
        self.assertEqual(ended.status, 0)
        os.symlink(path, path)
        os.unlink(notes)
        ended = Ended(Program(*self.command("check")))
        self.assertEqual((ended.status, ended.err),
                         (1, f"verbmark: cannot read the runs of {self.dir}: Too many levels of "
                             "symbolic links"))

    def test_corrupt_index(self):
        self.stepped()
        before = self.shown()
        path = f"{self.dir}/index.sqlite"

        def spoil(how):
            with open(path, "r+b") as file:
                how(file)

        def fill(file):
            file.write(b"no database at all" * 1000)

        def cut(file):
            file.truncate(os.path.getsize(path) // 2)

        for how in (fill, cut, scratch):
            spoil(how)
            ended = Ended(Program(*self.command("show", "--format", "json")))
            self.assertEqual(ended.status, 0, ended.err)
            self.assertEqual(len(ended.err.splitlines()), 1, ended.err)
            self.assertIn("the index is made anew from the runs: ", ended.err)
            self.assertEqual(json.loads(ended.out), before)
            self.assertEqual(self.shown(), before)
        with sqlite3.connect(path) as index:
            index.execute("PRAGMA user_version = 99")
        ended = Ended(Program(*self.command("show", "--format", "json")))
        self.assertIn("anew from the runs: the index is of version 99, and this is 5", ended.err)
        self.assertEqual(json.loads(ended.out), before)
        with sqlite3.connect(path) as index:
            index.execute("DROP TABLE points")
        ended = Ended(Program(*self.command("check")))
        self.assertIn("anew from the runs: no such table: ", ended.err)
        self.assertEqual(self.shown(), before)

    @unittest.skipIf(IS_SANITIZED, "with sanitizers that takes minutes")
    def test_killed_writer(self):
        """At any moment: what was said to be added is there, and the rest works."""
        paths = self.runs(*range(40))
        said = set()
        began = time.monotonic()
        self.add(paths[0])
        least = time.monotonic() - began
        for i in range(30):
            with subprocess.Popen(self.command("add", *paths[i:i + 10]), stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True) as writer:
                time.sleep(self.chance.uniform(0, 3 * least))
                writer.kill()
                said |= {line.split()[1] for line in writer.communicate()[0].splitlines()
                         if line.endswith(("added", "already"))}
        self.assertTrue(said)
        ended = Ended(Program(*self.command("check")))
        self.assertEqual((ended.status, ended.err), (0, ""))
        self.assertLessEqual({f"{name}.json" for name in said}, set(self.kept()))
        self.assertEqual({f"{run['run']}.json" for run in self.shown()["runs"]}, set(self.kept()))
        self.add(*paths)
        self.assertEqual(len(self.shown()["runs"]), 40)
        tables = self.tables()[:2]
        self.called("rebuild")
        self.assertEqual(self.tables()[:2], tables)
        # What they had begun is taken away later.
        for name in os.listdir(f"{self.dir}/runs"):
            if name.startswith(".new-"):
                os.utime(f"{self.dir}/runs/{name}", (0, 0))
        self.called("list")
        self.assertEqual([name for name in os.listdir(f"{self.dir}/runs") if name[0] == "."], [])

    def test_writers_at_once(self):
        paths = self.runs(*range(60))
        parts = (paths[:40], paths[20:], paths[::2])
        writers = [Program(*self.command("add", *part)) for part in parts]
        readers = [Program(*self.command("check")) for _ in range(2)]
        for writer in writers:
            ended = Ended(writer)
            self.assertEqual((ended.status, ended.err), (0, ""))
        for reader in readers:
            ended = Ended(reader)
            # It may have come before there was any.
            self.assertTrue(not ended.status or "there is no history" in ended.err, ended.err)
        self.assertEqual(len(self.shown()["runs"]), 60)
        self.assertEqual(len(self.kept()), 60)

    def test_stopped_reader(self):
        """Who does not read on keeps nobody waiting."""
        self.add(*self.runs(*range(40)))
        with subprocess.Popen(self.command("show", "--format", "json"),
                              stdout=subprocess.PIPE) as reader:
            reader.stdout.read(1)
            self.add(*self.runs(40))
            reader.communicate()

    def test_stopped_writer(self):
        """And who is stopped in the midst of it is told of, not waited for without end."""
        self.add(*self.runs(0))
        with open(f"{self.dir}/lock", "r+b") as held:
            import fcntl

            fcntl.flock(held, fcntl.LOCK_EX)
            waiting = Program(*self.command("list"))
            time.sleep(0.2)
            self.assertIsNone(waiting.process.poll())
            fcntl.flock(held, fcntl.LOCK_UN)
            self.assertEqual(Ended(waiting).status, 0)

    def limited(self, size, *words):
        """No file grows beyond that."""
        import resource

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        return Ended(Program(*self.command(*words), preexec_fn=limit))

    def test_no_room(self):
        path, other = self.runs(0, 1)
        ended = self.limited(1000, "add", path)
        self.assertEqual((ended.status, ended.out), (1, ""))
        self.assertEqual(ended.err, f"verbmark: cannot keep the run in {self.dir}: File too large")
        self.assertEqual(self.kept(), [])
        # There is room for the run alone.
        room = os.path.getsize(path) + 1000
        ended = self.limited(room, "add", path)
        self.assertEqual(ended.status, 1)
        self.assertIn(" added", ended.out)
        self.assertEqual(len(ended.err.splitlines()), 1, ended.err)
        self.assertIn("; the runs are kept, and only the index is behind", ended.err)
        # Who only looks needs none.
        ended = self.limited(room, "show", "--format", "json")
        self.assertEqual(ended.status, 0, ended.err)
        self.assertIn("cannot be written, and is made in memory this time", ended.err)
        self.assertEqual(len(json.loads(ended.out)["runs"]), 1)
        self.add(other)
        self.assertEqual(len(self.shown()["runs"]), 2)

    @unittest.skipUnless(os.path.exists("/dev/full"), "there is no /dev/full")
    def test_full_output(self):
        self.add(*self.runs(0))
        for words in (("show",), ("show", "--format", "json"), ("list",)):
            with open("/dev/full", "w", encoding="ascii") as full:
                ended = subprocess.run(self.command(*words), stdout=full, stderr=subprocess.PIPE,
                                       text=True, timeout=PATIENCE, check=False)
            self.assertEqual(ended.returncode, 1)
            self.assertIn("cannot write to standard output", ended.stderr)

    def test_read_again(self):
        """What could not be read is, once it can be, though the file is as it was."""
        self.add(*self.runs(0, 1))
        before = self.shown()
        os.chmod(self.folder, 0o755)
        for name in (self.dir, f"{self.dir}/runs", f"{self.dir}/lock"):
            os.chmod(name, 0o777)
        os.unlink(f"{self.dir}/index.sqlite")
        path = f"{self.dir}/runs/{self.kept()[0]}"
        os.chmod(path, 0)
        ended = Ended(Program(*self.command("show", "--format", "json"), **ANYBODY))
        self.assertEqual(ended.status, 0, ended.err)
        self.assertIn("Permission denied", ended.err)
        self.assertEqual(json.loads(ended.out)["skipped"], 1)
        os.chmod(path, 0o644)
        ended = Ended(Program(*self.command("show", "--format", "json"), **ANYBODY))
        self.assertEqual((json.loads(ended.out), ended.err), (before, ""))

    def test_loads_of_a_share(self):
        """20 % of another maximum is another load."""
        document = self.document(0)
        case = next(case for case in document["cases"] if case["id"] == LATENCY)
        for rate in ("20%", "100k"):
            document["cases"].append(case | {"id": f"send/load/64/poll/{rate}"})
        self.add(self.write("loads.json", document))
        cases = {series["case"] for series in self.shown()["series"]}
        self.assertIn("send/load/64/poll/100k", cases)
        self.assertNotIn("send/load/64/poll/20%", cases)

    def test_read_only(self):
        self.stepped()
        before = self.shown()
        extra, = self.runs(50)
        with open(f"{self.dir}/runs/mine.json", "w", encoding="ascii") as file:
            file.write("{}")
        before["skipped"] = 1
        os.chmod(self.folder, 0o755)
        for folder in (self.dir, f"{self.dir}/runs"):
            os.chmod(folder, 0o555)
        os.chmod(f"{self.dir}/lock", 0o444)
        os.chmod(f"{self.dir}/index.sqlite", 0o444)
        self.addCleanup(os.chmod, self.dir, 0o755)
        self.addCleanup(os.chmod, f"{self.dir}/runs", 0o755)
        ended = Ended(Program(*self.command("show", "--format", "json"), **ANYBODY))
        self.assertEqual(ended.status, 0, ended.err)
        self.assertEqual(json.loads(ended.out), before)
        self.assertEqual(len(ended.err.splitlines()), 2)
        self.assertIn("made in memory this time", ended.err)
        self.assertIn("skipped: runs/mine.json is no name of a run", ended.err)
        self.assertEqual(Ended(Program(*self.command("check"), **ANYBODY)).status, 1)
        # Damaged where it is found late.
        os.chmod(f"{self.dir}/index.sqlite", 0o644)
        with open(f"{self.dir}/index.sqlite", "r+b") as file:
            scratch(file)
        ended = Ended(Program(*self.command("show", "--format", "json"), **ANYBODY))
        self.assertEqual(ended.status, 0, ended.err)
        self.assertEqual(json.loads(ended.out), before)
        ended = Ended(Program(*self.command("add", extra), **ANYBODY))
        self.assertEqual(ended.status, 1)
        self.assertEqual(ended.err,
                         f"verbmark: cannot keep runs in {self.dir}: Permission denied")
        ended = Ended(Program(*self.command("rebuild"), **ANYBODY))
        self.assertEqual(ended.status, 1)
        self.assertIn(f"cannot lock {self.dir}: Permission denied", ended.err)
