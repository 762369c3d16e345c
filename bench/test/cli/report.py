# SPDX-License-Identifier: MIT
"""Tables of results, and merging results: documents made here, with values computed here."""

import copy
import csv
import html.parser
import io
import json
import os
import pty
import re
import shutil
import statistics
import subprocess
import tempfile
import unittest

from verbmark import PATIENCE, VERBMARK, verbmark

SAMPLE = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../../../reports/test/lib/sample.json"
)
# 2000 samples each, all below 2048 ns, where bins are one nanosecond wide.
FAST = [1230] * 1500 + [1250] * 480 + [1400] * 20
SLOW = [1230] * 1000 + [1300] * 980 + [2000] * 20
MS = 1000000


def cost(messages):
    figures = dict.fromkeys(
        ("system_ns", "voluntary_switches", "involuntary_switches", "cq_events"), 0
    )
    return {"messages": messages, "user_ns": 2000 * messages, "completions": messages, **figures}


def trial(messages, duration, **figures):
    return {
        "warmup": {"messages": 100, "duration_ns": 20 * MS, "converged": True},
        "messages": messages,
        "duration_ns": duration,
        "cpu": {"client": cost(messages), "server": cost(messages)},
        **figures,
    }


def case(identifier, status="complete", **more):
    operation, metric, size, mode = identifier.split("/")
    return {
        "id": identifier, "op": operation, "metric": metric, "size": int(size), "cq": mode,
        "server_cq": mode, "transport": "RC", "trials": [], "status": status, **more,
    }


def latency(samples, identifier="send/lat/64/poll", kind="half"):
    bins = [[value, value + 1, samples.count(value)] for value in sorted(set(samples))]
    return case(
        identifier,
        trials=[trial(len(samples), 5 * MS, latency_ns={"p50": statistics.median(samples)},
                      warmup={"messages": 100, "duration_ns": 20 * MS + sum(samples),
                              "converged": True})],
        latency_ns={
            "count": len(samples),
            "kind": kind,
            "stddev": statistics.stdev(samples),
            "histogram": {
                "scheme": "log2-linear", "sub_bits": 10, "unit": "ns", "count": len(samples),
                "sum": sum(samples), "min": min(samples), "max": max(samples), "over": 0,
                "bins": bins,
            },
        },
        cpu={"client": cost(len(samples)), "server": cost(len(samples))},
    )


def bandwidth(windows):
    """Messages of 1000 bytes in throughput windows of 10 ms: 100 in a window are 10 MB/s."""
    messages = sum(windows)
    duration = 10 * MS * len(windows)
    rates = {"bytes_per_s": 1e12 * messages / duration, "messages_per_s": 1e9 * messages / duration}
    return case(
        "write/bw/1000/event",
        trials=[trial(messages, duration, bandwidth=rates)],
        bandwidth={
            "bytes": 1000 * messages, "messages": messages, "duration_ns": duration,
            "window_ns": 10 * MS, "windows": [100000 * count for count in windows],
        },
        cpu={"client": cost(messages), "server": cost(messages)},
    )


def result(*cases, **run):
    end = {"port": 1, "link_layer": "Ethernet", "rate_mbps": 1000, "mtu": 4096}
    return {
        "schema": "verbmark.result/1",
        "tool": {"name": "verbmark", "version": "9.9.9"},
        "run": {
            "started": "2001-02-03T04:05:06Z", "finished": "2001-02-03T04:05:07Z",
            "status": "complete", "command": ["verbmark", "run", "n02"],
            "clock": {"kind": "tsc", "hz": 2500000000, "drift_ppm": 0.5}, **run,
        },
        "hosts": {
            "client": {"host": "n01", "device": "mlx5_0", "address": "192.0.2.1", **end},
            "server": {"host": "n02", "device": "mlx5_1", "address": "192.0.2.2", **end},
        },
        "cases": list(cases),
    }


ENDED_BADLY = (
    case("read/lat/64/poll", "failed", error="transport retry exceeded, 0 of 5000"),
    case("read/lat/64/event", "interrupted"),
    case("read/lat/64/adaptive", "skipped", error="it cannot be"),
)


