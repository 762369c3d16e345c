# SPDX-License-Identifier: MIT
"""
The figures of a page: every value that is drawn is the document's, and lies where its axis
has it. Both are found here by other means.
"""

import html.parser
import json
import math
import re
import statistics
import tempfile
import unittest

from cli_report import MS, case, cost, result, trial
from verbmark import verbmark

# Coordinates have one digit behind the point.
PIXEL = 0.051


class Figures(html.parser.HTMLParser):
    """The panels of a page: their headings, axes, and series of points."""

    def __init__(self, text):
        super().__init__()
        self.panels = []
        self.heading = self.into = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "h4":
            self.heading, self.into = "", "heading"
        elif tag == "svg":
            self.panels.append({"figure": self.heading, "axes": {}, "series": {}, "levels": [],
                                "title": "", "desc": "", "attrs": attrs})
            self.into = "panel"
        elif tag in ("title", "desc") and self.into == "panel":
            self.into = tag
        elif "data-axis" in attrs:
            self.panels[-1]["axes"][attrs["data-axis"]] = attrs
        elif "data-series" in attrs:
            self.points = self.panels[-1]["series"].setdefault(attrs["data-series"], [])
        elif "data-level" in attrs:
            self.panels[-1]["levels"].append(float(attrs["data-value"]))
        elif "data-case" in attrs:
            self.points.append(attrs)
            self.into = "hint"
            attrs["hint"] = ""

    def handle_endtag(self, tag):
        if tag in ("title", "desc") and self.into in ("title", "desc"):
            self.into = "panel"
        elif tag == "h4" or self.into == "hint":
            self.into = None

    def handle_data(self, data):
        if self.into == "heading":
            self.heading += data
        elif self.into in ("title", "desc"):
            self.panels[-1][self.into] += data
        elif self.into == "hint":
            self.points[-1]["hint"] += data


def bend(axis, value):
    if axis["data-scale"] == "log":
        return math.log(value)
    if axis["data-scale"] == "nines":
        return -math.log10(1 - value)
    return value


def place(axis, value):
    least, most, first, last = (
        float(axis[f"data-{name}"]) for name in ("least", "most", "from", "to")
    )
    value = min(max(value, least), most)
    span = bend(axis, most) - bend(axis, least)
    return first + (last - first) * (bend(axis, value) - bend(axis, least)) / span


def merged(trials):
    return sorted(sample for samples in trials for sample in samples)


def histogram(samples):
    """All below 2048 ns, where a bin is one nanosecond wide."""
    assert max(samples) < 2048
    return {
        "scheme": "log2-linear", "sub_bits": 10, "unit": "ns", "count": len(samples),
        "sum": sum(samples), "min": min(samples), "max": max(samples), "over": 0,
        "bins": [[value, value + 1, samples.count(value)] for value in sorted(set(samples))],
    }


def quantile(samples, part):
    return sorted(samples)[max(math.ceil(len(samples) * part - 1e-9), 1) - 1]


def figures_of(samples):
    parts = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99_9": 0.999}
    return {name: quantile(samples, part) for name, part in parts.items()
            if len(samples) * (1 - part) > 9.99}


def latency(identifier, trials, kind="half", spent=2000):
    """spent: what a message costs each end, ns."""
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
    """Of each trial the messages of its windows of 10 ms."""
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


def spread(around):
    """Trials of 2000 samples, with a tail."""
    return [[around + n] * 1900 + [around + 50 + n] * 85 + [around + 200 + n] * 15
            for n in range(6)]


SIZES = (8, 64, 4096)


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
        """The document as this program writes it, and the panels of its page."""
        path = f"{self.folder.name}/a.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
        written = json.loads(self.shown("--format", "json", path))
        self.text = self.shown("--format", "html", path)
        self.cases = {line["id"]: line for line in written["cases"]}
        self.document = written
        return Figures(self.text).panels

    def of(self, panels, figure):
        found = [panel for panel in panels if panel["figure"] == figure]
        self.assertTrue(found, figure)
        for panel in found:
            self.check_places(panel)
        return found

    def check_places(self, panel):
        """Each marker lies where its axes have its values."""
        self.assertEqual(panel["attrs"]["role"], "img")
        self.assertTrue(panel["title"] and panel["desc"])
        for points in panel["series"].values():
            self.assertTrue(points)
            for point in points:
                x, y = map(float, re.match(r"M([\d.]+) ([\d.]+)", point["d"]).groups())
                self.assertAlmostEqual(x, place(panel["axes"]["x"], float(point["data-x"])),
                                       delta=PIXEL)
                self.assertAlmostEqual(y, place(panel["axes"]["y"], float(point["data-y"])),
                                       delta=PIXEL)
                self.assertIn(point["data-case"], point["hint"])

    def check_values(self, panel, expected):
        """expected: of a case and a series, the value and its interval or None."""
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
                 ("send", "half a round trip"), ("read", "a whole round trip"),
                 ("write", "half a round trip" if mode == "poll" else "to the own completion"))],
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
            # Of one kind, one mode, one operation.
            lines = [self.cases[p["data-case"]] for s in panel["series"].values() for p in s]
            self.assertEqual(len({(line["op"], line["cq"], line["latency_ns"]["kind"])
                                  for line in lines}), 1)
        # All on the same axes.
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
                # Both ends have 1 Gb/s.
                self.assertEqual(panel["levels"], [125e6] if key == "bytes_per_s" else [])

    def test_a_line_has_gaps(self):
        """Where a percentile is not known of a size, nothing is drawn."""
        few = [one[:1000] + one[-2:] for one in spread(800)]
        panels = self.read(result(*(latency(f"send/lat/{size}/poll", trials) for size, trials in (
            (8, spread(700)), (64, [few[0]]), (512, spread(900))))))
        (panel,) = self.of(panels, "Latency by size")
        self.assertEqual([point["data-x"] for point in panel["series"]["p99.9"]], ["8", "512"])
        self.assertEqual(len(panel["series"]["p50"]), 3)
        lines = re.findall(r'stroke-dasharray="2 2" d="([^"]*)"', self.text)
        self.assertEqual(lines[-1].count("M"), 2)

    def test_no_figure_without_data(self):
        for document in (result(), result(latency("send/lat/64/poll", [[700] * 5]))):
            self.assertEqual(self.read(document), [])

    def test_names_are_no_markup(self):
        """Whatever a document holds."""
        lines = [latency(f"send/lat/{size}/poll", spread(700)) for size in SIZES]
        for line in lines:
            line["id"] += '/"><script>'
        panels = self.of(self.read(result(*lines)), "Latency by size")
        self.assertNotIn("<script", self.text)
        self.assertTrue(panels)
