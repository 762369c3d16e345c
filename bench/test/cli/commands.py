# SPDX-License-Identifier: MIT
"""Runs every command of the README, the man pages, --help and the other documents.

Commands that would measure run with --dry-run; those that would wait for a client or need a
server run with --help, which still parses the options before it.
"""

import glob
import itertools
import json
import os
import re
import shlex
import shutil
import tempfile
import unittest

from cli.report import FAST, bandwidth, latency, result
from verbmark import Ended, Program, VERBMARK

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
PERFTEST = os.path.join(TOP, "reports/fuzz/corpus/import_text/real-send-lat")
DOCUMENTS = ("README.md", ".github/perftest.md", "ci/README.md")
PLANNING = ("run", "gate", "tips", "fleet")
PARSING = ("serve", "doctor", "devices", "pool", "help")
# A word that ends the command for a shell.
END = re.compile(r"\s(?:#|>|\||&&|;|&)(?:\s|$)")


def after_verbmark(text):
    """Returns the words behind the program, or None if the text is another command."""
    text = END.split(text.removeprefix("$ ") + " ", maxsplit=1)[0]
    text = re.sub(r"\$\([^)]*\)", "0", text)
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
        del words[0]
    if words and words[0] == "ci/softroce" and "--" in words:
        words = words[words.index("--") + 1:]
    if len(words) < 2 or os.path.basename(words[0]) != "verbmark":
        return None
    return words[1:]


def in_markdown(text):
    for line in text.splitlines():
        if line.startswith("    "):
            yield line.strip()
        for code in re.findall(r"`([^`]+)`", line):
            yield "verbmark " + code if code.startswith("run HOST") else code


def in_manual(text):
    for line in text.split("\n# EXAMPLES\n", maxsplit=1)[-1].splitlines():
        yield line.strip().removesuffix("++").replace("\\", "")


def commands():
    for name in DOCUMENTS:
        with open(os.path.join(TOP, name), encoding="utf-8") as file:
            yield from ((name, each) for each in in_markdown(file.read()))
    for path in sorted(glob.glob(os.path.join(TOP, "bench/man/*.scd"))):
        with open(path, encoding="utf-8") as file:
            yield from ((os.path.basename(path), each) for each in in_manual(file.read()))


def in_help():
    """Yields the command with each example of --help."""
    names = [""] + re.findall(r"(?m)^  ([a-z]+) ", Ended(Program(VERBMARK, "-h")).out)
    for name in names:
        shown = Ended(Program(VERBMARK, *name.split(), "--help")).out
        examples = shown.split("\nExamples:\n", maxsplit=1)[1]
        yield from ((f"{name} --help", line)
                    for line in re.findall(r"(?m)^    (verbmark .*)", examples))


def table_shape(lines):
    """Returns the words of the tables, without hosts and figures."""
    lines = itertools.takewhile(lambda line: not re.match("SUMMARY|warning:", line), lines)
    return [words for words in ([word for word in line.split() if word.isalpha()]
                                for line in lines if not re.match(r"\S+ soft0/1 -> ", line)) if words]


class Commands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.minutes = itertools.count()

    def prepare(self, words):
        """Writes the files that the command reads."""
        for word in words[1:]:
            path = os.path.join(self.folder, word)
            if os.path.exists(path) or not re.fullmatch(r"FILE|[\w-]+\.(json|log)", word):
                continue
            if not word.endswith(".json"):
                shutil.copy(PERFTEST, path)
                continue
            minute = next(self.minutes)
            started = f"2026-11-01T10:{minute:02}:00Z"
            # Runs with equal trials would be duplicates.
            document = result(latency([sample + minute for sample in FAST]),
                              bandwidth([100 + minute] * 200), started=started, finished=started)
            with open(path, "w", encoding="utf-8") as file:
                json.dump(document, file)

    def run_words(self, words):
        if words[0] in PLANNING:
            words = [*words, *(["--dry-run"] if "--dry-run" not in words else [])]
        elif words[0] in PARSING:
            words = [*words, "--help"]
        else:
            self.prepare(words)
            words = [os.path.basename(word) if word.startswith("/var/") else word
                     for word in words]
        return Ended(Program("env", f"--chdir={self.folder}", f"XDG_DATA_HOME={self.folder}",
                             VERBMARK, *words))

    def test_all(self):
        count = 0
        for name, text in itertools.chain(commands(), in_help()):
            words = after_verbmark(text)
            if not words or words[0].startswith("COMMAND"):
                continue
            count += 1
            with self.subTest(document=name, command=text):
                ended = self.run_words(words)
                # A single run of each side decides nothing.
                self.assertEqual((ended.status, ended.err), (int("--fail" in words), ""))
        self.assertGreater(count, 100)

    def test_table_of_the_readme(self):
        with open(os.path.join(TOP, "README.md"), encoding="utf-8") as file:
            shown = re.search(r"^    \$ (verbmark run .*)\n((?:(?:    .*)?\n)+)", file.read(), re.M)
        ended = Ended(Program(VERBMARK, *after_verbmark(shown[1]), "-D", "30ms", "--trials", 6,
                              "--no-save", "--quiet"))
        self.assertEqual(ended.status, 0, ended.err)
        self.assertEqual(table_shape(line[4:] for line in shown[2].splitlines()),
                         table_shape(ended.out.splitlines()))