class Page(html.parser.HTMLParser):
    """Parses a page into tables, as lists of rows of cells, and other text, without figures."""

    VOID = ("input", "meta")
    CELLS = ("th", "td")

    def __init__(self, text):
        super().__init__()
        self.open = []
        self.tables = []
        self.text = ""
        self.feed(text)
        self.close()
        if self.open:
            raise AssertionError(f"unclosed tags: {self.open}")

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)
        if "details" in self.open or "svg" in self.open:
            return
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in self.CELLS:
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        if self.open.pop() != tag:
            raise AssertionError(f"unexpected end of {tag}")

    def handle_data(self, data):
        if "details" in self.open or "svg" in self.open:
            return
        if self.open and self.open[-1] in self.CELLS:
            self.tables[-1][-1][-1] += data
        else:
            self.text += data


class Report(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, document):
        path = f"{self.folder.name}/{name}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(document if isinstance(document, str) else json.dumps(document))
        return path

    def shown(self, *words, status=0):
        ended = verbmark("report", *words)
        self.assertEqual(ended.status, status, ended.err)
        return ended

    def line(self, text, start):
        """Returns the words of the only line with that start."""
        found = [line.split() for line in text.splitlines() if line.startswith(start)]
        self.assertEqual(len(found), 1, text)
        return found[0]

    def test_latency(self):
        path = self.write("a.json", result(latency(FAST)))
        ended = self.shown(path)
        self.assertEqual(ended.err, "")
        lines = ended.out.splitlines()
        self.assertTrue(lines[0].startswith("n01 mlx5_0/1 -> n02 mlx5_1/1"), lines[0])
        words = self.line(ended.out, "send ")
        # Sample 1000 of 2000 is 1230, sample 1980 is 1250; 20 are beyond p99, 2 beyond p99.9.
        self.assertEqual(words[1:6], ["1.23", "-", "1.25", "-", "1.40"])
        self.assertEqual(words[6], "2.00/2.00")
        # What all cases have in common is in the heading.
        self.assertIn("LATENCY us: size 64, poll, half a round trip  ", ended.out)
        self.assertEqual(lines[-1], f"1 of 1 case complete, 2001-02-03T04:05:06Z, {path}")

    def test_bandwidth(self):
        # 600 messages of 1000 bytes in 30 ms are 160 Mb/s, 16 % of the link rate.
        out = self.shown(self.write("a.json", result(bandwidth([100, 200, 300])))).out
        self.assertIn("\nBANDWIDTH: size 1000, event  ", out)
        self.assertEqual(self.line(out, "write ")[:4], ["write", "0.160", "-", "16.0"])

    def test_windows(self):
        """The range of throughput windows is only on the page, where they have enough messages."""
        path = self.write("a.json", result(bandwidth([100, 200, 300])))
        self.assertEqual(self.line(self.shown(path).out, "write ")[2], "-")
        (rows,) = self.page(path).tables
        self.assertEqual((rows[0][-1], rows[1][-1]), ("windows", "0.0800..0.240"))

    def page(self, *words):
        return Page(self.shown("--format", "html", *words).out)

    def test_page_has_cells_of_table(self):
        path = self.write("a.json", result(latency(FAST), bandwidth([100, 200, 300])))
        page = self.page(path)
        table = self.shown(path).out
        self.assertEqual(len(page.tables), 2)
        for rows, operation in zip(page.tables, ("send", "write")):
            # The page also has the range of throughput windows.
            shown = rows[1][:-1] if rows[0][-1] == "windows" else rows[1]
            # The terminal has size, mode and kind in the heading.
            first = rows[0].index("p50" if operation == "send" else "Gb/s")
            self.assertEqual(shown[:1] + shown[first:], self.line(table, operation + " "))
        pair, settings = table.splitlines()[0].split("  ")
        self.assertIn(pair, page.text)
        self.assertIn(settings, page.text)

    def figures(self, *words):
        """Returns the rows of CSV, and (unit, value) by file, case, trial and figure."""
        rows = list(csv.DictReader(io.StringIO(self.shown("--format", "csv", *words).out)))
        self.assertFalse([row for row in rows if None in row or None in row.values()])
        found = {
            (row["file"], row["case"], row["trial"], row["figure"]): (row["unit"], row["value"])
            for row in rows
        }
        self.assertEqual(len(found), len(rows))
        return rows, found

    def test_csv(self):
        path = self.write("a,\"b.json", result(latency(FAST), bandwidth([100, 200, 300])))
        rows, found = self.figures(path)
        self.assertEqual({row["case"] for row in rows}, {"send/lat/64/poll", "write/bw/1000/event"})
        sent, wrote = (path, "send/lat/64/poll"), (path, "write/bw/1000/event")
        for figure, unit, value in (
            ("min", "ns", 1230), ("p50", "ns", 1230), ("p99", "ns", 1250), ("max", "ns", 1400),
            ("mean", "ns", statistics.mean(FAST)), ("stddev", "ns", statistics.stdev(FAST)),
            ("messages", "1", 2000), ("duration", "ns", 5 * MS), ("client_cpu", "ns", 2000),
        ):
            self.assertEqual(found[*sent, "", figure][0], unit)
            self.assertAlmostEqual(float(found[*sent, "", figure][1]), value, delta=value / 1000)
        self.assertEqual(found[*sent, "1", "p50"], ("ns", "1230"))
        # 600 messages of 1000 bytes in 30 ms.
        self.assertEqual(found[*wrote, "", "bytes_per_s"], ("B/s", "20000000"))
        self.assertEqual(found[*wrote, "1", "messages_per_s"], ("1/s", "20000"))
        self.assertNotIn((*wrote, "", "p50"), found)
        (row,) = [row for row in rows if row["figure"] == "p50" and not row["trial"]]
        wanted = {"op": "send", "metric": "lat", "bytes": "64", "cq": "poll", "kind": "half",
                  "transport": "RC", "status": "complete"}
        self.assertEqual({name: row[name] for name in wanted}, wanted)

    @unittest.skipUnless(shutil.which("Rscript"), "R is not installed (package r-base-core)")
    def test_csv_in_r(self):
        """R reads numbers as numbers, words as words, and empty fields as NA."""
        path = f"{self.folder.name}/a.csv"
        self.shown(SAMPLE, "--format", "csv", "-o", path)
        script = f"""x <- read.csv("{path}")
            cat(sapply(x[c("op", "bytes", "trial", "figure", "value")], class), "\n")
            cat(nrow(x), sum(is.na(x$trial)), sum(is.na(x$value)), "\n")
            y <- subset(x, case == "send/lat/64/poll" & figure == "p50" & !is.na(trial))
            cat(format(y$value, digits = 10), "\n")"""
        printed = subprocess.run(["Rscript", "-e", script], capture_output=True, timeout=PATIENCE,
                              check=True).stdout.decode().splitlines()
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        with open(SAMPLE, encoding="utf-8") as file:
            case = next(one for one in json.load(file)["cases"] if one["id"] == "send/lat/64/poll")
        self.assertEqual(printed[0].split(), ["character", "integer", "integer", "character",
                                              "numeric"])
        self.assertEqual(list(map(int, printed[1].split())), [
            len(rows), sum(not row["trial"] for row in rows),
            sum(not row["value"] for row in rows)])
        self.assertEqual(list(map(float, printed[2].split())),
                         [trial["latency_ns"]["p50"] for trial in case["trials"]])

    def on_a_terminal(self, *words, **environment):
        controller, terminal = pty.openpty()
        process = subprocess.Popen([VERBMARK, "report", *words], stdin=subprocess.DEVNULL,
                                   stdout=terminal, stderr=terminal,
                                   env=os.environ | {"TERM": "xterm", "LC_ALL": "C.UTF-8"} | environment)
        os.close(terminal)
        shown = b""
        try:
            while more := os.read(controller, 65536):
                shown += more
        except OSError:
            pass  # the program has closed the terminal
        os.close(controller)
        self.assertEqual(process.wait(PATIENCE), 0, shown)
        return shown.decode().replace("\r\n", "\n")

    def test_colors(self):
        """Only on terminals, and only titles, failures and warnings of the table are colored."""
        plain = self.shown(SAMPLE).out
        self.assertNotIn("\033", plain)
        shown = self.on_a_terminal(SAMPLE, NO_COLOR="")
        self.assertRegex(shown, r"(?m)^\033\[1;36mLATENCY us[^\n\033]*\033\[m ")
        self.assertRegex(shown, r"(?m)^\033\[31mwrite/lat/4k\S*: failed\033\[m\n  no completion")
        self.assertEqual(re.sub(r"\033\[[\d;]*m", "", shown).rstrip(), plain)
        for words, environment in (((), {"NO_COLOR": "1"}), ((), {"TERM": "dumb"}),
                                   (("--format", "markdown"), {}), (("--format", "csv"), {})):
            self.assertNotIn("\033", self.on_a_terminal(SAMPLE, *words, **environment))

    def test_csv_of_several(self):
        """There is one header; a case without figures has one line without a value."""
        paths = (self.write("a.json", result(*ENDED_BADLY)), self.write("b.json", result(latency(FAST))))
        rows, _ = self.figures(*paths)
        bad = {row["case"]: row for row in rows if row["file"] == paths[0]}
        for ended in ENDED_BADLY:
            row = bad[ended["id"]]
            self.assertEqual((row["status"], row["figure"], row["value"]), (ended["status"], "", ""))
            self.assertEqual(row["kind"], "")
        self.assertTrue([row for row in rows if row["file"] == paths[1]])

    def test_json(self):
        """Documents are printed unchanged, one per line."""
        good = self.write("a.json", result(latency(FAST), bandwidth([100, 200, 300])))
        bad = self.write("b.json", result(*ENDED_BADLY))
        lines = self.shown("--format", "json", good, bad).out.splitlines()
        self.assertEqual(len(lines), 2)
        for path, line in zip((good, bad), lines):
            again = self.write("again.json", json.loads(line))
            self.assertEqual(self.shown("--format", "json", again).out, line)
            shown = [self.shown(name).out.rpartition(", ")[0] for name in (path, again)]
            self.assertEqual(*shown)

    def test_markdown_has_cells_of_table(self):
        path = self.write("a.json", result(latency(FAST), bandwidth([100, 200, 300])))
        table = self.shown(path).out
        lines = self.shown("--format", "markdown", path).out.splitlines()
        rows = [[cell.strip() for cell in line.split("|")[1:-1]]
                for line in lines if line.startswith("| ") and ":--" not in line]
        titles, latencies, others, rates = rows
        # The terminal has size, mode and kind in the heading.
        self.assertEqual(latencies[:1] + latencies[titles.index("p50"):], self.line(table, "send "))
        self.assertEqual(rates[:1] + rates[others.index("Gb/s"):], self.line(table, "write "))

    def test_markdown_of_many_cases(self):
        """The output of all files together stays below the limit of job summaries."""
        one = latency([1230, 1250])
        cases = [one | {"id": f"send/lat/{size}/poll", "size": size} for size in range(1, 6000)]
        paths = [self.write(f"{name}.json", result(*cases)) for name in "abc"]
        few = [self.write(f"{n}.json", result(*ENDED_BADLY)) for n in range(300)]
        text = self.shown("--format", "markdown", *paths, *few).out
        self.assertLess(len(text.encode()), 1 << 20)
        self.assertGreaterEqual(text.count("lines omitted here"), 3)

    def test_page_of_several(self):
        bad = result(*ENDED_BADLY, latency(SLOW))
        bad["hosts"]["client"]["facts"] = {"cpu": {"model": "<b>A & B</b>"}}
        paths = self.write("a.json", bad), self.write("b.json", result(latency(FAST)))
        page = self.page(*paths)
        self.assertEqual(len(page.tables), 2)
        self.assertIn(">cpu model</th><td>&lt;b&gt;A &amp; B&lt;/b&gt;</td><td>-</td>"
                      "<td>differs, hard</td>", self.shown("--format", "html", *paths).out)
        for ended in ENDED_BADLY:
            self.assertIn(f"{ended['id']}: {ended['status']}", page.text)
            self.assertIn(ended.get("error", ""), page.text)

    def test_output(self):
        path = self.write("a.json", result(latency(FAST)))
        for words in ((), ("--format", "html"), ("--merge",)):
            out = f"{self.folder.name}/out"
            self.assertEqual(self.shown(path, *words, "-o", out).out, "")
            with open(out, encoding="utf-8") as file:
                self.assertEqual(file.read().rstrip("\n"), self.shown(path, *words).out)
        self.assertEqual(
            self.shown(path, "-o", "/nowhere/at/all", status=1).err,
            "verbmark: cannot write /nowhere/at/all: No such file or directory",
        )
        self.assertIn("No space left", self.shown(path, "-o", "/dev/full", status=1).err)

    def test_failure_keeps_output_file(self):
        old = self.write("old.html", "old")
        ended = self.shown("/nowhere/at/all", "--format", "html", "-o", old, status=1)
        self.assertEqual(
            ended.err, "verbmark: cannot read /nowhere/at/all: No such file or directory"
        )
        with open(old, encoding="utf-8") as file:
            self.assertEqual(file.read(), "old")

    def test_nothing_to_show(self):
        """If no file can be read, not even a heading is printed."""
        base = ("--baseline", self.write("base.json", result(latency(FAST))))
        for words in (("table",), ("html",), ("html", *base), ("markdown",), ("csv",), ("json",)):
            ended = verbmark("report", "--format", *words, "/nowhere/at/all", "/nowhere/else")
            self.assertEqual((ended.status, ended.out), (1, ""), words)
            self.assertEqual(len(ended.err.splitlines()), 2, ended.err)

    def test_warnings(self):
        document = result(latency(FAST))
        document["warnings"] = [
            {"code": "governor", "spoils": True, "host": "n02", "what": "governor powersave",
             "why": "it is slow", "mend": "cpupower frequency-set -g performance"},
            {"code": "idle", "spoils": False, "host": "n02", "what": "idle states", "why": "",
             "mend": ""},
        ]
        lines = self.shown(self.write("a.json", document)).out.splitlines()
        self.assertEqual(
            [line for line in lines if line.startswith("warning")],
            ["warning: n02: governor powersave; fix: cpupower frequency-set -g performance"],
        )

    def test_no_control_characters(self):
        """Control characters in a document do not reach the terminal."""
        stream = bandwidth([100])
        stream.update(semantics={"receive": True, "buffer": True, "seen": "x"},
                      think="\x1b]0;pwned\x07")
        self.assert_refused(result(stream))
        for more in ({"access": "\x1b[2J"}, {"\x1b[2J": 1}, {"access": "\u009b2J"}):
            self.assert_refused(result(latency(FAST) | more))

    def assert_refused(self, document):
        ended = self.shown(self.write("a.json", document), status=1)
        self.assertNotIn("\x1b", ended.out + ended.err)
        self.assertIn("not printable", ended.err)

    def test_units(self):
        path = self.write("a.json", result(bandwidth([100, 200, 300])))
        other = self.write("b.json", result(bandwidth([400])))
        # 600 KB in 30 ms are 20 MB/s, another 400 KB in 10 ms 40; the median of both is 30.
        for unit, figure in (("Gb/s", "0.160"), ("Mb/s", "160"), ("GB/s", "0.0200"),
                             ("MB/s", "20.0"), ("MiB/s", "19.1")):
            out = self.shown(path, "--units", unit).out
            self.assertEqual(self.line(out, "write ")[1], figure)
            self.assertRegex(out, rf"(?m)^ +{unit} +95% CI ")
        merged = self.shown("--merge", path, other, "--units", "MB/s").out
        self.assertEqual(self.line(merged, "write ")[1], "30.0")

    def test_incomplete_cases(self):
        path = self.write("a.json", result(latency(FAST), *ENDED_BADLY, status="interrupted"))
        lines = self.shown(path).out.splitlines()
        failed = lines.index("read/lat/64/poll: failed")
        self.assertEqual(lines[failed + 1], "  transport retry exceeded, 0 of 5000")
        # Each is listed once, below the table.
        self.assertEqual(
            [line for line in lines if line.startswith(("read/lat/64/a", "read/lat/64/e"))],
            lines[-4:-2],
        )
        self.assertEqual(lines[-4], "read/lat/64/adaptive: skipped: it cannot be")
        self.assertEqual(lines[-3], "read/lat/64/event: interrupted")
        self.assertTrue(lines[-1].startswith("1 of 3 cases complete, "), lines[-1])

    def test_empty_result(self):
        out = self.shown(self.write("a.json", result())).out
        self.assertTrue(out.splitlines()[-1].startswith("0 of 0 cases complete, "), out)

    def test_several(self):
        one = self.write("a.json", result(latency(FAST)))
        other = self.write("b.json", result(bandwidth([5])))
        out = self.shown(one, other).out
        self.assertEqual(out.count("n01 mlx5_0/1 -> n02"), 2)
        first, second = out.split(f"{one}\n\n")
        self.assertIn("send ", first)
        self.assertTrue(second.endswith(other))
        self.assertIn("write ", second)

    def test_standard_input(self):
        path = self.write("a.json", result(latency(FAST)))
        with open(path, "rb") as file:
            ended = subprocess.run(
                [VERBMARK, "report", "-"], stdin=file, capture_output=True, text=True,
                timeout=PATIENCE, check=True,
            )
        self.assertTrue(ended.stdout.endswith("1 of 1 case complete, 2001-02-03T04:05:06Z, -\n"))
        self.assertEqual(ended.stdout, self.shown(path).out.replace(path, "-") + "\n")

    def test_unreadable_files(self):
        good = self.write("good.json", result(latency(FAST)))
        other = result(latency(FAST))
        other["schema"] = "verbmark.result/2"
        torn = result(latency(FAST))
        torn["cases"][0]["latency_ns"]["histogram"]["bins"][0][2] += 1
        for document, sentence in (
            (other, "schema is verbmark.result/2, but only verbmark.result/1 is supported"),
            (torn, "send/lat/64/poll: latency_ns: the bins do not add up to the count 2000"),
            ({}, 'JSON, but not a verbmark result: "schema" is not "verbmark.result/1"'),
            ("", "not a verbmark result: line 1, column 0: '[' or '{' expected near end of file"),
            (json.dumps(result(latency(FAST)))[:-2], "not a verbmark result: line 1, column "),
        ):
            with self.subTest(sentence):
                bad = self.write("bad.json", document)
                ended = self.shown(bad, good, status=1)
                self.assertTrue(ended.err.startswith(f"verbmark: {bad}: {sentence}"), ended.err)
                self.assertEqual(len(ended.err.splitlines()), 1)
                # The unreadable file does not change how the other one is shown.
                self.assertEqual(ended.out, self.shown(good).out)
                self.assertEqual(self.shown("--merge", good, bad, status=1).out, "")
        for path, why in (("/nowhere/at/all", "No such file or directory"),):
            self.assertEqual(
                self.shown(path, status=1).err, f"verbmark: cannot read {path}: {why}"
            )

    def test_merged(self):
        paths = [
            self.write("a.json", result(latency(FAST), bandwidth([100, 200, 300]))),
            self.write("b.json", result(latency(SLOW), bandwidth([400]), ENDED_BADLY[0])),
        ]
        made = f"{self.folder.name}/made.json"
        out = self.shown("--merge", *paths, "--json", made).out
        words = self.line(out, "send ")
        # 2500 of 4000 samples are 1230, and 40 are 1400 or more: sample 3960 is 1300.
        self.assertEqual(words[1:6], ["1.23", "-", "1.30", "-", "2.00"])
        # The median of trials at 160 and 320 Mb/s.
        self.assertEqual(self.line(out, "write ")[1], "0.240")
        self.assertTrue(out.endswith("2 of 3 cases complete, 2001-02-03T04:05:06Z, 2 results"), out)
        with open(made, encoding="utf-8") as file:
            document = json.load(file)
        found = document["cases"][0]["latency_ns"]
        self.assertEqual(found["count"], 4000)
        self.assertEqual(
            found["histogram"]["bins"],
            [[1230, 1231, 2500], [1250, 1251, 480], [1300, 1301, 980], [1400, 1401, 20],
             [2000, 2001, 20]],
        )
        self.assertEqual(found["stddev"], statistics.stdev(FAST + SLOW))
        self.assertEqual(len(document["cases"][0]["trials"]), 2)
        self.assertEqual(
            document["cases"][1]["bandwidth"]["windows"],
            [10000000, 20000000, 30000000, 40000000],
        )
        self.assertEqual(document["cases"][2]["error"], ENDED_BADLY[0]["error"])
        self.assertEqual(document["run"]["status"], "failed")
        # Showing the merged document gives the same table.
        self.assertEqual(
            self.shown(made).out.splitlines()[:-1], out.splitlines()[:-1]
        )
        again = json.loads(self.shown("--merge", made, "--json", "-").out)
        self.assertEqual(again, document)

    def test_merged_in_any_order(self):
        paths = [
            self.write(f"{number}.json", result(latency(samples)))
            for number, samples in enumerate((FAST, SLOW, FAST[:500]))
        ]
        bins = [
            json.loads(self.shown("--merge", *order, "--json", "-").out)["cases"][0]["latency_ns"]
            for order in (paths, paths[::-1])
        ]
        self.assertEqual(*bins)

    def redacted(self, *words):
        made = f"{self.folder.name}/made.json"
        ended = self.shown("--redact", "--json", made, *words)
        with open(made, encoding="utf-8") as file:
            text = file.read()
        for word in ("n01", "n02", "192.0.2", "bastion", "alice", "0002:c903"):
            self.assertNotIn(word, text)
        return json.loads(text), made, ended

    def test_redacted(self):
        whole = result(
            latency(FAST), bandwidth([5]), case("read/lat/64/poll", "failed", error="n02 is gone"),
            status="failed",
            command=["verbmark", "run", "--launch", "ssh bastion", "-s", "64", "n02-mgmt",
                     "--json=/home/alice/a.json", "-d", "mlx5_0"],
        )
        whole["hosts"]["server"]["facts"] = {
            "host": "n02.example", "device": {"node_guid": "0002:c903:0012:3456", "fw_ver": "1.2"}
        }
        whole["turns"] = [{"by": "post-list", "pairs": [], "missing": ["read: n02-mgmt's mlx5_0"]}]
        path = self.write("a.json", whole)
        document, made, ended = self.redacted(path)
        # The output is not redacted: only users with access to the result see it.
        self.assertTrue(ended.out.startswith("n01 mlx5_0/1 -> n02 mlx5_1/1"), ended.out)
        self.assertEqual(
            document["run"]["command"],
            ["verbmark", "run", "--launch", "redacted", "-s", "64", "redacted", "--json=redacted", "-d",
             "mlx5_0"],
        )
        self.assertEqual(document["cases"][2]["error"], "server is gone")
        self.assertEqual(
            document["hosts"]["server"]["facts"], {"host": "server", "device": {"fw_ver": "1.2"}}
        )
        self.assertEqual(document["cases"][0]["latency_ns"]["count"], len(FAST))
        # The redacted document is a valid result, and redacting it again does not change it.
        shown = self.shown(made).out
        self.assertTrue(shown.startswith("client mlx5_0/1 -> server mlx5_1/1"), shown)
        self.assertEqual(shown.splitlines()[1:-1], self.shown(path).out.replace(
            "n02 is gone", "server is gone").splitlines()[1:-1])
        again = f"{self.folder.name}/again.json"
        shutil.copy(made, again)
        self.assertEqual(self.redacted(again)[0], document)
        other = self.write("b.json", result(latency(SLOW)))
        merged, _, _ = self.redacted("--merge", path, other)
        self.assertEqual(merged["cases"][0]["latency_ns"]["count"], len(FAST) + len(SLOW))

    def test_redacts_unknown_options(self):
        path = self.write("a.json", result(command=["verbmark", "run", "--later", "n02-mgmt"]))
        self.assertEqual(
            self.redacted(path)[0]["run"]["command"], ["verbmark", "run", "redacted", "redacted"]
        )

    def test_results_that_do_not_merge(self):
        good = self.write("good.json", result(latency(FAST)))
        elsewhere = result(latency(SLOW))
        elsewhere["hosts"]["server"]["host"] = "n03"
        deeper = copy.deepcopy(result(latency(SLOW)))
        deeper["cases"][0]["tx_depth"] = 7
        for document, sentence in (
            (result(latency(FAST), bandwidth([5])), "send/lat/64/poll: trial 1 is a duplicate: "
             "the same run twice, or one that was merged before"),
            (elsewhere, "server: host is n03, but was n02 before"),
            (result(latency(SLOW, kind="full")), "send/lat/64/poll: its latency is full, but was "
             "half before"),
            (deeper, "send/lat/64/poll: tx-depth is 7, but was not given before"),
        ):
            with self.subTest(sentence):
                bad = self.write("bad.json", document)
                made = f"{self.folder.name}/made.json"
                ended = self.shown("--merge", good, bad, "--json", made, status=1)
                self.assertEqual((ended.out, ended.err), ("", f"verbmark: {bad}: {sentence}"))
                self.assertFalse(os.path.exists(made))

    def test_document_that_cannot_be_written(self):
        path = self.write("a.json", result(latency(FAST)))
        ended = self.shown("--merge", path, "--json", "/nowhere/at/all.json", status=1)
        self.assertEqual(
            ended.err, "verbmark: cannot write /nowhere/at/all.json: No such file or directory"
        )
