# SPDX-License-Identifier: MIT
"""The command line: help texts, and errors for wrong arguments."""

import json
import os
import re
import tempfile
import unittest

from verbmark import verbmark

OPTIONS = {
    "run": {
        "op", "metric", "size", "cq", "server-cq", "tx-depth", "rx-depth", "inline", "cq-mod",
        "event-count", "event-period", "rate-limit", "burst", "mr-per-qp",
        "timeout", "retries", "hugepages", "iterations", "duration", "trials", "all", "events",
        "transport", "qps", "threads", "post-list", "recv-post-list", "bidirectional", "latencies",
        "breakdown", "outstanding", "mtu", "gid-index", "sl", "tos", "flow-label", "hop-limit",
        "pkey-index", "path-bits", "multicast", "secret-file", "connect", "use-srq", "verify",
        "think",
        "server-gid-index", "relaxed-ordering", "memory", "server-memory",
        "receives", "needs", "warmup", "pin", "server-pin", "numa", "server-numa", "rate",
        "arrivals", "seed", "sge", "buffer", "access", "doorbell-every", "mr-access",
        "pages", "cq-depth", "registration", "interleave", "step", "pattern", "budget", "precision",
        "preset", "plan", "dry-run", "device", "device-port", "server-device", "port", "launch",
        "wait", "json", "save-dir", "samples", "payload", "no-save", "redact", "units", "color", "fail-below", "fail-above", "quiet",
        "progress", "rdma-cm", "cpu-freq",
    },
    "serve": {
        "device", "port", "once", "idle", "token", "bind", "allow", "allow-file", "allow-memory",
        "secret-file",
        "max-clients", "max-qps", "max-size", "max-memory", "max-client-memory", "max-time",
        "max-pause", "pool", "pool-share", "pool-clients", "pool-cq", "pool-receives", "pool-dump",
    },
    "report": {"format", "baseline", "output", "merge", "json", "redact", "units", "color"},
    "compare": {
        "new", "history", "last", "format", "output", "cpu", "force", "fail", "units", "color",
    },
    "export": {"format", "metric", "case", "output"},
    "history": {
        "db", "version", "commit", "format", "output", "last", "worse", "window", "significance",
        "magnitude",
    },
    "import": {"json", "started"},
    "devices": {"device", "json", "memory"},
    "doctor": {"device", "port", "json", "secret-file"},
    "pool": {"alloc", "writes", "doorbell-every", "cq", "seed", "dump", "device", "port"},
}
# tips has a plan of its own.
OPTIONS["tips"] = OPTIONS["run"] - {"preset", "plan"}
OPTIONS["gate"] = OPTIONS["run"] - {
    "trials", "budget", "precision", "interleave", "needs", "rate", "arrivals", "burst", "pattern",
    "all", "events", "device-port", "launch", "wait", "save-dir", "samples", "payload", "no-save", "redact", "units",
    "fail-below",
    "fail-above", "rdma-cm", "cpu-freq",
} | {
    "base", "head", "base-device", "head-device", "rounds", "floor", "differs", "time-limit",
    "order-seed", "markdown", "junit", "html", "annotations", "bisect", "strict",
}
OPTIONS["fleet"] = OPTIONS["run"] - {
    "budget", "precision", "all", "cpu-freq", "device", "device-port", "events", "fail-above", "fail-below", "launch",
    "save-dir", "samples", "payload", "no-save", "plan", "port", "preset", "rdma-cm", "redact", "secret-file", "server-device",
    "units", "wait",
} | {
    "bad-nodes", "csv", "devices", "exclude", "floor", "groups", "histograms", "join", "junit",
    "no-sync",
    "plant", "quick", "rails", "rounds", "sample", "seed", "self", "simulate", "simulate-rails",
    "time-limit",
}
# The letters are perftest's where perftest has the option.
LETTERS = {
    "run": {
        "c": "transport", "q": "qps", "l": "post-list", "b": "bidirectional", "o": "outstanding",
        "m": "mtu", "x": "gid-index", "S": "sl", "T": "tos",
        "s": "size", "t": "tx-depth", "r": "rx-depth", "I": "inline", "Q": "cq-mod",
        "u": "timeout", "n": "iterations", "D": "duration", "a": "all", "e": "events",
        "d": "device", "i": "device-port", "p": "port", "R": "rdma-cm", "F": "cpu-freq",
    },
    "serve": {"d": "device", "p": "port"},
    "report": {"o": "output"},
    "compare": {"o": "output"},
    "export": {"o": "output"},
    "history": {"o": "output"},
    "import": {},
    "devices": {"d": "device"},
    "doctor": {"d": "device", "p": "port"},
    "pool": {"d": "device", "p": "port"},
}
LETTERS["tips"] = LETTERS["run"]
LETTERS["gate"] = {letter: name for letter, name in LETTERS["run"].items()
                   if name in OPTIONS["gate"]}
