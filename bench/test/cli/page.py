# SPDX-License-Identifier: MIT
"""
The figures of a page: every value drawn is the document's, and is where its axis puts it. The
test computes both on its own.
"""

import collections
import json
import math
import re
import statistics
import subprocess
import tempfile
import unittest

from cli.report import MS, case, cost, result, trial
from figures import Figures, place
from verbmark import VERBMARK, verbmark

# Coordinates are rounded to one decimal place.
PIXEL = 0.051


def merged(trials):
    return sorted(sample for samples in trials for sample in samples)


def histogram(samples):
    """Below 2048 ns a bin is one nanosecond wide; above, each octave has 1024 bins."""
    bins = collections.Counter()
    for value in samples:
        shift = max(value.bit_length() - 11, 0)
        bins[value >> shift << shift, ((value >> shift) + 1) << shift] += 1
    return {
        "scheme": "log2-linear", "sub_bits": 10, "unit": "ns", "count": len(samples),
        "sum": sum(samples), "min": min(samples), "max": max(samples), "over": 0,
        "bins": [[*edges, count] for edges, count in sorted(bins.items())],
    }


def quantile(samples, part):
    return sorted(samples)[max(math.ceil(len(samples) * part - 1e-9), 1) - 1]


def figures_of(samples):
    parts = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99_9": 0.999}
    return {name: quantile(samples, part) for name, part in parts.items()
            if len(samples) * (1 - part) > 9.99}


def latency(identifier, trials, kind="half", spent=2000):
    """Returns a latency case. spent is the CPU time per message of each host, in ns."""
    samples = merged(trials)
    line = case(
        identifier,
        trials=[trial(len(one), 5 * MS, latency_ns=figures_of(one)) for one in trials],
        latency_ns={"count": len(samples), "kind": kind, "stddev": statistics.stdev(samples),
                    "histogram": histogram(samples)},
    )
    for one in line["trials"] + [line]:
        one["cpu"] = {
            end: {**cost(one.get("messages", len(samples))),
                  "user_ns": spent * one.get("messages", len(samples))}
            for end in ("client", "server")
        }
    return line


def bandwidth(identifier, trials):
    """trials are lists with the number of messages in each throughput window of 10 ms."""
    size = int(identifier.split("/")[2])
    messages = sum(map(sum, trials))
    line = case(
        identifier,
        trials=[
            trial(sum(one), 10 * MS * len(one), bandwidth={
                "bytes_per_s": 100.0 * size * sum(one) / len(one),
                "messages_per_s": 100.0 * sum(one) / len(one),
            }) for one in trials
        ],
        bandwidth={
            "bytes": size * messages, "messages": messages,
            "duration_ns": 10 * MS * sum(map(len, trials)), "window_ns": 10 * MS,
            "windows": [100 * size * count for one in trials for count in one],
        },
        cpu={"client": cost(messages), "server": cost(messages)},
    )
    return line


def load(identifier, rate, trials, is_saturated):
    """Returns a load case with that many messages per second."""
    line = latency(identifier.rpartition("/")[0], trials)
    samples = merged(trials)
    beside = {"count": len(samples), "stddev": statistics.stdev(samples),
              "histogram": histogram(samples)}
    for one in line["trials"]:
        one["load"] = {"rate": float(rate), "messages_per_s": float(rate), "unsent": 0,
                       "saturated": is_saturated}
    return line | {
        "id": identifier, "saturated": is_saturated, "rate": str(rate),
        "load": {"rate": float(rate), "messages_per_s": float(rate), "unsent": 0,
                 "lag_ns": beside, "uncorrected_ns": beside},
    }


def spread(around):
    """Returns trials of 2000 samples with a tail."""
    return [[around + n] * 1900 + [around + 50 + n] * 85 + [around + 200 + n] * 15
            for n in range(6)]


SIZES = (8, 64, 4096)


