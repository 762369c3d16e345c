# SPDX-License-Identifier: MIT
"""Completion for bash, zsh and fish."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

from verbmark import PATIENCE, VERBMARK, verbmark

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data")
SCRIPT = f"{DATA}/verbmark.bash"

# Calls the script as bash does: with the words as bash splits them, completing the last one.
CALL = """
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_verbmark
for reply in "${COMPREPLY[@]}"; do
	printf '%s\\n' "$reply"
done
"""


# Stands in for zsh's completion system, and prints what would be offered.
ZSH = """
source "$1"
shift
compset() { : }
_describe() { print -l -- "${(@P)2}" }
_files() { print files }
_hosts() { print hosts }
words=("$@")
CURRENT=$#words
_verbmark
"""


class OtherShells(unittest.TestCase):
    """The words that fish and zsh offer; zsh selects those that begin like the last word."""

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish(self):
        for line, words in (
            ("re", {"report"}),
            ("help hi", {"history"}),
            ("run --server-", {"--server-cq", "--server-device", "--server-gid-index", "--server-numa",
                               "--server-pin"}),
            ("run --cq ", {"poll", "event", "adaptive", "all"}),
            ("run --cq=poll,e", {"--cq=poll,event"}),
            ("run -c U", {"UC", "UD"}),
            ("run --access s", {"same", "sequential", "stride="}),
            ("run --pin 3,o", {"3,off"}),
            ("serve -d ", {"soft0", "auto"}),
            ("export --format j", {"junit"}),
            ("history ", {"add", "import", "list", "show", "check"}),
            ("run --size ", set()),
        ):
            with self.subTest(line):
                ended = subprocess.run(
                    ["fish", "--no-config", "-c",
                     f"source {DATA}/verbmark.fish; complete -C 'verbmark {line}'"],
                    capture_output=True, text=True, timeout=PATIENCE, check=True,
                    env=os.environ | {"PATH": os.path.dirname(VERBMARK) + ":" + os.environ["PATH"]},
                )
                self.assertEqual({shown.split("\t")[0] for shown in ended.stdout.splitlines()}, words)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh(self):
        for line, words in (
            (["re"], {"run", "report", "help", "--version"}),
            (["help", "hi"], {"run", "history"}),
            (["run", "--server-"], {"--server-cq", "--op", "--json", "--help"}),
            (["run", "--cq", ""], {"poll", "event", "adaptive", "all"}),
            (["run", "-c", "U"], {"RC", "UC", "UD", "XRC", "DC", "SRD"}),
            (["run", "--access", "s"], {"same", "sequential", "random", "stride="}),
            (["serve", "-d", ""], {"soft0", "auto"}),
            (["run", "--json", "a"], {"files"}),
            (["history", ""], {"add", "import", "list", "show", "check"}),
            (["history", "add", ""], {"files"}),
            (["run", ""], {"hosts"}),
        ):
            with self.subTest(line):
                ended = subprocess.run(
                    ["zsh", "-f", "-c", ZSH, "zsh", f"{DATA}/verbmark.zsh", VERBMARK, *line],
                    capture_output=True, text=True, timeout=PATIENCE, check=True,
                )
                self.assertEqual(ended.stderr, "")
                self.assertLessEqual(words, {shown.split(":")[0] for shown in ended.stdout.splitlines()})


@unittest.skipUnless(shutil.which("bash"), "bash is not installed")
class Completion(unittest.TestCase):
    def completed(self, *words, program=VERBMARK, cwd=None, **options):
        ended = subprocess.run(
            ["bash", "--norc", "-c", CALL, "bash", SCRIPT, program, *words],
            capture_output=True, text=True, timeout=PATIENCE, check=True, cwd=cwd, **options,
        )
        self.assertEqual(ended.stderr, "")
        return set(ended.stdout.splitlines())

    def test_commands(self):
        shown = set(re.findall(r"(?m)^  ([a-z-]+)", verbmark("--help").out))
        self.assertIn("run", shown)
        self.assertEqual(self.completed(""), shown | {"help", "--help", "--version"})
        self.assertEqual(self.completed("re"), {"report"})
        self.assertEqual(self.completed("--v"), {"--version"})
        self.assertEqual(self.completed("x"), set())
        self.assertEqual(self.completed("help", "re"), {"report"})

    def test_options(self):
        for command in ("run", "serve", "report", "compare", "gate", "history",
                        "export", "devices"):
            with self.subTest(command):
                shown = re.findall(r"(?m)^  (?:-\w, |    )(--[\w-]+)",
                                   verbmark(command, "--help-all").out)
                self.assertIn("--help", shown)
                self.assertEqual(self.completed(command, "--"), set(shown))
        self.assertEqual(
            self.completed("run", "--server"),
            {"--server-device", "--server-cq", "--server-pin", "--server-numa", "--server-gid-index",
             "--server-memory"},
        )
        self.assertEqual(self.completed("run", "n02", "--op", "send", "--cq-"), {"--cq-mod", "--cq-depth"})
        self.assertEqual(self.completed("serve", "--op"), set())
        self.assertEqual(self.completed("nonsense", "--"), set())

    def test_words(self):
        modes = {"poll", "event", "adaptive", "all"}
        self.assertEqual(self.completed("run", "--cq", ""), modes)
        self.assertEqual(self.completed("run", "--server-cq", ""), modes)
        self.assertLessEqual({"send", "write", "read", "all"}, self.completed("run", "--op", ""))
        self.assertLessEqual({"lat", "bw", "load", "all"}, self.completed("run", "--metric", ""))
        for option in ("-c", "--transport"):
            self.assertLessEqual({"RC", "UC", "UD", "XRC", "DC", "SRD"}, self.completed("run", option, ""))
        self.assertEqual(self.completed("pool", "--cq", ""), {"poll", "event"})
        self.assertLessEqual(
            {"quick", "standard", "full", "semantics"}, self.completed("run", "--preset", "")
        )
        units = {"Gb/s", "Mb/s", "GB/s", "MB/s", "MiB/s"}
        self.assertEqual(self.completed("run", "--units", ""), units)
        self.assertEqual(self.completed("report", "--units", "M"), {"Mb/s", "MB/s", "MiB/s"})
        self.assertEqual(self.completed("run", "--arrivals", ""), {"fixed", "poisson", "all"})
        self.assertEqual(self.completed("run", "--pin", ""), {"auto", "off", "far"})
        self.assertEqual(self.completed("run", "--server-pin", "3,o"), {"3,off"})
        self.assertEqual(self.completed("run", "--numa", "a"), {"auto"})
        self.assertEqual(self.completed("run", "--server-numa", "o"), {"off"})
        self.assertEqual(self.completed("run", "--relaxed-ordering", "o"), {"off", "on"})
        self.assertEqual(self.completed("run", "--access", "s"), {"same", "sequential", "stride="})
        for command in ("run", "serve", "devices", "doctor"):
            self.assertEqual(self.completed(command, "--device", ""), {"soft0", "auto"})
            self.assertEqual(self.completed(command, "-d", "s"), {"soft0"})
        self.assertEqual(self.completed("run", "--cq", "p"), {"poll"})
        self.assertEqual(self.completed("run", "--cq", "x"), set())

    def test_lists(self):
        self.assertEqual(self.completed("run", "--cq", "poll,e"), {"poll,event"})
        self.assertEqual(self.completed("run", "--cq", "event,poll,a"),
                         {"event,poll,adaptive", "event,poll,all"})

    def test_equals(self):
        self.assertEqual(self.completed("run", "--cq", "=", "ev"), {"event"})
        self.assertEqual(self.completed("run", "--cq", "="), {"poll", "event", "adaptive", "all"})

    def test_every_completed_word_is_valid(self):
        for option in ("--op", "--metric", "--cq", "--server-cq", "--preset", "--pin", "--units"):
            for word in self.completed("run", option, ""):
                with self.subTest(option=option, word=word):
                    self.assertEqual(verbmark("run", "--dry-run", option, word).status, 0)

    def test_formats(self):
        for command, formats in (
            ("report", {"table", "html", "markdown", "csv", "json"}),
            ("compare", {"table", "html", "markdown", "csv", "json"}),
            ("export", {"bmf", "github-benchmark", "junit", "prometheus", "hgrm", "csv"}),
        ):
            self.assertEqual(self.completed(command, "--format", ""), formats)
            for word in formats:
                metric = ("--metric", "lat") if word == "github-benchmark" else ()
                paths = ("/nowhere/at", "/nowhere/all")[: 1 if word == "hgrm" else 2]
                ended = verbmark(command, "--format", word, *metric, *paths)
                self.assertIn("cannot read", ended.err)
        self.assertEqual(self.completed("export", "--metric", ""), {"lat", "bw"})

    def test_verbs(self):
        verbs = {"add", "import", "list", "show", "check"}
        self.assertEqual(self.completed("history", ""), verbs)
        self.assertEqual(self.completed("history", "im"), {"import"})
        self.assertEqual(self.completed("history", "show", "--format", ""),
                         {"table", "html", "csv", "json"})
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/a.json", "w", encoding="ascii"):
                pass
            for words in (("add",), ("import",), ("list", "--db"), ("show", "-o")):
                self.assertEqual(self.completed("history", *words, "a", cwd=folder), {"a.json"})
            self.assertEqual(self.completed("history", "show", "a", cwd=folder), set())

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a b.json", "a.json", "c.json"):
                with open(f"{folder}/{name}", "w", encoding="ascii"):
                    pass
            two = {"a b.json", "a.json"}
            self.assertEqual(self.completed("run", "--plan", "a", cwd=folder), two)
            self.assertEqual(self.completed("run", "--json", "=", "a", cwd=folder), two)
            self.assertEqual(self.completed("report", "a", cwd=folder), two)
            self.assertEqual(self.completed("compare", "a", cwd=folder), two)
            self.assertEqual(self.completed("compare", "c.json", "--new", "a", cwd=folder), two)
            self.assertEqual(self.completed("export", "a", cwd=folder), two)
            self.assertEqual(self.completed("export", "-o", "a", cwd=folder), two)
            self.assertEqual(self.completed("run", "-o", "a", cwd=folder), set())
            self.assertEqual(self.completed("report", "--merge", "c.json", "a", cwd=folder), two)
            self.assertEqual(self.completed("report", "--json", "", cwd=folder),
                             two | {"c.json"})
            self.assertEqual(self.completed("report", "--output", "a", cwd=folder), two)
            self.assertEqual(self.completed("report", "--baseline", "a", cwd=folder), two)
            # These words are not files, and nothing is run to complete them.
            self.assertEqual(self.completed("devices", "a", cwd=folder), set())
            self.assertEqual(self.completed("run", "-s", "a", cwd=folder), set())
            self.assertEqual(self.completed("run", "--server-device", "a", cwd=folder), set())
            self.assertEqual(len(os.listdir(folder)), 3)

    def test_installed_name(self):
        path = os.path.dirname(VERBMARK) + ":" + os.environ["PATH"]
        self.assertEqual(
            self.completed("rep", program="verbmark", env=os.environ | {"PATH": path}), {"report"}
        )
        ended = subprocess.run(
            ["bash", "--norc", "-c", f"source '{SCRIPT}' && complete -p verbmark"],
            capture_output=True, text=True, timeout=PATIENCE, check=True,
        )
        self.assertIn("_verbmark verbmark", ended.stdout)

    def test_missing_program(self):
        for words in (("",), ("run", "--"), ("report", "--merge", "--")):
            self.assertLessEqual(
                self.completed(*words, program="/nowhere/verbmark"), {"help", "--help", "--version"}
            )
