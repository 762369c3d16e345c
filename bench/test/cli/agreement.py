# SPDX-License-Identifier: MIT
"""
One figure, one number: every output of a document has the same figures and intervals, which this
test computes on its own from samples and trials.
"""

import collections
import csv
import io
import json
import re
import statistics
import tempfile
import unittest
import xml.etree.ElementTree

from cli.page import bandwidth, latency, quantile
from cli.report import Page, result
from figures import Figures
from verbmark import verbmark

# The pooled median is far from the median over trials: the last trial has most of the samples.
# Bins are 1 ns wide below 2048 ns.
TRIALS = [[at + i for i in range(100)] for at in (900, 1000, 1100, 1200, 1300, 1400)]
SKEWED = [*TRIALS, [1700 + i % 300 for i in range(2000)]]
# Nine trials: the interval is from the second to the eighth, but the pooled median is beyond.
NINE = [*TRIALS, [1500 + i for i in range(100)], [1600 + i for i in range(100)],
        [1750 + i % 250 for i in range(5000)]]
RATES = [[200, 300], [250, 350], [300, 400], [350, 450], [400, 500], [5000] * 30, [550, 650]]
SOURCES = {
    "send/lat/64/poll": SKEWED, "read/lat/4096/poll": NINE, "write/lat/8/poll": TRIALS[:5],
    "send/lat/65536/poll": TRIALS,
}
BANDWIDTHS = {"write/bw/1000/poll": RATES, "write/bw/4096/poll": RATES[:5]}
# Ranks of the interval of a median, from 0: from tables of the sign test.
RANKS = {6: (0, 5), 7: (0, 6), 9: (1, 7)}

Figure = collections.namedtuple("Figure", "value low high")


def bounds(values, value):
    """Returns the figure with its interval, which fewer than six trials do not have."""
    if len(values) < 6:
        return Figure(value, None, None)
    low, high = (sorted(values)[rank] for rank in RANKS[len(values)])
    return Figure(value, min(low, value), max(high, value))


def expected():
    """Returns p50 in ns, or bytes per second, by case."""
    found = {}
    for name, trials in SOURCES.items():
        pooled = quantile([one for samples in trials for one in samples], 0.5)
        found[name] = bounds([quantile(samples, 0.5) for samples in trials], pooled)
    for name, trials in BANDWIDTHS.items():
        size = int(name.split("/")[2])
        rates = [100.0 * size * sum(one) / len(one) for one in trials]
        found[name] = bounds(rates, statistics.median(rates))
    return found


def digits(value, most=12):
    """Returns three significant digits, and all digits before the decimal point."""
    exponent = int(f"{value:.2e}".partition("e")[2])
    return f"{value:.{max(0, min(most, 2 - exponent))}f}"


def cells(name, figure):
    """Returns the two cells of a table: the figure in us or Gb/s, and its interval."""
    unit, most = (1000, 3) if "/lat/" in name else (125e6, 12)
    value, low, high = (one if one is None else digits(one / unit, most) for one in figure)
    return [value, "-" if low is None else f"{low}..{high}"]


def beginning(name):
    """Returns the first cells of a row: operation, size, mode."""
    operation, _, size, mode = name.split("/")
    size = int(size)
    return [operation, str(size) if size % 1024 else f"{size // 1024}k", mode]


