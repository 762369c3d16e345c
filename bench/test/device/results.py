# SPDX-License-Identifier: MIT
"""Files of results, and that the plan in a result reproduces its cases."""

import csv
import json
import os
import pty
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time

import documents
from verbmark import (
    ADDRESS, DEVICE, PATIENCE, RUN_PATIENCE, VERBMARK, WARMUP, Ended, Impostor, Peer, Program,
    Served, below_heading, client, measure, run, verbmark,
)

STAMP = "%Y%m%dT%H%M%SZ"


def names(begin, end, host=ADDRESS):
    """Returns the names that a result saved in these seconds may have."""
    return [
        f"verbmark-{host}-{time.strftime(STAMP, time.gmtime(second))}.json"
        for second in range(int(begin), int(end) + 1)
    ]


class Results(Served):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_case(self, *options):
        """Runs a case in the folder; returns the last line of output."""
        return self.run_words(ADDRESS, "-p", self.server.port, *options)

    def run_words(self, *options):
        defaults = {"--op": "send", "--trials": 1, "-n": 50}
        plain = [word for pair in defaults.items() if pair[0] not in options for word in pair]
        program = Program(VERBMARK, "run", *plain, *options, cwd=self.folder)
        ended = Ended(program, RUN_PATIENCE)
        self.assertEqual(ended.status, 0, ended.err)
        return ended.out.splitlines()[-1]

    def load(self, name):
        return documents.read(f"{self.folder}/{name}")

    def limited(self, *options):
        return Ended(
            client("-n", 100, *options, port=self.server.port), RUN_PATIENCE
        )

    def test_limits(self):
        """A violated limit sets the exit status to 1 and is reported with the case."""
        for options, text in (
            (("--fail-above", "p50=1ns"), "send/lat/64/poll: p50 "),
            (("--metric", "bw", "--fail-below", "99%line"), "send/bw/64/poll: "),
        ):
            ended = self.limited(*options)
            self.assertEqual(ended.status, 1)
            self.assertIn(text, ended.out)
        for options in (
            ("--fail-above", "p50=10s"), ("--metric", "bw", "--fail-below", "0.000001%line"),
        ):
            ended = self.limited(*options)
            self.assertEqual((ended.status, ended.err), (0, ""), ended.out)

    def test_default_name(self):
        begin = time.time()
        last = self.run_case()
        (name,) = os.listdir(self.folder)
        self.assertIn(name, names(begin, time.time()))
        self.assertTrue(last.endswith(f"; saved to {name}"), last)
        self.assertEqual(self.load(name)["run"]["status"], "complete")

    def test_without_a_host(self):
        begin = time.time()
        last = self.run_words()
        (name,) = os.listdir(self.folder)
        self.assertIn(name, names(begin, time.time(), "local"))
        self.assertTrue(last.endswith(f"; saved to {name}"), last)
        document = self.load(name)
        self.assertEqual(document["run"]["status"], "complete")
        self.assertEqual(document["hosts"]["client"], document["hosts"]["server"])

    def test_default_preset(self):
        """The default preset is announced, unless options select the cases."""
        notice = "preset quick, because no option such as --op or --size chooses cases"
        short = ("-p", self.server.port, "-n", 5, "--warmup", "0ms", "--no-save", "--quiet")
        for options, count in ((), 1), (("--op", "send"), 0), (("--preset", "quick"), 0):
            ended = Ended(Program(VERBMARK, "run", ADDRESS, *short, *options), RUN_PATIENCE)
            self.assertEqual((ended.status, ended.err), (0, ""), ended.out)
            self.assertEqual(ended.out.splitlines().count(notice), count, ended.out)
            last = "1 of 1 case complete" if "--op" in options else "30 of 30 cases complete"
            self.assertIn(last, ended.out)

    def test_nothing_is_overwritten(self):
        begin = time.time()
        old = names(begin, begin + 600)
        for name in old:
            for taken in (name, name.replace(".json", "-2.json")):
                with open(f"{self.folder}/{taken}", "w", encoding="utf-8") as file:
                    file.write("old")
        last = self.run_case()
        self.assertLess(time.time(), begin + 600, "the test took too long")
        before = set(old) | {name.replace(".json", "-2.json") for name in old}
        (name,) = set(os.listdir(self.folder)) - before
        self.assertIn(name, [name.replace(".json", "-3.json") for name in old])
        self.assertTrue(last.endswith(f"; saved to {name}"), last)
        self.assertEqual(self.load(name)["run"]["status"], "complete")
        for name in before:
            with open(f"{self.folder}/{name}", encoding="utf-8") as file:
                self.assertEqual(file.read(), "old")

    def samples(self, *options):
        """Returns the rows of --samples by case, and the cases of the document."""
        path = f"{self.folder}/samples.csv"
        ended = measure(self.server, *options, "--samples", path)
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        by_case = {}
        for row in rows:
            by_case.setdefault(row["case"], []).append(row)
        return by_case, {case["id"]: case for case in ended.document["cases"]}

    def test_samples(self):
        """The file has the samples of which the document has the histogram."""
        rows, cases = self.samples(
            "--op", "send,read,register,bind-mw,local-inv", "-s", "64", "-n", 50, "--trials", 2, "--threads", "1,2")
        self.assertEqual(rows.keys(), cases.keys())
        for name, case in cases.items():
            found, n_threads = rows[name], case["threads"]
            self.assertEqual(
                [(row["trial"], row["thread"], row["number"]) for row in found],
                [(str(trial), str(thread), str(number)) for trial in (1, 2)
                 for thread in range(1, n_threads + 1) for number in range(1, 51)])
            values = [int(row["latency_ns"]) for row in found]
            histogram = case["latency_ns"]["histogram"]
            self.assertEqual((len(values), min(values), max(values), sum(values)),
                             tuple(histogram[key] for key in ("count", "min", "max", "sum")))

    def test_samples_of_streams(self):
        rows, cases = self.samples(
            "--op", "write", "--metric", "bw", "--latencies", "-s", "64", "-n", 200)
        ((name, case),) = cases.items()
        self.assertEqual(len(rows[name]), 200)
        self.assertEqual(sum(int(row["latency_ns"]) for row in rows[name]),
                         case["latency_ns"]["histogram"]["sum"])

    def test_samples_on_a_full_disk(self):
        """Nothing is measured if the file cannot be written."""
        ended = Ended(client("-n", 50, "--samples", "/dev/full", port=self.server.port))
        self.assertEqual((ended.status, ended.out), (1, ""))
        self.assertIn("cannot write --samples /dev/full: No space left on device", ended.err)

    def test_save_dir(self):
        """The folder is created, but not its parents; nothing is measured without it."""
        for folder in ("new", "new/"):
            last = self.run_case("--save-dir", folder)
            path = last.partition("; saved to ")[2]
            self.assertEqual(os.path.dirname(path), "new", last)
            self.assertEqual(self.load(path)["run"]["status"], "complete")
        self.assertEqual((os.listdir(self.folder), len(os.listdir(f"{self.folder}/new"))),
                         (["new"], 2))
        with open(f"{self.folder}/file", "w", encoding="utf-8"):
            pass
        for folder, why in (
            ("file", "cannot use --save-dir file: Not a directory"),
            ("none/new", "cannot create --save-dir none/new: No such file or directory"),
            ("file/new", "cannot create --save-dir file/new: Not a directory"),
            ("new/" + "./" * 2040, f"cannot use --save-dir new/{'./' * 2040}: File name too long"),
        ):
            program = Program(VERBMARK, "run", ADDRESS, "-p", self.server.port, "--op", "send",
                              "--save-dir", folder, cwd=self.folder)
            ended = Ended(program, RUN_PATIENCE)
            self.assertEqual(ended.status, 1)
            self.assertIn(why[:100], ended.err)
            self.assertNotIn("complete", ended.out)

    def test_no_save(self):
        self.assertRegex(self.run_case("--no-save"), r"^1 of 1 case complete in [0-9]+ s$")
        self.assertEqual(os.listdir(self.folder), [])

    def test_redacted(self):
        begin = time.time()
        self.run_case("--redact", "-s", "64,128", "--pin", "off")
        (name,) = os.listdir(self.folder)
        self.assertIn(name, names(begin, time.time(), "redacted"))
        with open(f"{self.folder}/{name}", encoding="utf-8") as file:
            text = file.read()
        guid = re.search(r"node_guid:\s+(\S+)", run("ibv_devinfo", "-d", DEVICE)).group(1)
        for private in (ADDRESS, os.environ["SOFTROCE_ADDRESS6"], guid):
            self.assertNotIn(private, text)
        document = documents.parse(text)
        self.assertEqual(document["run"]["status"], "complete")
        for end, found in document["hosts"].items():
            self.assertEqual(found["host"], end)
            # Client and server are the same machine, which has one redacted name.
            self.assertIn(found["facts"]["host"], document["hosts"])
            self.assertEqual(found["device"], DEVICE)
            self.assertNotIn("node_guid", found["facts"]["device"])
            self.assertRegex(found["hard_fingerprint"], "^[0-9a-f]{16}$")
        self.assertIn("redacted", document["run"]["command"])
        ended = verbmark("report", f"{self.folder}/{name}")
        self.assertEqual((ended.status, ended.err), (0, ""))

    def test_given_name(self):
        # An existing file with a given name is replaced.
        for _ in range(2):
            self.run_case("--json", "x.json")
            self.assertEqual(os.listdir(self.folder), ["x.json"])
            self.assertEqual(self.load("x.json")["run"]["status"], "complete")

    def check_unchanged(self, *options, host=(ADDRESS,), interrupt=None):
        """Checks that a run that does not reach its first case leaves an existing file alone."""
        path = f"{self.folder}/x.json"
        with open(path, "w", encoding="utf-8") as file:
            file.write("old")
        with Program(VERBMARK, "run", *host, "-n", 50, *options, "--json", path) as program:
            if interrupt:
                self.assertTrue(interrupt.wait(PATIENCE))
                program.signal(signal.SIGINT)
            self.assertNotEqual(program.wait(), 0)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "old", options)
        self.assertEqual(os.listdir(self.folder), ["x.json"])

    def test_failed_start_keeps_the_file(self):
        here = ("-p", self.server.port)
        self.check_unchanged(host=("nobody.invalid",))
        self.check_unchanged(*here, "--op", "nothing")
        self.check_unchanged(*here, "--device", "nothing0")
        self.check_unchanged(*here, "--server-device", "nothing0")
        with socket.socket() as other:
            other.bind((ADDRESS, 0))
            self.check_unchanged("-p", other.getsockname()[1])
        came = threading.Event()

        def go(sock):
            Peer(sock).receive()

        def stay(sock):
            Peer(sock).receive()
            came.set()
            sock.recv(1)

        with Impostor(go) as impostor:
            self.check_unchanged("-p", impostor.port)
        with Impostor(stay) as impostor:
            self.check_unchanged("-p", impostor.port, interrupt=came)

    def test_full_disk(self):
        # The disk turns out to be full only at the end: the table is printed, and the error.
        with client("-n", 50, "--json", "/dev/full", port=self.server.port) as program:
            self.assertEqual(program.wait(), 1)
        self.assertEqual(
            program.errors, "verbmark: cannot write /dev/full: No space left on device"
        )
        self.assertNotIn(" -> ", program.out[-1])

    def dry_run(self, plan, *options):
        path = f"{self.folder}/plan.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(plan, file)
        return verbmark("run", "--dry-run", "--plan", path, *options).out.splitlines()[:-1]

    def test_plan_reproduces_the_cases(self):
        document = measure(
            self.server, "-s", "8,64+-1", "--op", "send,read", "--cq", "poll,event", "-I", "0",
            "-t", "4,8", "-Q", "5", "-n", 20, "--trials", 2,
        ).document
        plan = document["run"]["plan"]
        path = f"{self.folder}/plan.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(plan, file)
        program = Program(
            VERBMARK, "run", ADDRESS, "-p", self.server.port, "--plan", path, "--json", "-"
        )
        again = documents.parse(Ended(program, RUN_PATIENCE).out)
        self.assertEqual(again["run"]["plan"], plan)
        for before, after in zip(document["cases"], again["cases"], strict=True):
            for key in before.keys() - {
                "trials", "latency_ns", "warmup_latency_ns", "cpu", "counters"
            }:
                self.assertEqual(after[key], before[key], before["id"])
        statuses = [case["status"] for case in again["cases"]]
        self.assertEqual({"complete", "skipped"}, set(statuses))
        self.assertEqual(statuses.count("complete"), 16)

    def test_preset_in_a_result(self):
        document = measure(
            self.server, "--preset", "quick", "--op", "write", "-n", 10, "-s", "8,16"
        ).document
        ids = [case["id"] for case in document["cases"]]
        self.assertEqual(
            ids,
            [f"write/{metric}/{size}/{cq}" for metric in ("lat", "bw") for size in (8, 16)
             for cq in ("poll", "event")],
        )
        self.assertEqual(self.dry_run(document["run"]["plan"]), ids)

    def test_skipped_cases_are_in_the_document(self):
        ended = measure(self.server, "-t", "4,8", "-Q", "5", "-n", 20)
        bad, good = ended.document["cases"]
        self.assertEqual((bad["status"], good["status"]), ("skipped", "complete"))
        self.assertEqual(
            bad["error"], "--cq-mod exceeds --tx-depth: the queue would fill and stay full"
        )
        self.assertEqual(bad["trials"], [])
        self.assertNotIn("cpu", bad)
        self.assertEqual(ended.document["run"]["status"], "complete")
        lines = ended.err.splitlines()
        self.assertIn(f"send/lat/64/poll/t4/Q5: skipped: {bad['error']}", lines)
        self.assertRegex(lines[-1], r"^1 of 1 case complete in [0-9]+ s$")

    def test_documents_merge_whatever_their_cases(self):
        """Lossy, bidirectional, failed and skipped cases match the schema, also when merged."""
        paths = []
        for options, status in (
            (("-c", "uc,ud", "--metric", "lat,bw"), 0),
            (("--metric", "bw", "-b", "--latencies", "-s", "64,128"), 0),
            (("-t", "4,8", "-Q", "5", "--verify"), 0),
            (("--receives", "none,buffers"), 1),
        ):
            paths.append(f"{self.folder}/{len(paths)}.json")
            with client("-n", 50, *options, "--json", paths[-1], port=self.server.port) as program:
                self.assertEqual(program.wait(), status, program.errors)
        cases = [case for path in paths for case in documents.read(path)["cases"]]
        merged = documents.parse(verbmark("report", "--merge", *paths, "--json", "-").out)
        kept = {case["id"]: case["status"] for case in cases}
        self.assertEqual({case["id"]: case["status"] for case in merged["cases"]}, kept)
        self.assertEqual(set(kept.values()), {"complete", "failed", "skipped"})
        self.assertEqual(len(kept), 10)

    def test_progress(self):
        for options, is_shown in ((("--progress",), True), ((), False), (("--quiet",), False)):
            with client("-n", 50, "-s", "64,128", *options, port=self.server.port) as program:
                self.assertEqual(program.wait(), 0)
            for text in ("1/2 cases, send/lat/64/poll, ", "2/2 cases, send/lat/128/poll, "):
                self.assertEqual(text in program.errors, is_shown, options)
            self.assertNotIn("\033", program.errors)
            self.assertFalse(any("\033" in line for line in program.out))

    def on_a_terminal(self, *options, **streams):
        """Returns what a terminal shows, and what went to a redirected stream."""
        controller, terminal = pty.openpty()
        defaults = {"--op": "send", "--trials": 1, "--warmup": WARMUP[1]}
        words = [word for pair in defaults.items() if pair[0] not in options for word in pair]
        words += options
        process = subprocess.Popen(
            [VERBMARK, "run", ADDRESS, "-p", str(self.server.port), *map(str, words)],
            stdin=subprocess.DEVNULL, env=os.environ | {"NO_COLOR": "1"},
            **{"stdout": terminal, "stderr": terminal, **streams},
        )
        os.close(terminal)
        shown = b""
        try:
            while more := os.read(controller, 65536):
                shown += more
        except OSError:
            pass  # the program has closed the terminal
        os.close(controller)
        other = process.stdout.read() if process.stdout else b""
        self.assertEqual(process.wait(), 0, shown)
        return shown.decode(), other.decode()

    def test_progress_on_a_terminal(self):
        """Progress shows the case, its number, and the times, until the next line replaces it."""
        options = ("-n", 300, "-s", "64,128")
        shown, _ = self.on_a_terminal(*options, "--no-save")
        for case in ("1/2 cases, send/lat/64/poll", "2/2 cases, send/lat/128/poll"):
            line = rf"\[=* *\] {case}, trial 1 of 1, \d+ s, \d+ s left"
            self.assertRegex(shown, rf"\r\033\[K{line}\r\033\[K")
        # Lines as they remain visible: wiping removes all that was before.
        lines = [line.rpartition("\033[K")[2].strip("\r") for line in shown.split("\n")]
        lines = below_heading(lines)
        self.assertFalse([line for line in lines if "left" in line or "\033" in line])
        self.assertRegex(lines[3], r"^send +64 ")
        self.assertRegex(lines[4], r"^send +128 ")
        self.assertNotIn("\033", self.on_a_terminal(*options, "--no-save", "--quiet")[0])

    def test_progress_with_document_on_stdout(self):
        """Progress goes to the terminal and not into the document."""
        shown, text = self.on_a_terminal(
            "-n", 300, "-s", "64,128", "--json", "-", stdout=subprocess.PIPE
        )
        self.assertRegex(shown, r"\d+ s left")
        self.assertNotIn("\033", text)
        self.assertEqual(len(documents.parse(text)["cases"]), 2)
