# SPDX-License-Identifier: MIT
"""Formats for other tools, each parsed here by an independent program."""

import collections
import copy
import json
import os
import random
import shutil
import statistics
import subprocess
import tempfile
import unittest

from cli.report import ENDED_BADLY, FAST, SLOW, bandwidth, case, latency, result, trial
from documents import jsonschema
from junit import faults
from verbmark import PATIENCE, verbmark

try:
    import junitparser
except ImportError:
    junitparser = None
try:
    from prometheus_client.parser import text_string_to_metric_families
except ImportError:
    text_string_to_metric_families = None

HDR = "/usr/share/java/hdrhistogram.jar"
LIB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib")
SOFT = "SOFTWARE DEVICE: CPUs copy the data; not a measurement of RDMA hardware"
MS = 1000000
# The histogram's bins end at 137 s.
TOP = 1 << 37
FORMATS = (
    ("bmf",), ("github-benchmark", "--metric", "lat"), ("github-benchmark", "--metric", "bw"),
    ("junit",), ("prometheus",), ("hgrm",), ("csv",),
)
NAMES = "bmf, github-benchmark, junit, prometheus, hgrm, csv"


def soft(document):
    for end in document["hosts"].values():
        end["kind"] = "soft"
    return document


def several(medians, identifier="read/lat/8/poll"):
    """Returns a latency with trials of 1000 equal samples each."""
    made = latency([median for median in medians for _ in range(1000)], identifier, "full")
    made["trials"] = [trial(1000, 5 * MS, latency_ns={"p50": median}) for median in medians]
    return made


def binned(samples, identifier="send/lat/64/poll"):
    """Returns a latency of any samples; from 2048 on, an octave has 1024 bins."""
    bins = collections.Counter()
    for value, count in collections.Counter(samples).items():
        shift = max(value.bit_length() - 11, 0)
        low = value >> shift << shift
        bins[low, low + (1 << shift)] += count
    over = sum(count for (low, _), count in bins.items() if low >= TOP)
    made = latency(samples[:2], identifier)
    made["trials"] = [trial(len(samples), 5 * MS, latency_ns={})]
    made["cpu"] = made["trials"][0]["cpu"]
    made["latency_ns"].update(count=len(samples), stddev=statistics.stdev(samples))
    made["latency_ns"]["histogram"].update(
        count=len(samples), sum=sum(samples), min=min(samples), max=max(samples), over=over,
        bins=[[*edges, bins[edges]] for edges in sorted(bins) if edges[0] < TOP],
    )
    return made


WHOLE = (latency(FAST), bandwidth([100, 200, 300]), several([10, 20, 30, 40, 50, 60]), *ENDED_BADLY)


