# SPDX-License-Identifier: MIT
"""Files of a history that nobody has added, or that could not be read, and how they are mended."""

import json
import os
import sqlite3
import unittest

from histories import Histories
from verbmark import Ended, Program, verbmark

TEXTS = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../../reports/fuzz/corpus/import_text"
)


class Files(Histories):
    def skipped(self, *sentences, verb="list"):
        """What is told of files, each in a line that begins so."""
        ended = Ended(Program(*self.command(verb)))
        self.assertEqual(ended.status, 1 if verb == "rebuild" and sentences else 0, ended.err)
        lines = sorted(ended.err.splitlines())
        self.assertEqual(len(lines), len(sentences), ended.err)
        for line, sentence in zip(lines, sorted(sentences)):
            self.assertTrue(line.startswith(f"verbmark: skipped: runs/{sentence}"), line)

    def test_pipes(self):
        """Nobody writes into them, and nobody waits for that."""
        paths = self.runs(0, 1)
        self.add(*paths)
        name = self.kept()[0].removesuffix(".json")
        label = f"{self.dir}/runs/{name}.label"
        os.mkfifo(label)
        for verb in ("list", "show", "check", "rebuild"):
            self.skipped(f"{name}.json: its label is no file", verb=verb)
        os.unlink(label)
        self.skipped()
        self.assertEqual(len(self.shown()["runs"]), 2)
        # To add it again mends it.
        os.mkfifo(label)
        self.add(paths[0], version="7")
        self.assertEqual([run["version"] for run in self.shown()["runs"]], ["7", "1.2.3"])
        path = f"{self.dir}/runs/{name}.json"
        os.unlink(path)
        os.mkfifo(path)
        self.skipped(f"{name}.json is no name of a run")
        self.assertIn(f"{name} added", self.add(paths[0]))
        self.assertEqual(len(self.shown()["runs"]), 2)

    def laid(self, document, when):
        """A file under a name that is one: a time, and the hash of what is in it."""
        text = json.dumps(document).encode()
        digest = 0xcbf29ce484222325
        for byte in text:
            digest = (digest ^ byte) * 0x100000001b3 % 2 ** 64
        name = f"{when}-{digest:016x}.json"
        with open(f"{self.dir}/runs/{name}", "wb") as file:
            file.write(text)
        return name

    def test_laid_there(self):
        """What nobody could have added is named, and nobody's runs are lost by it."""
        self.add(*self.runs(0))
        ended = verbmark("import", "perftest", f"{TEXTS}/real-send-lat", "--json", "-")
        imported = self.laid(json.loads(ended.out), "20261123T101244Z")
        moved = self.laid(self.document(1), "20261123T101245Z")
        sentences = (f"{imported}: it is imported: ",
                     f"{moved}: it was started at 2001-09-09T01:47:40Z, and its name has another")
        for verb in ("list", "show", "check", "rebuild"):
            self.skipped(*sentences, verb=verb)
        # One who was right about the time may lay it there.
        os.unlink(f"{self.dir}/runs/{imported}")
        os.rename(f"{self.dir}/runs/{moved}",
                  f"{self.dir}/runs/20010909T014740Z-{moved.split('-')[1]}")
        self.assertEqual(len(self.shown()["runs"]), 2)

    def skip(self, name, program):
        """As if that version of the program could not have read it."""
        with sqlite3.connect(f"{self.dir}/index.sqlite") as index:
            index.execute("INSERT INTO skipped SELECT name, 'it is new', size, changed_ns, "
                          "label_size, label_changed_ns, ? FROM runs WHERE name = ?",
                          (program, name))
            index.execute("DELETE FROM points WHERE run = (SELECT id FROM runs WHERE name = ?)",
                          (name,))
            index.execute("DELETE FROM runs WHERE name = ?", (name,))

    def test_tried_again(self):
        """What another version could not read, and what is added once more."""
        paths = self.runs(0, 1)
        self.add(*paths)
        before = self.shown()
        name = self.kept()[0].removesuffix(".json")
        self.skip(name, "0.0.1")
        self.assertEqual(self.shown(), before)
        for _ in range(2):
            self.skip(name, before["tool"]["version"])
            self.skipped(f"{name}.json: it is new")
            self.skipped(f"{name}.json: it is new")
            self.assertIn("is there already", self.add(paths[0]))
            self.assertEqual(self.shown(), before)


if __name__ == "__main__":
    unittest.main()
