# SPDX-License-Identifier: MIT
"""Output files: links, standard output by its name, and never over a result."""

import glob
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from verbmark import PATIENCE, VERBMARK, verbmark

SAMPLE = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../../../reports/test/lib/sample.json"
)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Files(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = self.temporary.name
        self.result = self.path("a.json")
        shutil.copy(SAMPLE, self.result)

    def path(self, name):
        return f"{self.folder}/{name}"

    def refused(self, *words):
        ended = verbmark(*words)
        self.assertEqual((ended.status, ended.out), (2, ""))
        return ended.err

    def test_link_is_kept(self):
        """The target is replaced, from any working directory, and no temporary file remains."""
        os.mkdir(self.path("target"))
        target = self.path("target/b.csv")
        with open(target, "w", encoding="ascii") as file:
            file.write("old")
        os.symlink("target/b.csv", self.path("link"))
        os.symlink("link", self.path("link2"))
        before = os.stat(target).st_ino
        ended = verbmark("report", "--format", "csv", self.result, "-o", self.path("link2"))
        self.assertEqual((ended.status, ended.err), (0, ""))
        self.assertEqual(os.readlink(self.path("link")), "target/b.csv")
        self.assertEqual(os.readlink(self.path("link2")), "link")
        self.assertIn("send/lat/64/poll", read(target))
        self.assertNotEqual(os.stat(target).st_ino, before)
        self.assertEqual(sorted(os.listdir(self.path("target"))), ["b.csv"])
        # A link may lead to a file that does not exist yet.
        os.symlink("nowhere", self.path("link3"))
        self.assertEqual(
            verbmark("report", "--format", "csv", self.result, "-o", self.path("link3")).status, 0
        )
        self.assertEqual(os.readlink(self.path("link3")), "nowhere")
        self.assertEqual(read(self.path("nowhere")), read(target))
        os.symlink("link4", self.path("link4"))
        ended = verbmark("report", self.result, "-o", self.path("link4"))
        self.assertEqual(ended.status, 1)
        self.assertIn("Too many levels of symbolic links", ended.err)

    def test_standard_output_by_its_name(self):
        """A file on standard output keeps its contents; the output is appended."""
        wanted = verbmark("report", "--format", "markdown", self.result).out
        summary = self.path("summary.md")
        with open(summary, "w", encoding="ascii") as file:
            file.write("before\n")
        for name in ("/dev/stdout", "/proc/self/fd/1"):
            with open(summary, "a", encoding="ascii") as out:
                subprocess.run(
                    [VERBMARK, "report", "--format", "markdown", self.result, "-o", name],
                    stdout=out, check=True, timeout=PATIENCE,
                )
        self.assertEqual(read(summary), f"before\n{wanted}\n{wanted}\n")
        self.assertTrue(os.path.islink("/dev/stdout"))
        # The same holds for standard error.
        with open(summary, "a", encoding="ascii") as out:
            for name in ("/dev/stderr", "/proc/self/fd/2"):
                subprocess.run(
                    [VERBMARK, "report", "--format", "markdown", self.result, "-o", name],
                    stderr=out, check=True, timeout=PATIENCE,
                )
        self.assertEqual(read(summary), "before\n" + 4 * f"{wanted}\n")
        ended = subprocess.run(
            ["sh", "-c", 'exec "$@" >&-', "sh", VERBMARK, "report", self.result, "-o",
             "/dev/stdout"], capture_output=True, text=True, timeout=PATIENCE, check=False,
        )
        self.assertEqual(ended.returncode, 1)
        self.assertIn("cannot write /dev/stdout", ended.stderr)
        self.assertTrue(os.path.islink("/dev/stdout"))

    def test_document_to_a_pipe(self):
        """A file that cannot be replaced is written once, after all measurements."""
        words = (VERBMARK, "run", "-d", "soft0", "--op", "send,write,read", "--metric", "lat",
                 "-s", "8,64", "-n", "200", "--trials", "2", "--quiet", "--json")
        ended = subprocess.run([*words, "/dev/stdout"], capture_output=True, text=True, check=True,
                               timeout=PATIENCE)
        self.assertEqual(len(json.loads(ended.stdout)["cases"]), 6)
        self.assertIn("6 of 6 cases complete", ended.stderr)
        os.mkfifo(self.path("pipe"))
        with subprocess.Popen(["cat", self.path("pipe")], stdout=subprocess.PIPE) as reader:
            subprocess.run([*words, self.path("pipe")], capture_output=True, check=True,
                           timeout=PATIENCE)
            self.assertEqual(len(json.loads(reader.stdout.read())["cases"]), 6)

    def test_results_are_not_overwritten(self):
        before = read(self.result)
        other = self.path("b.json")
        shutil.copy(SAMPLE, other)
        for words, sentence in (
            (("report", "--merge", self.result, other, "--json", self.result),
             f"--json: '{self.result}' is an input file and would be overwritten"),
            (("report", "--redact", self.result, "--json", f"{self.folder}/./a.json"),
             f"--json: '{self.folder}/./a.json' is an input file and would be overwritten"),
            (("report", self.result, "-o", self.result),
             f"--output: '{self.result}' is an input file and would be overwritten"),
            (("gate", "--base", "a/b", "--head", "a/b", "--json", "x", "--junit", "x"),
             "--json and --junit name the same file"),
            (("gate", "--base", "a/b", "--head", "a/b", "--markdown", other, "--junit",
              f"{self.folder}/./b.json"), "--markdown and --junit name the same file"),
        ):
            self.assertEqual(self.refused(*words), f"verbmark: {sentence}")
        self.assertEqual(read(self.result), before)
        self.assertEqual(sorted(glob.glob(f"{self.folder}/*")), [self.result, other])


if __name__ == "__main__":
    unittest.main()