class Export(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, document):
        path = f"{self.folder.name}/{name}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(document if isinstance(document, str) else json.dumps(document))
        return path

    def exported(self, *words, status=0):
        ended = verbmark("export", "--format", *words)
        self.assertEqual(ended.status, status, ended.err)
        return ended

    def refused(self, *words, status=1):
        ended = self.exported(*words, status=status)
        self.assertEqual(ended.out, "")
        self.assertEqual(len(ended.err.splitlines()), 1, ended.err)
        return ended.err.removeprefix("verbmark: ")

    def read_by(self, program, *words, text):
        """Returns what another program prints for the text, which it must accept."""
        ended = subprocess.run([program, *words], input=text, capture_output=True, text=True,
                               timeout=PATIENCE, check=False)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr + text)
        return ended.stdout + ended.stderr

    def bmf(self, *words):
        found = json.loads(self.exported("bmf", *words).out)
        if jsonschema:
            with open(f"{LIB}/bmf.json", encoding="utf-8") as file:
                jsonschema.validate(found, json.load(file))
        return found

    def test_bmf(self):
        found = self.bmf(self.write("a.json", result(*WHOLE)))
        self.assertEqual(found, {
            # The same figures as in the table: 20 of 2000 samples are beyond p99, 2 beyond p99.9.
            # Trials have only medians, so the tail has no interval.
            "send/lat/64/poll": {"latency": {"value": 1230}, "latency-p99": {"value": 1250}},
            # 600 messages of 1000 bytes in 30 ms.
            "write/bw/1000/event": {"throughput": {"value": 20000}, "bandwidth": {"value": 2e7}},
            # The minimum and maximum of six trials are an interval of 97 %; the third of six equal
            # groups of samples is the median of all.
            "read/lat/8/poll": {
                "latency": {"value": 30, "lower_value": 10, "upper_value": 60},
                "latency-p99": {"value": 60},
            },
        })

    @unittest.skipUnless(jsonschema, "python3-jsonschema is not installed; run ci/setup test")
    def test_bmf_schema_rejects(self):
        with open(f"{LIB}/bmf.json", encoding="utf-8") as file:
            schema = json.load(file)
        for wrong in ({}, {"a": {}}, {"a": {"latency": 1}}, {"a": {"latency": {"lower_value": 1}}},
                      {"a": {"p99.9": {"value": 1}}}, {"a": {"latency": {"value": "1"}}}):
            with self.assertRaises(jsonschema.ValidationError):
                jsonschema.validate(wrong, schema)

    def test_bmf_of_several(self):
        one = self.write("a.json", result(latency(FAST)))
        other = self.write("b.json", result(bandwidth([5])))
        self.assertEqual(set(self.bmf(one, other)), {"send/lat/64/poll", "write/bw/1000/event"})

    def github(self, *words):
        """Returns the entries by name; checks the action's rules, and that names are unique."""
        found = json.loads(self.exported("github-benchmark", *words).out)
        self.assertTrue(found)
        for entry in found:
            self.assertLessEqual(set(entry), {"name", "unit", "value", "range", "extra"})
            for name in ("name", "unit", "range", "extra"):
                self.assertIsInstance(entry.get(name, ""), str)
            self.assertIsInstance(entry["value"], float)
            self.assertTrue(entry["name"] and entry["unit"])
        self.assertEqual(len({entry["name"] for entry in found}), len(found))
        return {entry["name"]: entry for entry in found}

    def test_github(self):
        path = self.write("a.json", result(*WHOLE))
        found = self.github("--metric", "lat", path)
        self.assertEqual(
            {name: (entry["value"], entry["unit"]) for name, entry in found.items()},
            {"send/lat/64/poll p50": (1230, "ns"), "send/lat/64/poll p99": (1250, "ns"),
             "read/lat/8/poll p50": (30, "ns"), "read/lat/8/poll p99": (60, "ns")},
        )
        self.assertEqual(found["read/lat/8/poll p50"]["range"], "10..60")
        self.assertEqual(found["read/lat/8/poll p50"]["extra"], "trials: 6, latency: full")
        self.assertNotIn("range", found["send/lat/64/poll p50"])
        found = self.github("--metric", "bw", path)
        self.assertEqual(
            {name: (entry["value"], entry["unit"]) for name, entry in found.items()},
            {"write/bw/1000/event bandwidth": (0.16, "Gb/s"),
             "write/bw/1000/event messages": (20000, "msg/s")},
        )

    def junit(self, *words, status=0):
        text = self.exported("junit", *words, status=status).out
        self.assertEqual(faults(text), [])
        if not junitparser:
            self.skipTest("python3-junitparser is not installed; run ci/setup test")
        return junitparser.JUnitXml.fromstring(text.encode())

    def test_junit(self):
        path = self.write("a.json", result(*WHOLE))
        (suite,) = self.junit(path)
        self.assertEqual((suite.name, suite.hostname), (path, "n01"))
        self.assertEqual((suite.tests, suite.failures, suite.errors, suite.skipped), (6, 1, 1, 1))
        self.assertEqual(suite.timestamp, "2001-02-03T04:05:06")
        self.assertEqual(suite.time, 1)
        tests = {test.name: test for test in suite}
        self.assertEqual(list(tests), [line["id"] for line in WHOLE])
        for line in ENDED_BADLY:
            (ending,) = tests[line["id"]].result
            self.assertEqual(
                (type(ending), ending.message),
                {"failed": (junitparser.Failure, line.get("error")),
                 "skipped": (junitparser.Skipped, line.get("error")),
                 "interrupted": (junitparser.Error, "interrupted")}[line["status"]],
            )
        good = tests["send/lat/64/poll"]
        self.assertEqual((good.result, good.classname, good.time), ([], "send.lat", 0.005))
        properties = {each.name: each.value for each in suite.properties()}
        for name, value in (
            ("send/lat/64/poll p50_ns", "1230"), ("send/lat/64/poll p99_ns", "1250"),
            ("send/lat/64/poll max_ns", "1400"), ("send/lat/64/poll kind", "half"),
            ("write/bw/1000/event bytes_per_s", "20000000"),
        ):
            self.assertEqual(properties[name], value)

    def test_junit_escapes_text(self):
        words = 'it\'s <b>A & B</b> "]]>" \u20ac'
        document = result(case("read/lat/64/poll", "failed", error=words))
        document["hosts"]["client"]["host"] = "a<&\"b"
        strange = self.write("a <&\x01\n.json", document)
        found = list(self.junit(strange, self.write("b.json", result(latency(FAST)))))
        self.assertEqual([suite.tests for suite in found], [1, 1])
        self.assertTrue(found[0].name.endswith("/a <&??.json"), found[0].name)
        self.assertEqual(found[0].hostname, "a<&\"b")
        self.assertEqual(list(found[0])[0].result[0].message, words)

    def test_junit_rules_reject(self):
        """The checked rules notice what CI servers reject."""
        good = self.exported("junit", self.write("a.json", result(*WHOLE))).out
        self.assertEqual(faults(good), [])
        for old, new in (
            ("<testsuites>", '<testsuites skipped="1">'), ('tests="6"', 'tests="7"'),
            ("<skipped ", "<omitted "), ('type="failed"', ""), ('time="0.005000"', 'time="5 ms"'),
            ('time="0.005000"', ""), ('T04:05:06"', 'T04:05:06Z"'), ('hostname="n01"', ""),
            ('id="0"', 'id="1"'), ("<system-err/>", ""), ("<properties>", "<system-out/><properties>"),
            ("</testcase>", "<properties></properties></testcase>"),
            ("</testcase>", "<system-out></system-out></testcase>"),
        ):
            self.assertIn(old, good)
            self.assertTrue(faults(good.replace(old, new, 1)), (old, new))

    def prometheus(self, *words):
        """Returns the values of all samples by name and by the labels that distinguish them."""
        text = self.exported("prometheus", *words).out + "\n"
        if shutil.which("promtool"):
            self.assertEqual(self.read_by("promtool", "check", "metrics", text=text), "")
        if not text_string_to_metric_families:
            self.skipTest("python3-prometheus-client is not installed; run ci/setup test")
        found = {}
        names = set()
        for family in text_string_to_metric_families(text):
            self.assertNotEqual(family.type, "unknown", family.name)
            self.assertTrue(family.documentation)
            for sample in family.samples:
                # The textfile collector rejects samples with timestamps.
                self.assertIsNone(sample.timestamp)
                labels = {name: value for name, value in sample.labels.items()
                          if name in ("case", "quantile", "status", "end", "kind")}
                key = (sample.name, *(labels[name] for name in sorted(labels)))
                whole = (sample.name, *sorted(sample.labels.items()))
                self.assertNotIn(whole, names)
                names.add(whole)
                found[key] = sample.value
                self.labels = sample.labels
        return found

    def test_prometheus(self):
        path = self.write("a.json", result(*WHOLE))
        found = self.prometheus(path)
        first, rate, other = (line["id"] for line in WHOLE[:3])
        latencies = {
            ("verbmark_latency_seconds", first, "half", "0.5"): 1.23e-06,
            ("verbmark_latency_seconds", first, "half", "0.9"): 1.25e-06,
            ("verbmark_latency_seconds", first, "half", "0.99"): 1.25e-06,
            ("verbmark_latency_seconds_sum", first, "half"): 0.002473,
            ("verbmark_latency_seconds_count", first, "half"): 2000,
            ("verbmark_latency_min_seconds", first, "half"): 1.23e-06,
            ("verbmark_latency_max_seconds", first, "half"): 1.4e-06,
        }
        self.assertEqual(
            {key: value for key, value in found.items() if "latency" in key[0] and first in key},
            latencies,
        )
        for key, value in (
            (("verbmark_run_info", "complete"), 1),
            # 2001-02-03T04:05:07Z.
            (("verbmark_run_timestamp_seconds",), 981173107),
            (("verbmark_latency_seconds", other, "full", "0.5"), 3e-08),
            (("verbmark_latency_median_low_seconds", other, "full"), 1e-08),
            (("verbmark_latency_median_high_seconds", other, "full"), 6e-08),
            (("verbmark_bandwidth_bytes_per_second", rate), 2e7),
            (("verbmark_messages_per_second", rate), 20000),
            (("verbmark_cpu_seconds_per_message", rate, "client"), 2e-06),
            (("verbmark_cpu_seconds_per_message", rate, "server"), 2e-06),
            *((("verbmark_case_status", line["id"], line["status"]), 1) for line in WHOLE),
        ):
            self.assertEqual(found.get(key), value, key)
        # A case that is not complete has only its status.
        for line in ENDED_BADLY:
            self.assertEqual(sum(line["id"] in key for key in found), 1)

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed; run ci/setup test")
    def test_promtool_rejects(self):
        good = self.exported("prometheus", self.write("a.json", result(*WHOLE))).out
        for old, new in (("verbmark_messages_per_second", "verbmark messages"),
                         ("# TYPE verbmark_latency_seconds summary", "# TYPE verbmark_latency_seconds"),
                         ('quantile="0.5"', 'quantile="half"'), ("} 20000", "} fast"),
                         ("# HELP verbmark_bandwidth_bytes_per_second", "# HELPS verbmark_rate")):
            with self.subTest(new):
                self.assertIn(old, good)
                ended = subprocess.run(
                    ["promtool", "check", "metrics"], input=good.replace(old, new),
                    capture_output=True, text=True, timeout=PATIENCE, check=False,
                )
                self.assertNotEqual((ended.returncode, ended.stdout + ended.stderr), (0, ""))

    def test_imported_results(self):
        """They have fewer figures, but other tools can still read them."""
        path = f"{self.folder.name}/imported.json"
        texts = f"{LIB}/../../../reports/fuzz/corpus/import_text/real-"
        for name, wanted in (
            ("read-lat-many", {"latency": {"value": 2930}, "latency-p99": {"value": 8420},
                               "latency-p99-9": {"value": 64620}}),
            ("send-bw-gbits", {"throughput": {"value": 116206},
                               "bandwidth": {"value": 60.93e9 / 8}}),
        ):
            ended = verbmark("import", "perftest", texts + name, "--json", path)
            self.assertEqual(ended.status, 0, ended.err)
            ((_, measures),) = self.bmf(path).items()
            self.assertEqual(set(measures), set(wanted))
            for measure, value in wanted.items():
                # Accurate to the digits that perftest printed.
                self.assertAlmostEqual(measures[measure]["value"] / value["value"], 1, delta=1e-4)
            self.assertTrue(self.prometheus(path))
            (suite,) = self.junit(path)
            # JUnit requires a start and a host; this result has neither.
            self.assertEqual((suite.tests, suite.failures, suite.timestamp, suite.hostname),
                             (1, 0, "1970-01-01T00:00:00", "localhost"))
            self.assertTrue(self.github("--metric", "bw" if "-bw" in name else "lat", path))
            if "-lat" in name:
                with open(path, encoding="utf-8") as file:
                    identifier = json.load(file)["cases"][0]["id"]
                for chosen, words in (
                    ((), "no case has a histogram"), (("--case", identifier), "has no histogram")
                ):
                    self.assertIn(words,
                                  self.refused("hgrm", path, *chosen))
        self.assertIn("has no latency", self.refused("hgrm", path, "--case", "send/bw/64k/poll"))

    def test_prometheus_escapes_text(self):
        document = result(latency(FAST))
        strange = "a\\b\"c{},\u20ac"
        document["hosts"]["client"]["host"] = strange
        path = self.write("a.json", document)
        self.prometheus(path)
        self.assertEqual(self.labels["client"], strange)
        other = self.write("b.json", result(bandwidth([5])))
        found = self.prometheus(path, other)
        self.assertIn(("verbmark_latency_seconds_count", "send/lat/64/poll", "half"), found)
        self.assertIn(("verbmark_messages_per_second", "write/bw/1000/event"), found)

    def test_prometheus_of_the_same_hosts(self):
        one = self.write("a.json", result(latency(FAST)))
        other = self.write("b.json", result(bandwidth([5])))
        self.assertEqual(
            self.refused("prometheus", one, other),
            f"{other}: n01 mlx5_0/1 -> n02 mlx5_1/1 is already in {one}, and the format allows "
            "only one; merge both with 'report --merge'",
        )
        twice = self.write("c.json", result(bandwidth([5]), bandwidth([6])))
        self.assertEqual(
            self.refused("prometheus", twice),
            f"{twice}: case 2 has the same id as another: write/bw/1000/event",
        )

    def test_prometheus_of_the_software_device(self):
        path = self.write("a.json", soft(result(bandwidth([5]))))
        self.prometheus(path)
        self.assertEqual(self.labels["software_device"], "true")
        self.assertTrue(self.exported("prometheus", path).out.startswith(f"# {SOFT}\n"))

    def hgrm(self, line):
        """Returns the table, and the same histogram in HdrHistogram's format."""
        path = self.write("a.json", result(line))
        whole = json.loads(verbmark("report", "--format", "json", path).out)
        return (self.exported("hgrm", path).out,
                whole["cases"][0]["latency_ns"]["histogram"]["hdr_v2"])

    @unittest.skipUnless(shutil.which("javac") and os.path.exists(HDR),
                         "a JDK or libhdrhistogram-java is not installed; run ci/setup test")
    def test_hgrm_equals_reference(self):
        number = random.Random(1)
        tables, strings = zip(*(self.hgrm(binned(samples)) for samples in (
            FAST, SLOW, [7, 7], [0, 0, 5], [1230, 1231], [2047, 2048, 2049, 4097],
            [5, TOP - 1], [6, TOP, 2 * TOP],
            list(range(1, 5001)),
            [int(number.lognormvariate(8, 1.5)) for _ in range(20000)],
            # With 40960 samples and more, some steps have a 5 as their thirteenth digit.
            [int(number.lognormvariate(9, 0.1)) for _ in range(100000)],
            [int(number.paretovariate(0.8) * 900) % TOP for _ in range(20000)],
            [1000] * 99999 + [900000],
        )))
        wanted = self.read_by(
            "java", "-XX:TieredStopAtLevel=1", "-cp", HDR, f"{LIB}/HdrPercentiles.java",
            text="\n".join(strings),
        )
        end = "SubBuckets     =         2048]\n"
        references = [text + end for text in wanted.split(end + "\n")[:-1]]
        self.assertEqual(len(references), len(tables))
        for table, reference in zip(tables, references):
            self.assertEqual(table[: len(reference)], reference)
            for line in table[len(reference) :].splitlines():
                self.assertTrue(line.startswith("#["), line)

    def test_hgrm(self):
        lines = self.exported("hgrm", self.write("a.json", result(latency(FAST)))).out.splitlines()
        self.assertEqual(lines[0].split(), ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"])
        self.assertEqual(lines[2].split(), ["1.230", "0.000000000000", "1500", "1.00"])
        self.assertEqual(lines[-5].split(), ["1.400", "1.000000000000", "2000"])
        self.assertEqual(lines[-1], "#[Case    = send/lat/64/poll, latency in us, half]")
        soft_lines = self.exported(
            "hgrm", self.write("b.json", soft(result(binned([6, TOP, 2 * TOP]))))
        ).out.splitlines()
        self.assertEqual(
            soft_lines[-2:], ["#[Beyond  = 2 samples are 137438953 us and more]", f"#[{SOFT}]"]
        )

    def test_hgrm_of_one_case(self):
        path = self.write("a.json", result(*WHOLE))
        self.assertEqual(
            self.refused("hgrm", path),
            f"{path}: 2 cases have a latency, such as send/lat/64/poll; choose one with --case",
        )
        alone = self.exported("hgrm", self.write("b.json", result(WHOLE[2]))).out
        self.assertEqual(self.exported("hgrm", path, "--case", WHOLE[2]["id"]).out, alone)
        for identifier, sentence in (
            ("send/lat/65/poll", "no case send/lat/65/poll"),
            ("write/bw/1000/event", "write/bw/1000/event has no latency"),
            ("read/lat/64/poll", "read/lat/64/poll has no latency"),
        ):
            self.assertEqual(
                self.refused("hgrm", path, "--case", identifier), f"{path}: {sentence}"
            )

    def test_csv(self):
        paths = [self.write("a.json", result(*WHOLE)), self.write("b.json", result(latency(SLOW)))]
        self.assertEqual(
            self.exported("csv", *paths).out, verbmark("report", "--format", "csv", *paths).out
        )

    def test_software_device_is_marked(self):
        path = self.write("a.json", soft(result(latency(FAST), bandwidth([5]))))
        for words in FORMATS:
            ended = self.exported(*words, path)
            if words[0] in ("bmf", "csv"):
                self.assertEqual(ended.err, f"verbmark: {path}: {SOFT}")
            else:
                self.assertIn(SOFT, ended.out)
                self.assertEqual(ended.err, "")

    def test_same_case_twice(self):
        one = self.write("a.json", result(latency(FAST), bandwidth([5])))
        other = self.write("b.json", result(latency(SLOW), bandwidth([6])))
        for words in FORMATS:
            if words[0] not in ("bmf", "github-benchmark"):
                continue
            identifier = "write/bw/1000/event" if "bw" in words else "send/lat/64/poll"
            self.assertEqual(
                self.refused(*words, one, other),
                f"{other}: {identifier} is already in {one}, and the format allows only one; "
                "merge both with 'report --merge'",
            )

    def test_no_figures(self):
        path = self.write("a.json", result(*ENDED_BADLY))
        old = self.write("old", "old")
        for words, sentence in (
            (("bmf",), "no case has a figure for Bencher"),
            (("github-benchmark", "--metric", "lat"), "no case has a latency"),
            (("github-benchmark", "--metric", "bw"), "no case has a bandwidth"),
            (("hgrm",), f"{path}: no case has a latency"),
        ):
            self.assertEqual(self.refused(*words, path, "-o", old), sentence)
            with open(old, encoding="utf-8") as file:
                self.assertEqual(file.read(), "old")

    def test_output(self):
        path = self.write("a.json", result(latency(FAST), bandwidth([5])))
        for words in FORMATS:
            out = f"{self.folder.name}/out"
            self.assertEqual(self.exported(*words, path, "-o", out).out, "")
            with open(out, encoding="utf-8") as file:
                self.assertEqual(file.read().rstrip("\n"), self.exported(*words, path).out)
        self.assertEqual(
            self.refused("junit", path, "-o", "/nowhere/at/all"),
            "cannot write /nowhere/at/all: No such file or directory",
        )
        self.assertIn("No space left", self.refused("junit", path, "-o", "/dev/full"))

    def test_unreadable_files(self):
        good = self.write("good.json", result(latency(FAST), bandwidth([5])))
        torn = copy.deepcopy(result(latency(FAST)))
        torn["cases"][0]["latency_ns"]["histogram"]["bins"][0][2] += 1
        for words in FORMATS:
            for document, sentence in (
                ({}, 'JSON, but not a verbmark result: "schema" is not "verbmark.result/1"'),
                (torn, "send/lat/64/poll: latency_ns: the bins do not add up to the count 2000"),
            ):
                bad = self.write("bad.json", document)
                self.assertEqual(self.refused(*words, bad), f"{bad}: {sentence}")
                if words[0] == "hgrm":
                    continue
                ended = self.exported(*words, bad, good, status=1)
                self.assertEqual(ended.err, f"verbmark: {bad}: {sentence}")
                self.assertEqual(ended.out, self.exported(*words, good).out)

    def test_usage(self):
        path = self.write("a.json", result())
        dotted = f"{self.folder.name}/./a.json"
        link = f"{self.folder.name}/link"
        os.symlink("a.json", link)
        for words, sentence in (
            (("export", "--format", "bmf", path, dotted), f"'{dotted}' is given twice"),
            (("export", "--format", "bmf", path, link), f"'{link}' is given twice"),
            (("export", "--format", "bmf", path, "-o", link),
             f"--output: '{link}' is an input file and would be overwritten"),
        ):
            ended = verbmark(*words)
            self.assertEqual((ended.status, ended.out, ended.err), (2, "", f"verbmark: {sentence}"))
