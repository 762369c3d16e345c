# SPDX-License-Identifier: MIT
"""Importing perftest's output: real samples, and input that must be rejected."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from cli.report import latency, result
from documents import parse
from verbmark import VERBMARK, verbmark

ROOT = os.path.abspath(f"{os.path.dirname(os.path.abspath(__file__))}/../../..")
sys.path.insert(0, f"{ROOT}/ci/measure")
import perftest  # pylint: disable=wrong-import-position,import-error

CORPUS = f"{ROOT}/reports/fuzz/corpus"
TEXTS = f"{CORPUS}/import_text"
JSONS = f"{CORPUS}/import_json"
SOFTRDMA = os.path.join(os.path.dirname(VERBMARK), "../core/soft/softrdma")
MIB = 1 << 20
GBIT = 1e9 / 8
# The memory for reading a file of 256 MiB, including growth of the buffer and sanitizers.
MOST_MIB = 700
OPERATIONS = {
    "Send": "send", "RDMA_Write": "write", "RDMA_Read": "read",
    "Atomic FETCH_AND_ADD": "fetch-add", "Atomic CMP_AND_SWAP": "compare-swap",
}
# Every command that reads results.
READERS = (
    ("report",), ("export", "--format", "csv"), ("compare", "/dev/null"), ("import", "perftest"),
    ("run", "--device", "soft0", "--dry-run", "--plan"),
)
# Samples that are rejected, and a word of the reason.
REFUSED = {
    f"{TEXTS}/real-send-lat-C": "cycles", f"{TEXTS}/real-send-bw-both": "--report-both",
    f"{TEXTS}/real-server-send-lat": "server output", f"{JSONS}/both": "ambiguous",
    f"{JSONS}/old": "line 2: ", f"{JSONS}/no-test": "test_info",
}
HEAD = """\
                    Send Latency Test
 Connection type : RC		Using SRQ      : OFF
 Device         : mlx5_0
"""
TITLES = (" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]"
          "    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] \n")
LINE = "-" * 87 + "\n"
ROW = " 64      1000          0.81           2.58         0.85     	       0.87        	0.06   		0.89    		2.58   \n"
BW = HEAD.replace("Latency", "BW")
BW_TITLES = " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n"


def accepted(folder):
    paths = (f"{folder}/{name}" for name in sorted(os.listdir(folder)))
    return [path for path in paths if path not in REFUSED]


def size_name(size):
    unit = 0
    while unit < 3 and size % 1024 == 0:
        size //= 1024
        unit += 1
    return f"{size}{'kmg'[unit - 1] if unit else ''}"


def is_sanitized():
    with open(VERBMARK, "rb") as file:
        return b"libasan" in file.read()


def latency_of(document):
    return document["cases"][0]["latency_ns"]


class Row:
    """One row of perftest's table, parsed independently with regular expressions."""

    def __init__(self, text, match, heading):
        before = text[:match]
        title = re.findall(r"^ {20}(.*) Test$", before, re.MULTILINE)[-1]
        self.numbers = [float(word) for word in heading[1].split()]
        self.is_bw = "BW" in title
        self.both = "Bidirectional" in title
        self.op = OPERATIONS[re.match(r"(Atomic \S+|\S+)", title)[1]]
        self.transport = re.findall(r"Connection type : (\S+)", before)[-1]
        self.mode = "event" if "Test with events" in before else "poll"
        self.size, self.iterations = map(int, self.numbers[:2])
        self.gbit = "Gb/sec" in heading[0]

    def starts(self):
        metric = "bw" if self.is_bw else "lat"
        return f"{self.op}/{metric}/{size_name(self.size)}/{self.mode}"


def rows(text):
    """Returns all rows of the text."""
    found = []
    heading = ""
    at = 0
    for line in text.splitlines(keepends=True):
        if line.startswith(" #bytes"):
            heading = line
        elif heading and re.match(r" \d+ +\d+ +[\d.]+", line):
            found.append(Row(text, at, (heading, line)))
        at += len(line)
    return found