class Agreement(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.path = f"{cls.folder.name}/a.json"
        lines = [latency(name, trials) for name, trials in SOURCES.items()]
        lines += [bandwidth(name, trials) for name, trials in BANDWIDTHS.items()]
        with open(cls.path, "w", encoding="utf-8") as file:
            json.dump(result(*lines), file)
        cls.expected = expected()

    def shown(self, *words):
        ended = verbmark(*words, self.path)
        self.assertEqual(ended.status, 0, ended.err)
        return ended.out

    def check_rows(self, rows):
        """Checks rows of cells."""
        for name, figure in self.expected.items():
            first = beginning(name)
            (row,) = [row for row in rows
                      if row[:3] == first and ("half" in row) == ("/lat/" in name)]
            at = 4 if "/lat/" in name else 3
            self.assertEqual(row[at:at + 2], cells(name, figure), name)

    def check(self, name, value, low, high):
        """Checks a figure with all of its digits."""
        wanted = self.expected[name]
        self.assertAlmostEqual(value / wanted.value, 1, places=9, msg=name)
        if wanted.low is None:
            self.assertIsNone(low, name)
            self.assertIsNone(high, name)
        else:
            self.assertAlmostEqual(low / wanted.low, 1, places=9, msg=name)
            self.assertAlmostEqual(high / wanted.high, 1, places=9, msg=name)

    def test_medians_differ(self):
        """A median over trials in place of the pooled one would be noticed."""
        over_trials = statistics.median(quantile(samples, 0.5) for samples in SKEWED)
        self.assertNotEqual(digits(over_trials), digits(self.expected["send/lat/64/poll"].value))
        rates = [100000.0 * sum(map(sum, RATES)) / sum(map(len, RATES))]
        self.assertNotEqual(digits(rates[0]), digits(self.expected["write/bw/1000/poll"].value))

    def test_table(self):
        """The terminal has what all cases have in common in the heading of their table."""
        rows = []
        for line in self.shown("report").splitlines():
            heading = re.match("(LATENCY us|BANDWIDTH)(?:: (.*?))?(  |$)", line)
            if heading:
                common = heading[2].split(", ") if heading[2] else []
                size = [each[len("size "):] for each in common if each.startswith("size ")]
                mode = [each for each in common if each in ("poll", "event")]
                kind = ["half"] if "half a round trip" in common else []
            elif rows or line.startswith(("send ", "write ", "read ")):
                operation, *cells = line.split() or [""]
                cells = size + cells
                cells[1:1] = mode
                cells[2:2] = kind
                rows.append([operation, *cells])
        self.check_rows(rows)

    def test_markdown(self):
        self.check_rows([[cell.strip() for cell in line.strip("|").split("|")]
                         for line in self.shown("report", "--format", "markdown").splitlines()])

    def test_page(self):
        text = self.shown("report", "--format", "html")
        self.check_rows([row for table in Page(text).tables for row in table])
        drawn = set()
        for panel in Figures(text).panels:
            if panel["figure"] not in ("Latency by size", "Bandwidth by size"):
                continue
            for series, points in panel["series"].items():
                for point in points:
                    if "/lat/" in point["data-case"] and series != "p50":
                        continue
                    low, high = (float(point[key]) if key in point else None
                                 for key in ("data-low", "data-high"))
                    self.check(point["data-case"], float(point["data-y"]), low, high)
                    drawn.add(point["data-case"])
        # A single size makes no line.
        self.assertGreaterEqual(drawn, {"send/lat/64/poll", *BANDWIDTHS})

    def test_document(self):
        for line in json.loads(self.shown("report", "--format", "json", "--merge"))["cases"]:
            key = "p50" if line["metric"] == "lat" else "bytes_per_s"
            figures = line["latency_ns" if line["metric"] == "lat" else "bandwidth"]
            interval = figures["intervals"][key] or {"low": None, "high": None}
            self.check(line["id"], figures[key], **interval)

    def check_csv(self, text):
        found = set()
        for row in csv.DictReader(io.StringIO(text)):
            if row["trial"] or row["figure"] not in ("p50", "bytes_per_s"):
                continue
            self.check(row["case"], float(row["value"]),
                       *(float(row[key]) if row[key] else None for key in ("low", "high")))
            found.add(row["case"])
        self.assertEqual(found, set(self.expected))

    def test_csv(self):
        self.check_csv(self.shown("report", "--format", "csv"))
        self.check_csv(self.shown("export", "--format", "csv"))

    def test_bmf(self):
        found = json.loads(self.shown("export", "--format", "bmf"))
        self.assertEqual(set(found), set(self.expected))
        for name, measures in found.items():
            one = measures["latency" if "/lat/" in name else "bandwidth"]
            self.check(name, one["value"], one.get("lower_value"), one.get("upper_value"))

    def test_github(self):
        for metric, figure, unit in (("lat", "p50", 1), ("bw", "bandwidth", 125e6)):
            names = set()
            for entry in json.loads(self.shown(
                    "export", "--format", "github-benchmark", "--metric", metric)):
                name, shown = entry["name"].split()
                if shown != figure:
                    continue
                low, high = (float(part) * unit for part in entry["range"].split("..")) \
                    if "range" in entry else (None, None)
                self.check(name, entry["value"] * unit, low, high)
                names.add(name)
            self.assertEqual(names, {name for name in self.expected if f"/{metric}/" in name})

    def test_junit(self):
        tree = xml.etree.ElementTree.fromstring(
            self.shown("export", "--format", "junit").encode())
        names = set()
        found = {one.get("name"): one.get("value") for one in tree.iter("property")}
        for test in tree.iter("testcase"):
            keys = ("p50_ns", "p50_low_ns", "p50_high_ns") if "/lat/" in test.get("name") else \
                ("bytes_per_s", "bytes_per_s_low", "bytes_per_s_high")
            values = (found.get(f"{test.get('name')} {key}") for key in keys)
            self.check(test.get("name"), *(value and float(value) for value in values))
            names.add(test.get("name"))
        self.assertEqual(names, set(self.expected))

    def test_prometheus(self):
        found = {}
        for line in self.shown("export", "--format", "prometheus").splitlines():
            if match := re.fullmatch(r'(\w+)\{.*case="([^"]*)"(.*)\} (\S+)', line):
                metric, name, labels, value = match.groups()
                if "quantile" not in labels or 'quantile="0.5"' in labels:
                    found[name, metric] = float(value)
        for name in self.expected:
            unit, keys = (1e9, ("latency_seconds", "latency_median_low_seconds",
                                "latency_median_high_seconds")) if "/lat/" in name else \
                (1, ("bandwidth_bytes_per_second", "bandwidth_low_bytes_per_second",
                     "bandwidth_high_bytes_per_second"))
            values = [found.get((name, f"verbmark_{key}")) for key in keys]
            self.check(name, *(one if one is None else one * unit for one in values))

    def test_hgrm(self):
        """A percentile of HdrHistogram is the largest value of its bin."""
        for name in SOURCES:
            rows = [line.split() for line in
                    self.shown("export", "--format", "hgrm", "--case", name).splitlines()]
            (value,) = {float(row[0]) for row in rows if row[1:2] == ["0.500000000000"]}
            self.assertAlmostEqual(1000 * value / self.expected[name].value, 1, delta=1 / 1024)


if __name__ == "__main__":
    unittest.main()
