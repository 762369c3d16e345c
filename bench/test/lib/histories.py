# SPDX-License-Identifier: MIT
"""Code shared by the tests of histories: made-up runs, and a history to add them to."""

import contextlib
import copy
import json
import os
import random
import sqlite3
import tempfile
import time
import unittest

import documents
from verbmark import VERBMARK, Ended, Program

SAMPLE = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../../../reports/test/lib/sample.json"
)


def scale(case, factor):
    for trial in case.get("trials") or []:
        for name in trial.get("latency_ns", {}):
            trial["latency_ns"][name] *= factor
        for name in trial.get("bandwidth", {}):
            trial["bandwidth"][name] /= factor


class Histories(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = self.temporary.name
        self.db = f"{self.folder}/history.sqlite"
        self.chance = random.Random(1)
        with open(SAMPLE, encoding="utf-8") as file:
            self.sample = json.load(file)

    def document(self, number, factor=1.0, spread=0.005, **client):
        """Returns the document of a run at that minute."""
        made = copy.deepcopy(self.sample)
        made["cases"] = [case for case in made["cases"] if case["status"] == "complete"]
        for case in made["cases"]:
            scale(case, factor * self.chance.gauss(1, spread))
        for end in ("client", "server"):
            made["hosts"][end] |= {"hard_fingerprint": "0123456789abcdef"} | client
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1000000000 + 60 * number))
        made["run"] |= {"started": when, "finished": when, "status": "complete"}
        return made

    def write(self, name, document):
        path = f"{self.folder}/{name}"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
        return path

    def runs(self, *numbers, **how):
        return [self.write(f"{number}.json", self.document(number, **how)) for number in numbers]

    def command(self, verb, *words):
        return (VERBMARK, "history", verb, "--db", self.db, *map(str, words))

    def called(self, verb, *words, status=0, err=""):
        ended = Ended(Program(*self.command(verb, *words)))
        self.assertEqual(ended.status, status, ended.out + ended.err)
        self.assertEqual(ended.err, err)
        return ended.out

    def refused(self, verb, *words, status=1):
        ended = Ended(Program(*self.command(verb, *words)))
        self.assertEqual((ended.status, ended.out), (status, ""), ended.err)
        self.assertEqual(len(ended.err.splitlines()), 1, ended.err)
        return ended.err.removeprefix("verbmark: ")

    def add(self, *paths, **options):
        words = [word for name, text in options.items() for word in (f"--{name}", text)]
        return self.called("add", *paths, *words)

    def shown(self, *words, **options):
        out = self.called("show", "--format", "json", *words, **options)
        return documents.parse(out, "verbmark.history-1")

    def changed(self, before=30, after=8, factor=1.2):
        """Adds runs with a change point between two versions."""
        self.add(*self.runs(*range(before)), version="1.0", commit="aaa")
        self.add(*self.runs(*range(before, before + after), factor=factor),
                 version="1.1", commit="bbb")

    def query(self, statement, *values):
        """Queries the database as another program would."""
        with contextlib.closing(sqlite3.connect(self.db)) as database:
            return database.execute(statement, values).fetchall()

    def kept(self):
        return [name for name, in self.query("SELECT name FROM runs ORDER BY name")]