class Import(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text):
        path = f"{self.folder.name}/{name}"
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return path

    def imported(self, *paths):
        ended = verbmark("import", "perftest", *paths, "--json", "-")
        self.assertEqual(ended.status, 0, ended.err)
        document = parse(ended.out)
        self.assertEqual(document["imported"]["format"], "perftest")
        return document

    def refused(self, text, *words, name="a.txt"):
        ended = verbmark("import", "perftest", self.write(name, text), "--json", "-")
        self.assertEqual(ended.status, 1, ended.out)
        self.assertEqual(ended.out, "")
        self.assertEqual(len(ended.err.splitlines()), 1, ended.err)
        for word in words:
            self.assertIn(word, ended.err)

    def check_latency(self, row, line, trial):
        """Microseconds become nanoseconds; a percentile needs ten samples beyond it."""
        least, most, typical, mean, stdev, p99, p99_9 = row.numbers[2:9]
        wanted = {"min": least, "p50": typical, "mean": mean, "p99": p99, "p99_9": p99_9}
        for key, needed in (("p50", 20), ("p99", 1000), ("p99_9", 10000)):
            if row.iterations < needed:
                del wanted[key]
        self.assertEqual(set(trial["latency_ns"]), set(wanted))
        for key, us in wanted.items():
            self.assertAlmostEqual(trial["latency_ns"][key], us * 1000, places=6)
            self.assertAlmostEqual(line["latency_ns"][key], us * 1000, places=6)
        self.assertNotIn("histogram", line["latency_ns"])
        printed = line["imported"][0]
        self.assertEqual((printed["t_max"], printed["t_stdev"]), (most, stdev))
        self.assertEqual(trial["messages"], row.iterations)

    def check_bandwidth(self, row, line, trial):
        unit = GBIT if row.gbit else MIB
        average, mmsg = row.numbers[3:5]
        rate = trial["bandwidth"]["messages_per_s"]
        rate += trial["bandwidth"].get("far_messages_per_s", 0)
        self.assertEqual("far_messages_per_s" in trial["bandwidth"], row.both)
        # Compare to the printed precision; unidirectional tests print one more digit.
        self.assertAlmostEqual(rate / 1e6, mmsg, delta=1.1e-6)
        self.assertAlmostEqual(rate * row.size / unit, average, delta=0.0051 + 1.1 * row.size / unit)
        self.assertEqual(line["bandwidth"]["messages"], row.iterations)
        self.assertAlmostEqual(
            line["bandwidth"]["duration_ns"] * trial["bandwidth"]["messages_per_s"] / 1e9,
            row.iterations, delta=1 + row.iterations * 1e-3)
        self.assertNotIn("windows", line["bandwidth"])
        if row.both:
            self.assertAlmostEqual(line["bandwidth"]["total"]["messages_per_s"], rate, delta=1)

    def check(self, text, document):
        wanted = rows(text)
        self.assertEqual(len(document["cases"]), len(wanted))
        for row, line in zip(wanted, document["cases"]):
            self.assertTrue(line["id"].startswith(row.starts()), line["id"])
            self.assertEqual(line["transport"], row.transport)
            self.assertEqual(row.transport != "RC", f"/{row.transport}" in line["id"])
            trial = line["trials"][0]
            if row.is_bw:
                self.check_bandwidth(row, line, trial)
            elif len(row.numbers) == 4:
                self.assertEqual(set(trial["latency_ns"]), {"mean"})
                self.assertAlmostEqual(trial["latency_ns"]["mean"], row.numbers[2] * 1000)
            else:
                self.check_latency(row, line, trial)
            if not row.is_bw:
                self.assertEqual(line["latency_ns"]["kind"],
                                 "half" if row.op in ("send", "write") else "full")

    def test_real_text(self):
        paths = accepted(TEXTS)
        self.assertGreaterEqual(len(paths), 12)
        for path in paths:
            with self.subTest(path), open(path, encoding="ascii") as file:
                self.check(file.read(), self.imported(path))

    def test_json(self):
        paths = accepted(JSONS)
        self.assertGreaterEqual(len(paths), 4)
        for path in paths:
            with self.subTest(path), open(path, encoding="ascii") as file:
                printed = json.load(file)["results"]
                line = self.imported(path)["cases"][0]
                self.assertEqual(line["size"], printed["MsgSize"])
                self.assertEqual(line["trials"][0]["messages"], printed["n_iterations"])
                for ours, theirs in (("min", "t_min"), ("mean", "t_avg"), ("p50", "t_typical")):
                    if theirs in printed:
                        self.assertAlmostEqual(line["latency_ns"][ours], printed[theirs] * 1000,
                                               places=6)
                if "MsgRate" in printed:
                    rate = line["bandwidth"]["messages_per_s"]
                    self.assertAlmostEqual(rate / 1e6, printed["MsgRate"], delta=1.1e-6)

    def test_rejected_samples(self):
        for path, why in REFUSED.items():
            with self.subTest(path), open(path, "rb") as file:
                self.refused(file.read(), "line ", why)

    def test_valid_json(self):
        """JSON of later versions, in both units; the document does not name its unit."""
        info = {"test": "RDMA_Write_BW_Test", "Device": "mlx5_0", "Number_of_qps": 4,
                "Connection_type": "RC", "Using_SRQ": "OFF", "TX_depth": 128, "Mtu": 4096,
                "Link_type": "IB", "rdma_cm_QPs": "OFF"}
        results = {"MsgSize": 65536, "n_iterations": 20000, "BW_peak": 0.0}
        for average, unit in ((23500.25, MIB), (197.13, GBIT)):
            results.update(BW_average=average, MsgRate=round(average * unit / 65536 / 1e6, 6))
            text = json.dumps({"test_info": info, "results": results}, indent=1)
            document = self.imported(self.write("new.json", text))
            line = document["cases"][0]
            self.assertEqual(line["id"], "write/bw/64k/poll/q4")
            self.assertEqual(document["hosts"]["client"]["link_layer"], "InfiniBand")
            self.assertAlmostEqual(line["bandwidth"]["bytes_per_s"] / unit, average, delta=0.006)
            # The rate comes from the column with more digits.
            self.assertAlmostEqual(line["imported"][0]["rate_step"],
                                   min(0.01 * unit / 65536, 1))
        results["BW_average"] = 12.34
        self.refused(json.dumps({"test_info": info, "results": results}), "do not match")

    def test_other_versions(self):
        """Since April 2024 the unit is called MiB; a log may also include standard error."""
        with open(f"{TEXTS}/real-send-bw", encoding="ascii") as file:
            text = file.read()
        self.assertIn("MB/sec", text)
        self.assertEqual(self.imported(self.write("mib", text.replace("MB/sec", "MiB/sec")))["cases"],
                         self.imported(f"{TEXTS}/real-send-bw")["cases"])
        noise = ("Conflicting CPU frequency values detected: 2300.000000 != 3200.000000. "
                "CPU Frequency is not max.\n")
        row = latency_of(self.imported(self.write("a", HEAD + TITLES + ROW + LINE)))
        self.assertEqual(row, latency_of(self.imported(
            self.write("b", noise + HEAD + noise + TITLES + noise + ROW + noise + LINE + noise))))

    def test_source_is_named(self):
        document = self.imported(f"{TEXTS}/real-send-lat")
        (warning,) = document["warnings"]
        self.assertEqual((warning["code"], warning["spoils"]), ("perftest-latency", True))
        self.assertIn("t_max", warning["what"])
        self.assertNotIn("max", document["cases"][0]["latency_ns"])
        self.assertNotIn("stddev", document["cases"][0]["latency_ns"])
        self.assertEqual(document["run"], {"status": "complete"})
        self.assertEqual(list(document["hosts"]), ["client"])
        (warning,) = self.imported(f"{TEXTS}/real-send-bw-b")["warnings"]
        self.assertEqual((warning["code"], warning["spoils"]), ("perftest-rate", False))

    def test_several_runs(self):
        """Runs of one case become its trials, from one file or several."""
        logs = [HEAD + TITLES + ROW.replace("0.85", f"0.8{i}") + LINE for i in range(2, 8)]
        first = self.write("first.txt", "$ ib_send_lat\n" + "\n$ again\n".join(logs[:4]))
        second = self.write("second.txt", "".join(logs[4:]))
        document = self.imported(first, second)
        line = document["cases"][0]
        self.assertEqual([trial["latency_ns"]["p50"] for trial in line["trials"]],
                         [820, 830, 840, 850, 860, 870])
        self.assertEqual(line["latency_ns"]["p50"], 845)
        self.assertEqual(len(line["imported"]), 6)
        self.assertAlmostEqual(line["latency_ns"]["intervals"]["p50"]["low"], 820)
        self.assertAlmostEqual(line["latency_ns"]["intervals"]["p50"]["high"], 870)

    def test_other_options(self):
        """A run with an option that another run lacks is no trial of the same case."""
        plain = HEAD + TITLES + ROW + LINE
        for option, name in (("TOS             : 105", "tos"), ("GID index       : 3", "gid-index"),
                           ("Gid index       : 3", "gid-index")):
            with self.subTest(option):
                marked = HEAD + f" {option}\n" + TITLES + ROW + LINE
                for text in (marked + plain, plain + marked):
                    self.refused(text, "options differ from an earlier run")
                line, = self.imported(self.write("a", marked + marked))["cases"]
                self.assertEqual(line[name.replace("-", "_")], int(option.split()[-1]))
                self.assertEqual(len(line["trials"]), 2)
        # "Gid" of older versions is the same parameter.
        mixed = "".join(HEAD + f" {word} index : 3\n" + TITLES + ROW + LINE
                        for word in ("GID", "Gid"))
        self.assertEqual(len(self.imported(self.write("a", mixed))["cases"][0]["trials"]), 2)

    def test_targets(self):
        """Where both sides send, perftest counts the queue pairs that receive, too."""
        for transport in ("XRC", "DC"):
            self.check_targets(transport)

    def check_targets(self, transport):
        lat = TITLES + ROW + LINE
        bw = BW_TITLES + " 64      1000             10.00              9.00      0.147456\n" + LINE
        for head, table, qps in (
            (HEAD, lat, 1), (BW, bw, 2), (BW.replace("Send", "Send Bidirectional"), bw, 1),
        ):
            head = head.replace("RC\t", f"{transport}\t").replace("OFF", "ON") + " Number of qps   : 2\n"
            with self.subTest(head):
                line, = self.imported(self.write("a", head + table))["cases"]
                self.assertEqual((line["transport"], line["use_srq"], line.get("qps", 1)),
                                 (transport, True, qps))

    def test_multicast(self):
        """The group is the MGID of the last line that has one, which is the peer's."""
        bw = BW_TITLES + " 64      1000             10.00              9.00      0.147456\n" + LINE
        ours = " MGID: 255:01:00:00:00:02:201:133:00:00:00:00:00:00:00:00\n"
        for head, table, metric in ((HEAD, TITLES + ROW + LINE, "lat"), (BW, bw, "bw")):
            head = head.replace(" Test", " Multicast Test").replace("RC\t", "UD\t")
            for gid, group in (
                ("00:00:00:00:00:00:00:00:00:00:255:255:239:01:02:03", "239.1.2.3"),
                ("255:14:00:00:00:00:00:00:00:00:00:00:00:00:01:07", "ff0e::107"),
            ):
                with self.subTest(head, group=group):
                    lines = f"{head}{ours} GID: {gid}\n MGID: {gid}\n"
                    line, = self.imported(self.write("a", lines + table))["cases"]
                    self.assertEqual((line["multicast"], line["metric"]), (group, metric))
                    self.assertTrue(line["id"].endswith(f"/multicast-{group}"), line["id"])

    def test_rejected_input(self):
        table = HEAD + TITLES + ROW
        for text, word in (
            ("", "no perftest output"), (" \n\n", "no perftest output"), ("Hello\n", "no perftest output"),
            (b"\0\0\0\0", "NUL"), (table.encode() + b"\0", "NUL"), ("{", "line 1: "),
            ("[1]", "no perftest output"), ('{"schema": 1}', "test_info"),
            ('{"test_info": {"test": "a"}, "test_info": 1}', "duplicate"),
            (table, "ends early"), (table[:-20], "is not a row"), (HEAD, "no figures"),
            (HEAD + TITLES + LINE, "no figures"), (TITLES + ROW + LINE, "header of the run"),
            (table + HEAD + LINE, "is not a row"),
            (table + LINE + HEAD.replace("mlx5_0", "mlx5_1") + TITLES + ROW + LINE, "device"),
            (table.replace("RC", "RD") + LINE, "RD"),
            (HEAD + " MGID: 255:14:00\n" + TITLES + ROW + LINE, "MGID"),
            (HEAD + " MGID: " + ":".join(["999"] * 16) + "\n" + TITLES + ROW + LINE, "MGID"),
            (table.replace("Send", "Raw") + LINE, "Raw"),
            (table.replace("t_max[usec]", "t_max[cycles]") + LINE, "t_max[cycles]"),
            (table.replace("2.58", "-2.58") + LINE, "is not a row"),
            (table.replace("2.58", "nan") + LINE, "is not a row"),
            (table.replace("0.85", "9.85") + LINE, "is impossible"),
            (table.replace("0.87", "9.87") + LINE, "t_avg"),
            (table.replace("2.58", "2e15") + LINE, "is impossible: 2e"),
            (table.replace(" 64 ", " 0 ") + LINE, "message size"),
            (table.replace(" 64 ", " 2000000000 ") + LINE, "message size"),
            (table.replace(" 1000 ", " 0 ") + LINE, "iterations"),
            (table + " 64 1000 0.81\n" + LINE, "is not a row"),
            (table + "#, usec\n1, 1.5\n" + LINE, "samples"),
            (table + "x" * 600 + "\n" + LINE, "too long"),
            (table.replace("mlx5_0", "\x1b[2J") + LINE, "device"),
            (BW + BW_TITLES + " 64 1000 9.00 1.00 9.000000\n" + LINE, "do not match"),
            (BW + BW_TITLES + " 64 1000 0.00 0.00 0.000000\n" + LINE, "digits"),
            (BW + BW_TITLES + f" 64 {10**15} 9.00 {10**20 * 64 / MIB:.2f} {10**14}.000000\n" + LINE,
             "rate is impossible"),
        ):
            with self.subTest(word):
                self.refused(text, word)
        self.refused(table, "a?.txt", name="a\x1b.txt")

    def test_truncated_input(self):
        """Wherever the text is cut, it is not taken for a complete run."""
        text = HEAD + TITLES + ROW + LINE
        whole = len(text) - len(LINE) + 4
        path = f"{self.folder.name}/cut"
        for length in range(0, whole, 7):
            self.write("cut", text[:length])
            self.assertEqual(verbmark("import", "perftest", path).status, 1, text[:length])

    def test_usage(self):
        for words, word in (
            ((), "FORMAT is missing"), (("fio", "a"), "unknown format 'fio'"),
            (("perftest",), "FILE is missing"), (("perftest", "a", "a"), "twice"),
            (("perftest", "--xml", "a"), "--xml"),
        ):
            ended = verbmark("import", *words)
            self.assertEqual(ended.status, 2, ended.err)
            self.assertIn(word, ended.err)
        path = self.write("a.txt", HEAD + TITLES + ROW + LINE)
        self.assertEqual(verbmark("import", "perftest", path, "--json", path).status, 2)
        link = f"{self.folder.name}/link"
        os.symlink("a.txt", link)
        for again in (link, f"{self.folder.name}/./a.txt"):
            ended = verbmark("import", "perftest", path, again)
            self.assertEqual((ended.status, ended.err), (2, f"verbmark: '{again}' is given twice"))
        for wrong in (self.folder.name, f"{self.folder.name}/none", "/dev/null"):
            self.assertEqual(verbmark("import", "perftest", wrong).status, 1)
        ended = verbmark("import", "perftest", path, "--json", "/dev/full")
        self.assertEqual(ended.status, 1)
        self.assertIn("/dev/full", ended.err)

    def save(self, name, *paths):
        out = f"{self.folder.name}/{name}"
        ended = verbmark("import", "perftest", *paths, "--json", out)
        self.assertEqual(ended.status, 0, ended.err)
        return out

    def test_imported_results_work_everywhere(self):
        """Every command that reads results accepts an imported one and names its source."""
        lat = self.save("lat.json", f"{TEXTS}/real-read-lat-a", f"{TEXTS}/real-cas-lat")
        bw = self.save("bw.json", f"{TEXTS}/real-send-bw", f"{TEXTS}/real-write-bw-cpu")
        for path in (lat, bw):
            shown = verbmark("report", path)
            self.assertEqual(shown.status, 0, shown.err)
            self.assertIn("imported from perftest: soft0", shown.out)
            self.assertTrue(shown.out.startswith("SOFTWARE DEVICE"), shown.out)
            for form in ("html", "markdown", "csv", "json"):
                self.assertEqual(verbmark("report", "--format", form, path).status, 0)
            again = verbmark("report", "--format", "json", path).out
            with open(path, encoding="utf-8") as file:
                self.assertEqual(parse(again), json.load(file))
            for form in ("bmf", "junit", "prometheus", "csv"):
                ended = verbmark("export", "--format", form, path)
                self.assertEqual(ended.status, 0, ended.err)
                # Unknown values are omitted.
                for nothing in ('=""', " /0", "/0\""):
                    self.assertNotIn(nothing, ended.out)
        self.assertIn("t_max", verbmark("report", lat).out)
        merged = verbmark("report", "--merge", lat, bw)
        self.assertEqual(merged.status, 1)
        self.assertIn("import the files of all runs", merged.err)

    def test_start_time(self):
        """perftest does not print the time, so it comes from the command line."""
        path = f"{TEXTS}/real-send-lat"
        self.assertNotIn("started", self.imported(path)["run"])
        words = ("import", "perftest", path, "--started", "2025-11-23T10:12:44Z")
        out = f"{self.folder.name}/out.json"
        ended = verbmark(*words, "--json", out)
        self.assertEqual(ended.status, 0, ended.err)
        with open(out, encoding="utf-8") as file:
            document = parse(file.read())
        self.assertEqual(document["run"]["started"], "2025-11-23T10:12:44Z")
        self.assertEqual(parse(verbmark("report", "--format", "json", out).out), document)
        self.assertIn(f"1 of 1 case complete, 2025-11-23T10:12:44Z, {out}", verbmark("report", out).out)
        self.assertIn("<dt>Measured</dt>\n<dd>2025-11-23T10:12:44Z</dd>",
                      verbmark("report", "--format", "html", out).out)
        self.assertIn('timestamp="2025-11-23T10:12:44"',
                      verbmark("export", "--format", "junit", out).out)
        for words, sentence in (
            (words, "--started needs --json FILE"),
            ((*words[:-1], "yesterday", "--json", out),
             "--started: 'yesterday' is not a time (e.g. 2026-11-23T10:12:44Z)"),
            ((*words[:-1], "2025-02-30T10:12:44Z", "--json", out),
             "--started: '2025-02-30T10:12:44Z' is not a time (e.g. 2026-11-23T10:12:44Z)"),
        ):
            ended = verbmark(*words)
            self.assertEqual((ended.status, ended.out, ended.err),
                             (2, "", f"verbmark: {sentence}"))

    def test_compare(self):
        base, new = (
            self.save(f"{name}.json", *(
                self.write(f"{name}{i}.txt", HEAD + TITLES + ROW.replace("0.85", f"0.8{i + 2}") + LINE)
                for i in range(6)))
            for name in ("base", "new"))
        itself = verbmark("compare", base, new)
        self.assertEqual(itself.status, 0, itself.err)
        self.assertIn("p50 us", itself.out)
        self.assertRegex(itself.out, r"p50 us +0\.845 +0\.845 +1\.000")
        self.assertNotIn(" to :", itself.out)
        # Results of different programs are not compared.
        ours = self.write("ours.json", json.dumps(result(latency([850] * 2000))))
        apart = verbmark("compare", base, ours)
        self.assertEqual(apart.status, 3, apart.out)
        self.assertIn("perftest in", apart.err)
        self.assertIn("verbmark in", apart.err)
        made = result(latency([850] * 2000))
        made["cases"][0]["use_srq"] = True
        ours = self.write("shared.json", json.dumps(made))
        forced = verbmark("compare", "--force", base, ours)
        self.assertEqual(forced.status, 0, forced.err)
        self.assertIn("FORCED", forced.out)
        self.assertRegex(forced.out, r"use.srq differs between runs.*compared anyway")
        with open(base, encoding="utf-8") as file:
            document = json.load(file)
        del document["imported"]
        path = self.write("native.json", json.dumps(document))
        self.assertEqual(verbmark("report", path).status, 1)

    def measured(self, *words):
        """Returns the exit status, the error output and the peak memory in MiB."""
        with open(f"{self.folder.name}/err", "w+b") as err:
            with subprocess.Popen([VERBMARK, *words], stdout=subprocess.DEVNULL, stderr=err) as run:
                _, status, usage = os.wait4(run.pid, 0)
                run.returncode = os.waitstatus_to_exitcode(status)
            err.seek(0)
            return run.returncode, err.read().decode(), usage.ru_maxrss >> 10

    def refused_large(self, path, word, commands=READERS):
        """Checks that commands reject a large file with a short message and little memory."""
        for words in commands:
            with self.subTest(words):
                status, errors, mib = self.measured(*words, path)
                self.assertIn(status, (1, 2), errors)
                self.assertLess(len(errors), 600)
                self.assertLess(mib, MOST_MIB)
                if words[0] in ("report", "export"):
                    self.assertIn(word, errors)

    def test_large_files(self):
        path = self.write("large", b"")
        os.truncate(path, 257 * MIB)
        self.refused_large(path, "too long for a result; the maximum is 256 MiB")
        self.refused_large(path, "256 MiB; a check of a fleet may have 4096 MiB if it begins with "
                           '{"schema":"verbmark.fleet/', READERS[:1])
        self.refused_large("/dev/zero", "too long for a result; the maximum is 256 MiB")
        # Read as text, as a whole, and up to the first error; a JSON value needs at least 64 bytes.
        for start, part, word in (
            (b"[", b"{},", "too many values"), (b"", b"[", "too many values"),
            (b'{"a":"', b"x", "premature end"), (b"", b"\0", "line 1"),
        ):
            with open(path, "wb") as file:
                file.write(start)
                for _ in range(100):
                    file.write(part * (MIB // len(part)))
            self.refused_large(path, word, READERS[:1])

    def test_large_result(self):
        """A valid result of 100 MB, with two thousand bins per case, fits into the memory limit."""
        line = json.dumps(latency([value for value in range(48, 2048) for _ in range(2)]))
        head, foot = json.dumps(result(None)).split("null")
        path = f"{self.folder.name}/large"
        count = 100000000 // len(line)
        with open(path, "w", encoding="ascii") as file:
            file.write(head)
            for i in range(count):
                file.write(("," if i else "") + line.replace("/poll", f"/poll/t{i}", 1))
            file.write(foot)
        self.assertGreater(os.path.getsize(path), 95000000)
        status, errors, mib = self.measured("report", "--format", "csv", path)
        self.assertEqual(status, 0, errors)
        self.assertLess(mib, 3072 + MOST_MIB)

    def test_large_import(self):
        """A log of 100 MB, an endless line, and too many rows."""
        path = f"{self.folder.name}/large"
        run = HEAD + TITLES + ROW + LINE
        for text, word in (
            ("# a shell has written this line\n" * 3000000 + run, None),
            ("x" * 100000000 + "\n" + run, None),
            (HEAD + TITLES + ROW * 20000 + LINE, "more than 10000 rows"),
        ):
            with self.subTest(word), open(path, "w", encoding="ascii") as file:
                file.write(text)
                file.flush()
                status, errors, mib = self.measured("import", "perftest", path)
                self.assertEqual(status, 1 if word else 0, errors)
                self.assertIn(word or "", errors)
                self.assertLess(mib, MOST_MIB)

    def test_pipe(self):
        with open(f"{TEXTS}/real-send-lat", "rb") as file:
            ended = subprocess.run([VERBMARK, "import", "perftest", "-", "--json", "-"],
                                   input=file.read(), capture_output=True, check=False)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(parse(ended.stdout)["cases"][0]["id"], "send/lat/2/poll")

    def test_installed_perftest(self):
        """The installed perftest prints the same format as the samples."""
        programs = [f"ib_{op}_{metric}" for op in ("send", "write", "read", "atomic")
                    for metric in ("lat", "bw")]
        if not all(map(shutil.which, programs)):
            self.skipTest("perftest is not installed; run ci/setup test")
        if is_sanitized():
            self.skipTest("a sanitizer's library cannot be preloaded into perftest")
        for number, program in enumerate(programs):
            port = 22000 + os.getpid() % 400 * 24 + number
            words = [SOFTRDMA, program, "-d", "soft0", "-n", "1000", "-s", "8", "-F"]
            # perftest fails now and then.
            text = None
            for again in range(3):
                text = text or perftest.run([*words, "-p", str(port + 8 * again)], "localhost",
                                            port + 8 * again)
            self.assertTrue(text, program)
            with self.subTest(program):
                self.check(text, self.imported(self.write(f"{program}.txt", text)))


if __name__ == "__main__":
    unittest.main()