def contrast(one, other):
    """Returns the contrast ratio of two colors as WCAG 2 defines it."""
    def luminance(color):
        digits = color[1:] if len(color) == 7 else "".join(2 * digit for digit in color[1:])
        parts = [int(digits[i:i + 2], 16) / 255 for i in (0, 2, 4)]
        return sum(weight * (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
                   for weight, part in zip((0.2126, 0.7152, 0.0722), parts))

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def sweep():
    cases = []
    for n, size in enumerate(SIZES):
        for m, mode in enumerate(("poll", "event", "adaptive")):
            cases.append(latency(f"send/lat/{size}/{mode}", spread(700 + 100 * n + 37 * m),
                                 spent=1500 + 100 * m))
            cases.append(latency(f"read/lat/{size}/{mode}", spread(900 + 100 * n + 41 * m),
                                 kind="full"))
            cases.append(latency(f"write/lat/{size}/{mode}", spread(500 + 100 * n),
                                 kind="completion" if m else "half"))
            for operation in ("send", "write"):
                cases.append(bandwidth(f"{operation}/bw/{size}/{mode}",
                                       [[100 + k + 10 * m, 200 + n] for k in range(6)]))
    return result(*cases)


class Page(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def shown(self, *words):
        ended = verbmark("report", *words)
        self.assertEqual(ended.status, 0, ended.err)
        return ended.out

    def read(self, document):
        """Returns the panels of a document's page; sets self.document as verbmark writes it."""
        path = f"{self.folder.name}/a.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
        written = json.loads(self.shown("--format", "json", path))
        self.text = self.shown("--format", "html", path)
        self.cases = {line["id"]: line for line in written["cases"]}
        self.document = written
        self.check_ids(self.text)
        return Figures(self.text).panels

    def check_ids(self, text):
        """Checks that ids are unique and that animations refer to existing ones."""
        ids = re.findall(r' id="([^"]*)"', text)
        self.assertEqual(len(ids), len(set(ids)))
        self.assertLessEqual(set(re.findall(r'begin="(\w+).click"', text)), set(ids))

    def of(self, panels, figure):
        found = [panel for panel in panels if panel["figure"] == figure]
        self.assertTrue(found, figure)
        for panel in found:
            self.check_places(panel)
        return found

    def check_places(self, panel):
        """Checks that each mark is where the axes put its values."""
        self.assertEqual(panel["attrs"]["role"], "img")
        self.assertTrue(panel["title"] and panel["desc"])
        for points in panel["series"].values():
            self.assertTrue(points)
            for point in points:
                x, y = map(float, re.match(r"M([\d.]+) ([\d.]+)", point["d"]).groups())
                # A column has its values at the corners.
                corners = re.search(r"V([\d.]+)H([\d.]+)V", point["d"])
                if corners:
                    y, right = map(float, corners.groups())
                    self.assertAlmostEqual(
                        right, place(panel["axes"]["x"], float(point["data-high"])), delta=PIXEL)
                self.assertAlmostEqual(x, place(panel["axes"]["x"], float(point["data-x"])),
                                       delta=PIXEL)
                self.assertAlmostEqual(y, place(panel["axes"]["y"], float(point["data-y"])),
                                       delta=PIXEL)
                self.assertTrue(point["hint"])

    def check_values(self, panel, expected):
        """
        expected: returns, for a case and a series, the value over all trials and its interval or
        None.
        """
        for name, points in panel["series"].items():
            for point in points:
                line = self.cases[point["data-case"]]
                value, interval = expected(line, name, point)
                self.assertEqual(float(point["data-y"]), value, point)
                edges = (point.get("data-low"), point.get("data-high"))
                if interval:
                    self.assertEqual(tuple(map(float, edges)), (interval["low"], interval["high"]))
                else:
                    self.assertEqual(edges, (None, None))

    def test_latency_by_size(self):
        panels = self.of(self.read(sweep()), "Latency by size")
        self.assertEqual(
            [panel["title"] for panel in panels],
            [f"{operation}, {mode}: {kind}"
             for mode in ("poll", "event", "adaptive")
             for operation, kind in (
                 ("send", "half round trip"), ("read", "full round trip"),
                 ("write", "half round trip" if mode == "poll" else "until local completion"))],
        )

        def expected(line, name, point):
            self.assertEqual(float(point["data-x"]), line["size"])
            key = name.replace(".", "_")
            return line["latency_ns"][key], line["latency_ns"]["intervals"].get(key)

        for panel in panels:
            self.check_values(panel, expected)
            self.assertEqual(list(panel["series"]), ["p50", "p99", "p99.9"])
            for points in panel["series"].values():
                self.assertEqual([float(point["data-x"]) for point in points], list(SIZES))
            # All of one kind, one completion mode and one operation.
            lines = [self.cases[p["data-case"]] for s in panel["series"].values() for p in s]
            self.assertEqual(len({(line["op"], line["cq"], line["latency_ns"]["kind"])
                                  for line in lines}), 1)
        # All panels have the same axes.
        for name in "xy":
            self.assertEqual(len({str(panel["axes"][name]) for panel in panels}), 1)

    def test_bandwidth_by_size(self):
        panels = self.read(sweep())
        for figure, key in (("Bandwidth by size", "bytes_per_s"),
                            ("Message rate by size", "messages_per_s")):
            found = self.of(panels, figure)
            self.assertEqual([panel["title"] for panel in found], ["send", "write"])
            for panel in found:
                self.check_values(panel, lambda line, name, point: (
                    line["bandwidth"][key], line["bandwidth"]["intervals"][key]))
                self.assertEqual(list(panel["series"]), ["poll", "event", "adaptive"])
                # The links of both hosts have 1 Gb/s.
                self.assertEqual(panel["levels"], [125e6] if key == "bytes_per_s" else [])

    def kinds(self, panel):
        lines = [self.cases[p["data-case"]] for s in panel["series"].values() for p in s]
        return {line["latency_ns"]["kind"] for line in lines}

    def test_comparisons(self):
        """Completion modes and operations are compared only among cases of the same kind."""
        panels = self.read(sweep())
        for figure, series, titles in (
            ("Latency by completion mode", "cq",
             {"send: p50, half round trip", "read: p50, full round trip",
              "write: p50, until local completion"}),
            ("Latency by operation", "op", {"poll: p50, half round trip"}),
        ):
            found = self.of(panels, figure)
            self.assertEqual({panel["title"] for panel in found}, titles)
            for panel in found:
                self.check_values(panel, lambda line, name, point: (
                    line["latency_ns"]["p50"], line["latency_ns"]["intervals"]["p50"]))
                self.assertEqual(len(self.kinds(panel)), 1)
                for name, points in panel["series"].items():
                    self.assertEqual({self.cases[p["data-case"]][series] for p in points}, {name})
        (poll, *_) = found = self.of(panels, "Bandwidth by operation")
        self.assertEqual(len(found), 3)
        self.assertEqual(list(poll["series"]), ["send", "write"])
        for panel in found:
            self.check_values(panel, lambda line, name, point: (
                line["bandwidth"]["bytes_per_s"],
                line["bandwidth"]["intervals"]["bytes_per_s"]))

    def test_cpu_time(self):
        document = sweep()
        # A one-sided operation costs the server nothing.
        for line in document["cases"]:
            if line["op"] == "read":
                for one in line["trials"] + [line]:
                    one["cpu"]["server"]["user_ns"] = 0
        found = self.of(self.read(document), "CPU time by completion mode")
        for panel in found:
            operation, end = re.match(r"(.*): CPU of the (\w+)", panel["title"]).groups()
            if "," in panel["title"]:
                self.assertEqual(len(self.kinds(panel)), 1)

            def expected(line, name, point):
                self.assertEqual((line["op"], line["cq"]), (operation, name))
                spent = line["cpu"][end]
                return (spent["user_ns"] + spent["system_ns"]) / spent["messages"], None

            self.check_values(panel, expected)
        self.assertEqual(len(found), 2 * 3 + 2 * 2)

    def test_percentiles(self):
        found = self.of(self.read(sweep()), "Percentiles")
        self.assertEqual(len(found), 4 * len(SIZES))

        def expected(line, name, point):
            samples = [low for low, _, count in line["latency_ns"]["histogram"]["bins"]
                       for _ in range(count)]
            part = float(point["data-x"])
            self.assertGreaterEqual(len(samples) * (1 - part), 9.99)
            return quantile(samples, part), None

        for panel in found:
            self.check_values(panel, expected)
            self.assertEqual(len(self.kinds(panel)), 1)
            self.assertEqual(panel["axes"]["x"]["data-scale"], "nines")
            for points in panel["series"].values():
                self.assertEqual(float(points[-1]["data-x"]), 0.999)

    def test_histograms(self):
        found = self.of(self.read(sweep()), "Latency histograms")
        self.assertEqual(len(found), 9)
        for panel in found:
            (points,) = panel["series"].values()
            bins = self.cases[points[0]["data-case"]]["latency_ns"]["histogram"]["bins"]
            at = None
            self.assertEqual(len({float(p["data-high"]) - float(p["data-low"]) for p in points}), 1)
            for point in points:
                low, high = float(point["data-low"]), float(point["data-high"])
                self.assertTrue(at is None or low >= at)
                at = high
                inside = [count for start, _, count in bins if low <= start < high]
                self.assertEqual(float(point["data-y"]), sum(inside))
            # 15 of 2000 samples are beyond p99.
            self.assertGreaterEqual(sum(float(p["data-y"]) for p in points), 6 * 1980)

    def test_trials(self):
        panels = self.read(sweep())
        for figure, part, key, count in (("Latency by trial", "latency_ns", "p50", 12),
                                         ("Bandwidth by trial", "bandwidth", "bytes_per_s", 6)):
            found = self.of(panels, figure)
            self.assertEqual(len(found), count)
            for panel in found:
                self.check_values(panel, lambda line, name, point: (
                    line["trials"][int(point["data-x"]) - 1][part][key], None))
                for points in panel["series"].values():
                    self.assertEqual([p["data-x"] for p in points], [str(n + 1) for n in range(6)])

    def test_throughput_over_time(self):
        document = sweep()
        document["cases"].append(bandwidth("read/bw/64/poll", [[n + 9 for n in range(101)]] * 2))
        found = self.of(self.read(document), "Throughput over time")
        self.assertEqual([panel["title"] for panel in found],
                         ["send, 4k bytes", "write, 4k bytes", "read, 64 bytes"])
        for panel in found:
            # All 12 windows are drawn; of 202, each point covers six, and the last one four.
            each = 6 if panel["title"].startswith("read") else 1

            def expected(line, name, point):
                windows = line["bandwidth"]["windows"]
                first = round(float(point["data-x"]) / line["bandwidth"]["window_ns"])
                return statistics.fmean(windows[first:first + each]), None

            self.check_values(panel, expected)
            for points in panel["series"].values():
                self.assertEqual(len(points), 34 if each > 1 else 12)

    def test_loads(self):
        """The page marks the knee and saturated loads."""
        around = {10000: 800, 20000: 900, 40000: 1000, 80000: 1900}
        found = self.of(self.read(result(*(
            load(f"send/load/64/poll/rate{rate}", rate, spread(at - 300), at > 1500)
            for rate, at in around.items()))), "Latency by rate")
        (panel,) = found
        self.assertEqual(panel["title"], "send, 64 bytes, poll: half round trip")
        self.check_values(panel, lambda line, name, point: (
            line["latency_ns"][name.replace(".", "_")],
            line["latency_ns"]["intervals"].get(name.replace(".", "_"))))
        self.assertEqual(list(panel["series"]), ["p50", "p99", "p99.9"])
        for points in panel["series"].values():
            self.assertEqual([float(point["data-x"]) for point in points],
                             [self.cases[point["data-case"]]["load"]["rate"] for point in points])
            self.assertEqual([re.sub(r".* us( \([^)]*\))?", "", point["hint"]) for point in points],
                             ["", "", ", knee", ", saturated"])

    def test_ratios(self):
        beside = latency("send/lat/64/poll", spread(700))
        line = latency("send/lat/64/event", spread(1400), spent=1000)
        line.update(beside={"case": beside["id"], "by": "cq"})
        # With set-up calls, which have series of their own.
        calls = [latency(f"register/lat/{size}/poll", spread(900), kind="call") for size in SIZES]
        panels = self.read(result(beside, line, *calls))
        self.of(panels, "Latency by size")
        (panel,) = self.of(panels, "Ratios")
        (turns,) = self.document["turns"]
        self.assertEqual(panel["title"], f"cq: {turns['tip']}")
        pairs = {{"p50_ns": "p50", "client_cpu_ns": "CPU"}[pair["figure"]]: pair
                 for pair in turns["pairs"]}
        self.assertEqual(set(panel["series"]), set(pairs))
        for name, (point,) in panel["series"].items():
            ratio = pairs[name]["ratio"]
            self.assertEqual([float(point[f"data-{key}"]) for key in ("x", "low", "high")],
                             [ratio["value"], ratio["interval"]["low"],
                              ratio["interval"]["high"]])
            self.assertEqual(point["data-case"], line["id"])
            self.assertIn(pairs[name]["verdict"], point["hint"])

    def runs(self, name, scale, count=3):
        """Writes runs that differ by some percent, one minute apart."""
        paths = []
        for n in range(count):
            around = scale * (1000 + 10 * n)
            document = result(
                *(latency(f"send/lat/{size}/poll", spread(round(around))) for size in (8, 64)),
                bandwidth("write/bw/64/poll", [[200 + n, 200 - n]] * 6))
            document["run"] |= {"started": f"2001-02-03T04:0{n}:0{round(scale)}Z",
                                "finished": f"2001-02-03T04:0{n}:3{round(scale)}Z"}
            for end in ("client", "server"):
                document["hosts"][end] |= {"hard_fingerprint": "0123456789abcdef", "facts": {
                    "kernel": {"release": "6.1.0"}, "load": {"average": scale * 0.5}}}
            paths.append(f"{self.folder.name}/{name}-{n}.json")
            with open(paths[-1], "w", encoding="utf-8") as file:
                json.dump(document, file)
        return paths

    def against(self, base, new):
        return [word for path in base for word in ("--baseline", path)] + new

    def check_comparison(self, text, base, new):
        found = json.loads(subprocess.run(
            [VERBMARK, "compare", *base, "--new", *new, "--format", "json"],
            capture_output=True, check=True).stdout)
        wanted = {}
        for one in found["figures"]:
            if not one["tested_with_the_one_before"]:
                wanted[one["case"], one["figure"]] = (
                    one["ratio"], one["interval"]["low"], one["interval"]["high"], one["verdict"])
        names = {"p50": "p50_ns", "p99": "p99_ns", "mean": "mean_ns", "bandwidth": "bytes_per_s"}
        drawn = {}
        for panel in self.of(Figures(text).panels, "NEW / BASE"):
            self.assertEqual(panel["levels"], [1])
            title = re.fullmatch(r"\w+: (.*), (less|more) is better", panel["title"])
            self.assertEqual(title[2], "more" if title[1] == "bandwidth" else "less")
            for verdict, points in panel["series"].items():
                for point in points:
                    drawn[point["data-case"], names[title[1]]] = (
                        *(float(point[f"data-{key}"]) for key in ("x", "low", "high")), verdict)
        self.assertEqual(drawn, wanted)
        return {key: verdict for key, (*_, verdict) in drawn.items()}

    def test_baseline(self):
        base, new = self.runs("base", 1), self.runs("new", 2)
        text = self.shown("--format", "html", *self.against(base, new))
        verdicts = self.check_comparison(text, base, new)
        self.assertEqual({case: verdict for (case, _), verdict in verdicts.items()},
                         {"send/lat/8/poll": "worse", "send/lat/64/poll": "worse",
                          "write/bw/64/poll": "same"})
        # The comparison comes first, then each file.
        self.assertEqual(re.findall(r'<section>\n<h2 id="s\d+">([^<]*)', text)[0], "NEW against BASE")
        self.assertEqual(text.count("<section>"), 4)
        self.check_ids(text)
        compared = self.shown("--format", "html", *self.against(base, new), "-o", "/dev/stdout")
        self.assertEqual(compared, text)
        ended = verbmark("compare", "--format", "html", *base, "--new", *new)
        self.assertEqual(self.check_comparison(ended.out, base, new), verdicts)

    def test_facts_that_differ(self):
        base, new = self.runs("base", 1, 2), self.runs("new", 2, 2)
        text = self.shown("--format", "html", *self.against(base, new))
        (table,) = re.findall(r">Host facts that differ</h3>(.*?)</table>", text, re.S)
        rows = [[re.sub("<[^>]*>", "", cell) for cell in re.findall("<t[hd].*?</t[hd]>", row)]
                for row in table.split("<tr>")[1:]]
        self.assertEqual(rows[1:], [[f"{end} load average", "0.5", "1.0", "differs"]
                                    for end in ("client", "server")])

    def test_unusable_baseline(self):
        """Results from other hosts are shown but not compared; conflicting options are rejected."""
        base, new = self.runs("base", 1, 1), self.runs("new", 2, 1)
        with open(base[0], encoding="utf-8") as file:
            document = json.load(file)
        document["hosts"]["client"]["facts"]["kernel"]["release"] = "5.10.0"
        document["hosts"]["client"]["hard_fingerprint"] = "fedcba9876543210"
        with open(base[0], "w", encoding="utf-8") as file:
            json.dump(document, file)
        ended = verbmark("report", "--format", "html", *self.against(base, new))
        self.assertEqual(ended.status, 3, ended.err)
        self.assertIn("5.10.0", ended.err)
        self.assertIn(">NEW against BASE</h2>\n<p>Not compared: ", ended.out)
        self.assertIn("compare --force", ended.out)
        self.assertEqual(ended.out.count("<section>"), 2)
        missing = f"{self.folder.name}/none.json"
        ended = verbmark("report", "--format", "html", *self.against([missing], new))
        self.assertEqual(ended.status, 1)
        self.assertEqual(ended.out.count("<section>"), 2)
        for words, reason in (
            (self.against(base, new), "--baseline needs --format html"),
            (["--format", "html", "--merge", *self.against(base, new)], "cannot be used with --merge"),
            (["--format", "html", *self.against(["-"], new)], "standard input is not supported"),
            (["--format", "html", "-o", base[0], *self.against(base, new)], "would be overwritten"),
        ):
            ended = verbmark("report", *words)
            self.assertEqual((ended.status, ended.out), (2, ""))
            self.assertIn(reason, ended.err)

    def test_line_with_gap(self):
        """Nothing is drawn where a percentile of a size is unknown."""
        few = [one[:1000] + one[-2:] for one in spread(800)]
        panels = self.read(result(*(latency(f"send/lat/{size}/poll", trials) for size, trials in (
            (8, spread(700)), (64, [few[0]]), (512, spread(900))))))
        (panel,) = self.of(panels, "Latency by size")
        self.assertEqual([point["data-x"] for point in panel["series"]["p99.9"]], ["8", "512"])
        self.assertEqual(len(panel["series"]["p50"]), 3)
        first = self.text.split("<h4 ")[1]
        lines = re.findall(r'stroke-dasharray="2 2" d="([^"]*)"', first)
        self.assertEqual(lines[-1].count("M"), 2)

    def test_contrast(self):
        """Text has a contrast of 4.5:1 in light and dark mode, and lines of figures 3:1."""
        self.read(sweep())
        style = re.search("<style>(.*?)</style>", self.text, re.S).group(1)
        modes = [dict(re.findall(r"--([\w-]+): (#\w+)", block))
                 for block in re.findall(r":root \{(.*?)\}", style, re.S)[:2]]
        lines = set(re.findall(r'fill="(#\w{6})"', self.text))
        self.assertGreaterEqual(len(lines), 3)
        for colors in modes:
            for text in ("ink", "faint", "accent"):
                for ground in ("ground", "card", "stripe", "warn"):
                    self.assertGreaterEqual(contrast(colors[text], colors[ground]), 4.5,
                                            (text, ground))
            for line in lines:
                self.assertGreaterEqual(contrast(line, colors["card"]), 3, line)

    def test_no_figure_without_data(self):
        for document in (result(), result(latency("send/lat/64/poll", [[700] * 5]))):
            self.assertEqual(self.read(document), [])

    def test_names_are_escaped(self):
        """Text from a document cannot add markup."""
        lines = [latency(f"send/lat/{size}/poll", spread(700)) for size in SIZES]
        for line in lines:
            line["id"] += '/"><script>'
        panels = self.of(self.read(result(*lines)), "Latency by size")
        # The only script is the page's own, at the end.
        self.assertEqual(self.text.count("<script"), 1)
        self.assertEqual(self.text.count("</script"), 1)
        self.assertTrue(panels)

    def test_full_sweep_is_small(self):
        """Nine operations, 24 sizes and three completion modes need less than 2 MB."""
        tail = [3000 + 19 * n * n for n in range(36)] * 60
        one = latency("send/lat/8/poll", [[n + value for value in tail] for n in range(6)])
        # Use numbers with many digits, which need the most space.
        for n, part in enumerate(one["trials"]):
            part["latency_ns"] = {key: value + n / 7 for key, value in part["latency_ns"].items()}
        cases = []
        for operation in ("send", "write", "read", "write-imm", "fetch-add", "compare-swap",
                          "write-notify", "read-notify", "doorbell"):
            for size in (1 << n for n in range(24)):
                for mode in ("poll", "event", "adaptive"):
                    names = {"id": f"{operation}/lat/{size}/{mode}", "op": operation,
                             "size": size, "cq": mode, "server_cq": mode}
                    cases += [one | names, bandwidth(f"{operation}/bw/{size}/{mode}", [
                        [200 + k + n % 7 for n in range(7)] for k in range(6)])]
        panels = self.read(result(*cases))
        self.assertGreater(len(panels), 100)
        self.assertLess(len(self.text.encode()), 2000000)