LETTERS["fleet"] = {letter: name for letter, name in LETTERS["run"].items()
                    if name in OPTIONS["fleet"]} | {"d": "devices"}
MANUAL = os.path.join(os.path.dirname(__file__), "..", "..", "man")
LONG = " if they are slow to stabilize"
QUICK = [
    f"{op}/{metric}/{size}/{cq}"
    for metric, sizes in (("lat", ("64", "4k")), ("bw", ("64", "64k", "1m")))
    for op in ("send", "write", "read")
    for size in sizes
    for cq in ("poll", "event")
]


class Usage(unittest.TestCase):
    def refused(self, *words):
        """Returns the one-line error of a wrong command line."""
        ended = verbmark(*words)
        self.assertEqual(ended.status, 2, ended.err)
        self.assertEqual(ended.out, "")
        self.assertEqual(len(ended.err.splitlines()), 1, ended.err)
        self.assertTrue(ended.err.startswith("verbmark: "), ended.err)
        return ended.err.removeprefix("verbmark: ")

    def test_no_command(self):
        self.assertEqual(self.refused(), "the command is missing; see 'verbmark --help'")

    def test_help(self):
        shown = verbmark("--help").out
        for word in ("--help", "-h", "help", "--help-all"):
            ended = verbmark(word)
            self.assertEqual((ended.status, ended.err, ended.out), (0, "", shown))
        for command in OPTIONS:
            self.assertRegex(shown, rf"(?m)^  {command} +[a-z]")

    def test_version(self):
        for word in ("--version", "-V"):
            ended = verbmark(word)
            self.assertEqual((ended.status, ended.err), (0, ""))
            self.assertRegex(ended.out, r"^verbmark [0-9]+\.[0-9]+\.[0-9]+$")

    def test_help_fits_80_columns(self):
        texts = [verbmark("--help").out]
        texts += [verbmark(command, word).out for command in OPTIONS for word in ("--help", "--help-all")]
        for text in texts:
            for line in text.splitlines():
                self.assertLessEqual(len(line), 80, line)

    def test_ways_to_ask_for_help(self):
        for command in OPTIONS:
            shown = verbmark(command, "--help").out
            for words in (("help", command), (command, "-h"), (command, "--nonsen", "--help")[::2]):
                ended = verbmark(*words)
                self.assertEqual((ended.status, ended.err, ended.out), (0, "", shown))

    def test_run_shows_common_options_first(self):
        common, every = (
            set(re.findall(r"(?m)^  (?:-\w, |    )--([\w-]+)", verbmark("run", word).out))
            for word in ("--help", "--help-all")
        )
        self.assertLess(common, every)
        self.assertLessEqual(len(common), 26)
        self.assertIn("'verbmark run --help-all' lists all options", verbmark("run", "--help").out)
        for heading in ("What to measure", "How to measure", "Where to measure", "Output", "Examples"):
            self.assertIn(f"\n{heading}:\n", verbmark("run", "--help").out)

    def test_lists_of_values(self):
        for words, some in (
            (("run", "--op"), ("send", "compare-swap", "connect", "all")),
            (("run", "--metric"), ("lat", "bw", "load")),
            (("run", "--step"), ("whole", "destroy")),
            (("run", "-c"), ("RC", "UC", "UD", "XRC", "DC", "SRD")),
            (("run", "--preset"), ("quick", "gate")),
            (("run", "--units"), ("Gb/s", "MiB/s")),
            (("run", "--color"), ("auto", "always", "never")),
            (("run", "--pin"), ("auto", "N-M+STEP")),
            (("gate", "--cq"), ("poll", "event", "adaptive")),
            (("report", "--format"), ("table", "json")),
            (("export", "--metric"), ("lat", "bw")),
            (("serve", "--pool-cq"), ("poll", "event")),
            (("history",), ("add", "check")),
            (("import",), ("perftest",)),
        ):
            with self.subTest(words):
                ended = verbmark(*words, "help")
                self.assertEqual((ended.status, ended.err), (0, ""))
                lines = dict(line.split(maxsplit=1) for line in ended.out.splitlines())
                self.assertLessEqual(set(some), set(lines))
                self.assertLessEqual(max(map(len, ended.out.splitlines())), 80)

    def test_help_of_each_command(self):
        for command, options in OPTIONS.items():
            with self.subTest(command):
                ended = verbmark(command, "--help-all")
                self.assertEqual((ended.status, ended.err), (0, ""))
                self.assertTrue(ended.out.startswith(f"usage: verbmark {command} "))
                shown = re.findall(r"(?m)^  (?:-(\w), |    )--([\w-]+)", ended.out)
                self.assertEqual({name for _, name in shown} - {"help-all"}, options | {"help"})
                self.assertEqual(
                    {letter: name for letter, name in shown if letter},
                    LETTERS[command] | {"h": "help"},
                )

    def test_help_shows_the_commands_defaults(self):
        for command, ends in (
            ("run", {"duration": "(bandwidth: 100ms)", "warmup": "(2s)",
                     "trials": "(6; with -n or -D: 1)"}),
            ("gate", {"metric": "lat or bw (lat)", "duration": "(30ms)",
                      "warmup": "(30ms; with LISTs: 20ms)"}),
            ("tips", {"duration": "(30ms)", "warmup": "(30ms)", "trials": "(12)"}),
        ):
            text = re.sub(r"\n {30}", " ", verbmark(command, "--help-all").out)
            shown = dict(re.findall(r"(?m)^  (?:-\w, |    )--([\w-]+) *\S* +(.*)$", text))
            for name, end in ends.items():
                with self.subTest(command=command, name=name):
                    self.assertTrue(shown[name].endswith(end), shown[name])
            self.assertEqual("5000" in shown["iterations"], command == "run")
        # Two sides and 60 pairs of runs: 12 cases of 60 ms plus 60 ms of overhead, or one of 50 ms.
        for words, seconds in (((), 173), (("-s", "64"), 13)):
            ended = verbmark("gate", "--base", "a", "--head", "b", "--dry-run", *words)
            self.assertTrue(ended.out.endswith(f"60 pairs of runs, about {seconds} s"))

    def test_perftest_options_are_accepted(self):
        ended = verbmark("run", "--dry-run", "-R", "-F", "n02", "--op", "send")
        self.assertEqual((ended.status, ended.err), (0, ""))

    def test_help_takes_precedence(self):
        self.assertEqual(verbmark("run", "--help", "--nonsense").status, 0)
        self.assertEqual(verbmark("run", "-n", "5", "-h").status, 0)

    def test_manual(self):
        pages = {}
        for command in OPTIONS:
            page = os.path.join(MANUAL, f"verbmark-{command}.1.scd")
            with open(page, encoding="utf-8") as file:
                pages[command] = file.read().replace("\\", "")
        for command, options in OPTIONS.items():
            shared = OPTIONS["run"] if command in ("gate", "tips", "fleet") else set()
            for name in options:
                page = pages["run" if name in shared else command]
                is_there = re.search(rf"(?m)^(?!\t).*\*--{name}\*", page)
                self.assertTrue(is_there, f"{command} --{name} is in no man page")
            for letter, name in LETTERS[command].items():
                page = pages["run" if name in shared else command]
                is_there = re.search(rf"(?m)^(?!\t).*\*-{letter}\*, \*--{name}\*", page)
                self.assertTrue(is_there, f"{command} -{letter} is in no man page")

    def dry_run(self, *words):
        """Returns the cases and the summary line."""
        ended = verbmark("run", "--dry-run", *words)
        self.assertEqual((ended.status, ended.err), (0, ""))
        *cases, last = ended.out.splitlines()
        self.assertRegex(last, r"^[0-9]+ cases?, about [0-9]+ s(, up to [0-9]+ s if they |$)")
        return cases, last

    def test_dry_run(self):
        # Needs neither a server nor a device, and writes nothing.
        with tempfile.TemporaryDirectory() as folder:
            ended = verbmark("run", "--dry-run", "nobody.invalid", cwd=folder)
            self.assertEqual(ended.out.splitlines()[:-1], QUICK)
            self.assertEqual(os.listdir(folder), [])
        # The budget of 15 s has room for six trials of each case.
        self.assertEqual(self.dry_run(), (QUICK, "30 cases, about 15 s"))
        # 30 cases with six trials of 20 ms, 30 ms of overhead and a warm-up of up to 30 ms.
        for budget, seconds in (("1m", "60 s"), ("2s", f"9 s, up to 14 s{LONG}")):
            self.assertEqual(
                self.dry_run("--budget", budget), (QUICK, f"30 cases, about {seconds}")
            )
        self.assertEqual(self.dry_run("--preset", "quick", "-n", "5")[0], QUICK)
        cases, last = self.dry_run("-s", "1:4k:16", "--op", "read", "-e", "-D", "1s", "--trials", "1")
        self.assertEqual(cases, [f"read/lat/{size}/event" for size in ("1", "16", "256", "4k")])
        self.assertEqual(last, "4 cases, about 4 s, up to 12 s" + LONG)

    def test_dry_run_lists_skipped_cases(self):
        cases, last = self.dry_run("-t", "4,8", "-Q", "5", "-D", "1s")
        self.assertEqual(
            cases,
            ["send/lat/64/poll/t4/Q5: skipped: --cq-mod exceeds --tx-depth: the queue would fill "
             "and stay full", "send/lat/64/poll/t8/Q5"],
        )
        self.assertEqual(last, "1 case, about 1 s, up to 3 s" + LONG)

    def test_pinning(self):
        self.assertEqual(
            self.dry_run("--pin", "2,3,off,auto", "--server-pin", "0:4:+4")[0],
            [f"send/lat/64/poll{pin}/server-pin{server}"
             for pin in ("/pin2", "/pin3", "/pinoff", "") for server in (0, 4)],
        )
        self.assertEqual(
            self.dry_run("--plan", self.plan('{"pin": [1, "off", "auto"]}'))[0],
            ["send/lat/64/poll/pin1", "send/lat/64/poll/pinoff", "send/lat/64/poll"],
        )
        self.assertEqual(
            self.dry_run("--numa", "0,1", "--server-numa", "off")[0],
            [f"send/lat/64/poll/numa{node}/server-numaoff" for node in (0, 1)],
        )

    def plan(self, text):
        file = tempfile.NamedTemporaryFile("wb", suffix=".json")
        self.addCleanup(file.close)
        file.write(text if isinstance(text, bytes) else text.encode())
        file.flush()
        return file.name

    def test_plans(self):
        cases, _ = self.dry_run("--plan", self.plan('{"op": ["send", "read"], "size": "64+-1"}'))
        self.assertEqual(
            cases, [f"{op}/lat/{size}/poll" for op in ("send", "read") for size in (63, 64, 65)]
        )
        two = self.plan('[{"metric": ["bw"], "tx-depth": [1, 2]}, {"op": "write"}]')
        self.assertEqual(
            self.dry_run("--plan", two)[0],
            ["send/bw/64/poll/t1", "send/bw/64/poll/t2", "write/lat/64/poll"],
        )
        self.assertEqual(
            self.dry_run("--plan", two, "-t", "9", "-s", "8")[0],
            ["send/bw/8/poll/t9", "write/lat/8/poll/t9"],
        )

    def test_invalid_plans(self):
        for text, sentence in (
            ("", ", line 1: "),
            ("nonsense", ", line 1: "),
            ("{\n\"size\": [64\n}", ", line 3: "),
            ('{"size": 64, "size": 65}', ", line 1: "),
            (b"\xff\xfe", ", line 1: "),
            (bytes(range(256)), ", line 1: "),
            ("[" * 100000, ", line 1: "),
            ('{"a": "' + "b" * 500000 + '"}', ': unknown plan key "a"'),
            ('{"schema": "verbmark.result/1"}', " contains no plan"),
            (
                '{"schema": "verbmark.result/2", "run": {"plan": [{"size": 1}]}}',
                " has a schema other than verbmark.result/1",
            ),
            ('{"schema": 1, "run": {"plan": []}}', " has a schema other than verbmark.result/1"),
            ('{"schema": "verbmark.result/1", "run": {"plan": [1]}}', "a plan must be an object"),
            ("[]", "the plan is empty"),
            ("[1]", "a plan must be an object of lists, or an array of such objects"),
            ('{"colour": ["red"]}', ': unknown plan key "colour"'),
            ('{"host": "n02"}', ': unknown plan key "host"'),
            ('{"size": []}', ': "size": [] is an empty list'),
            ('{"size": ["4q"]}', ': "size": "4q" is not a size (e.g. 64 or 4k)'),
            ('{"size": [{"from": 1}]}', ': "size": {"from":1} is not a number'),
            ('{"op": ["push"]}', ': "op": "push" is not one of send, write, read'),
            ('{"hugepages": ["no"]}', ': "hugepages": "no" must be true or false'),
            ('{"iterations": [1, 2]}', ': "iterations": [1,2] has more than one value'),
        ):
            with self.subTest(text[:40]):
                self.assertIn(sentence, self.refused("run", "n02", "--plan", self.plan(text)))
        with tempfile.TemporaryDirectory() as folder:
            for path, why in (
                (f"{folder}/none.json", "No such file or directory"),
                (folder, "Is a directory"),
            ):
                self.assertEqual(
                    self.refused("run", "n02", "--plan", path),
                    f"cannot read the plan {path}: {why}",
                )
        self.assertEqual(
            self.refused("run", "--plan", "/dev/zero"), "/dev/zero is too large for a plan"
        )

    def test_quoted_input_stays_on_one_line(self):
        self.assertEqual(
            self.refused("run", "--size", "4\n\x1b[2Jé"),
            "--size: '4??[2Jé' is not a size (e.g. 64 or 4k)",
        )

    def test_plan_of_a_result(self):
        result = {"schema": "verbmark.result/1", "cases": [], "run": {"plan": [{"size": [1, 2]}]}}
        self.assertEqual(
            self.dry_run("--plan", self.plan(json.dumps(result)))[0],
            ["send/lat/1/poll", "send/lat/2/poll"],
        )

    def test_no_save_with_a_file_name(self):
        self.assertEqual(
            self.refused("run", "--no-save", "--json", "x.json"),
            "--no-save and --json cannot be used together",
        )

    def test_port_after_a_host(self):
        for host, has_hint in (
            ("127.0.0.256:7471", True),
            ("127.0.0.256", False),
            ("127.0.0.256:", False),
            ("127.0.0.256:ssh", False),
            ("fe80::256:g:1", False),
            ("[fe80::256]:7471", True),
            ("[fe80::256]", False),
        ):
            ended = verbmark("doctor", host)
            self.assertIn(f"cannot resolve '{host}': ", ended.out + ended.err)
            self.assertEqual("; use -p to give a port" in ended.out + ended.err, has_hint, host)

    def test_duration_without_a_plan(self):
        """-D is per case, with one trial by default; presets have more trials."""
        def trials(*words):
            ended = verbmark("run", "--dry-run", "-D", "10", *words)
            cases, seconds = re.search(r"(\d+) cases, about (\d+) s", ended.out).groups()
            return round(int(seconds) / int(cases) / 10)

        self.assertEqual(trials(), 1)
        self.assertEqual(trials("--preset", "quick"), 6)
        self.assertEqual(trials("--trials", "3"), 3)

    def test_plan_from_a_pipe(self):
        reader, writer = os.pipe()
        os.write(writer, json.dumps({"size": [1, 2]}).encode())
        os.close(writer)
        ended = verbmark("run", "--dry-run", "--plan", f"/dev/fd/{reader}", pass_fds=[reader])
        os.close(reader)
        self.assertEqual(ended.out.splitlines()[:-1], ["send/lat/1/poll", "send/lat/2/poll"])
