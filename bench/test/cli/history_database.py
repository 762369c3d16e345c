# SPDX-License-Identifier: MIT
"""Robustness of a history: killed and concurrent writers, full disks, damage; and old folders."""

import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import unittest

from histories import Histories
from verbmark import Ended, Program, wait_until

IS_ROOT = os.geteuid() == 0
# A user who may write only to files that are writable for everybody.
ANYBODY = {"user": 65534, "group": 65534, "extra_groups": ()} if IS_ROOT else {}
HINT = "restore a backup, or try 'sqlite3 FILE .recover'"


class Database(Histories):
    def fails(self, verb, *words, **options):
        """Returns the one-line error of a command that must fail."""
        ended = Ended(Program(*self.command(verb, *words), **options))
        self.assertEqual((ended.status, ended.out), (1, ""), ended.err)
        self.assertEqual(len(ended.err.splitlines()), 1, ended.err)
        return ended.err.removeprefix("verbmark: ")

    def open(self):
        database = sqlite3.connect(self.db, isolation_level=None)
        self.addCleanup(database.close)
        return database

    def check_whole(self, *names):
        """Checks that the database has exactly those runs and is not damaged."""
        self.called("list")
        self.assertEqual(self.query("PRAGMA integrity_check"), [("ok",)])
        self.assertEqual(sorted(names), self.kept())

    def test_one_file(self):
        self.add(*self.runs(*range(3)))
        self.assertEqual([name for name in os.listdir(self.folder) if name[0] == "h"],
                         ["history.sqlite"])

    def test_nothing_to_add(self):
        """A command that adds nothing leaves no database behind."""
        missing = f"{self.folder}/missing"
        for verb in ("add", "import"):
            self.assertIn(missing, self.fails(verb, missing))
            self.assertFalse(os.path.exists(self.db))

    def test_unpacking_with_sqlite(self):
        """The SQLite shell can unpack a document, as the man page describes."""
        path, = self.runs(0)
        self.add(path)
        shell = shutil.which("sqlite3")
        if not shell:
            self.skipTest("sqlite3 is not installed")
        name, = self.kept()
        out = subprocess.run(
            (shell, self.db, "SELECT sqlar_uncompress(document, size) FROM runs "
                             f"WHERE name = '{name}'"),
            capture_output=True, text=True, check=True).stdout
        with open(path, encoding="utf-8") as file:
            self.assertEqual(out.rstrip("\n"), file.read())

    def test_other_formats(self):
        paths = self.runs(0, 1)
        self.add(paths[0])
        before = self.kept()
        self.open().execute("PRAGMA user_version = 2")
        sentence = (f"{self.db} has format 2, but this verbmark supports format 1: use the "
                    "verbmark that wrote it, or a newer one")
        for words in (("list",), ("show",), ("check",), ("add", paths[1])):
            self.assertEqual(self.fails(*words), sentence)
        self.assertEqual(self.kept(), before)

    def test_other_programs(self):
        path, = self.runs(0)
        self.open().execute("CREATE TABLE mine(value)")
        for words in (("list",), ("add", path)):
            self.assertEqual(self.fails(*words), f"{self.db} is a database of another program")
        self.assertEqual(self.query("SELECT name FROM sqlite_master"), [("mine",)])

    def test_file_that_is_no_database(self):
        path, = self.runs(0)
        with open(self.db, "w", encoding="ascii") as file:
            file.write("no database at all\n" * 1000)
        self.assertEqual(self.fails("list"), f"cannot read {self.db}: file is not a database")
        self.assertEqual(self.fails("add", path),
                         f"cannot write to {self.db}: file is not a database")
        os.unlink(self.db)
        os.mkdir(self.db)
        for words in (("list",), ("add", path)):
            self.assertEqual(self.fails(*words),
                             f"{self.db} is not a file; to import the runs of a folder, use "
                             "'verbmark history import FOLDER'")

    def test_damage(self):
        self.add(*self.runs(*range(5)))
        path, = self.runs(6)
        size = self.query("PRAGMA page_size")[0][0]
        with open(self.db, "r+b") as file:
            for page in range(1, os.path.getsize(self.db) // size):
                file.seek(size * page)
                file.write(b"\xff" * 512)
        for words, doing in ((("list",), "read"), (("show",), "read"), (("add", path), "write to")):
            self.assertEqual(
                self.fails(*words),
                f"cannot {doing} {self.db}: database disk image is malformed; {HINT}")

    def test_damaged_document(self):
        """A damaged document is found when it is used."""
        self.add(*self.runs(*range(5)))
        new, = self.runs(6)
        self.open().execute("UPDATE runs SET document = x'00' WHERE id = (SELECT max(id) FROM runs)")
        ended = Ended(Program(self.command("list")[0], "compare", f"--history={self.db}", new))
        self.assertEqual((ended.status, ended.out, ended.err),
                         (1, "", f"verbmark: cannot read {self.db}: a document cannot be decompressed; "
                                 f"{HINT}"))
        self.called("check")

    def limited(self, size, *words):
        """Runs a command that must fail because no file may grow beyond that size."""
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        return self.fails(*words, preexec_fn=limit)

    def test_no_room(self):
        first, second = self.runs(0, 1)
        # Longer than what the last page of the database has room for.
        with open(second, encoding="utf-8") as file:
            document = json.load(file)
        document["run"]["command"].append(random.Random(1).randbytes(20000).hex())
        with open(second, "w", encoding="utf-8") as file:
            json.dump(document, file)
        sentence = (f"cannot write to {self.db}: disk I/O error; check the disk's free space, "
                    "quota and health")
        self.assertEqual(self.limited(1000, "add", first), sentence)
        self.add(first)
        names = self.kept()
        self.assertEqual(self.limited(os.path.getsize(self.db), "add", second), sentence)
        self.check_whole(*names)
        self.add(second)
        self.assertEqual(len(self.kept()), 2)

    def test_read_only(self):
        first, second = self.runs(0, 1)
        self.add(first)
        names = self.kept()
        shown = self.called("show")
        os.chmod(self.folder, 0o755)
        os.chmod(self.db, 0o444)
        ended = Ended(Program(*self.command("show"), **ANYBODY))
        self.assertEqual((ended.status, ended.out, ended.err), (0, shown, ""))
        hint = "the file and its folder must be writable"
        self.assertEqual(
            self.fails("add", second, **ANYBODY),
            f"cannot write to {self.db}: attempt to write a readonly database; {hint}")
        # The user may write to the file but not create the journal.
        os.chmod(self.db, 0o666)
        self.assertIn(f"cannot write to {self.db}: ", self.fails("add", second, **ANYBODY))
        self.check_whole(*names)
        os.chmod(self.db, 0)
        if ANYBODY or not IS_ROOT:
            self.assertIn("Permission denied", self.fails("list", **ANYBODY))

    def test_killed_writer(self):
        """Every run reported as added is there; any other run is there as a whole or not at all."""
        paths = self.runs(*range(12))
        for lines in range(1, 6):
            with subprocess.Popen(self.command("add", *paths), stdout=subprocess.PIPE,
                                  text=True) as writer:
                reported = {writer.stdout.readline().split()[1] for _ in range(lines)}
                writer.kill()
            kept = self.kept()
            self.assertLessEqual(reported, set(kept))
            self.check_whole(*kept)
            self.assertEqual(self.query("SELECT count(*) FROM points"), [(2 * len(kept),)])
            os.unlink(self.db)

    def test_killed_in_a_transaction(self):
        """A reader blocks the commit until the writer is dead."""
        first, second = self.runs(0, 1)
        self.add(first)
        names = self.kept()
        reader = self.open()
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM runs").fetchone()
        with subprocess.Popen(self.command("add", second)) as writer:
            wait_until(lambda: os.path.exists(f"{self.db}-journal"), what="a transaction")
            writer.kill()
        reader.execute("COMMIT")
        self.check_whole(*names)
        self.add(second)
        self.assertEqual(len(self.kept()), 2)

    def test_concurrent_writers(self):
        paths = self.runs(*range(20))
        parts = (paths[:14], paths[6:], paths[::2])
        writers = [Program(*self.command("add", *part)) for part in parts]
        readers = [Program(*self.command("check")) for _ in range(2)]
        words = []
        for writer in writers:
            ended = Ended(writer)
            self.assertEqual((ended.status, ended.err), (0, ""))
            words += [line.split(maxsplit=2)[2] for line in ended.out.splitlines()]
        for reader in readers:
            ended = Ended(reader)
            # A reader may start before the first writer.
            self.assertTrue(not ended.status or "no history in" in ended.err, ended.err)
        # Each was added once.
        self.assertEqual((words.count("added"), words.count("was added before")),
                         (20, sum(map(len, parts)) - 20))
        self.check_whole(*self.kept())
        self.assertEqual(len(self.kept()), 20)

    def test_locked(self):
        """A transaction in a SQLite shell may stay open for hours."""
        first, second = self.runs(0, 1)
        self.add(first)
        listed = self.called("list")
        shell = self.open()
        shell.execute("BEGIN IMMEDIATE")
        self.assertEqual(self.called("list"), listed)
        self.assertEqual(
            self.fails("add", second),
            f"cannot write to {self.db}: database is locked; another process is using it; retry "
            "when that has ended")
        shell.execute("ROLLBACK")
        self.add(second)


class Folder(Histories):
    """A history as verbmark kept it before it used SQLite."""

    def setUp(self):
        super().setUp()
        # Take the names of the runs from a real history.
        paths = self.runs(*range(4))
        self.add(*paths, version="7", commit="abc")
        self.before = self.shown()
        os.makedirs(f"{self.folder}/old/runs")
        self.documents = []
        for path, name in zip(paths, self.kept()):
            self.documents.append(f"{self.folder}/old/runs/{name}.json")
            shutil.copy(path, self.documents[-1])
            self.label(name, json.dumps({"version": "7", "commit": "abc"}))
        os.unlink(self.db)

    def label(self, name, text):
        with open(f"{self.folder}/old/runs/{name}.label", "w", encoding="ascii") as file:
            file.write(text)

    def test_import(self):
        for word in ("added", "was added before"):
            lines = self.called("import", f"{self.folder}/old").splitlines()
            self.assertEqual([line.split(maxsplit=2)[2] for line in lines], [word] * 4)
            self.assertEqual(self.shown(), self.before)
        self.assertEqual(len(os.listdir(f"{self.folder}/old/runs")), 8)

    def test_without_labels(self):
        for name in os.listdir(f"{self.folder}/old/runs"):
            if name.endswith(".label"):
                os.unlink(f"{self.folder}/old/runs/{name}")
        self.called("import", f"{self.folder}/old")
        self.assertEqual({run["version"] for run in self.shown()["runs"]}, {"1.2.3"})

    def test_runs_that_cannot_be_imported(self):
        """They are reported, and the others are imported."""
        with open(self.documents[0], "r+b") as file:
            text = file.read().replace(b"n01", b"n07")
            file.seek(0)
            file.write(text)
        self.label(os.path.basename(self.documents[1]).removesuffix(".json"), "[]")
        self.label(os.path.basename(self.documents[2]).removesuffix(".json"),
                   '{"version": "=1+1"}')
        ended = Ended(Program(*self.command("import", f"{self.folder}/old")))
        self.assertEqual(ended.status, 1)
        lines = ended.err.splitlines()
        self.assertEqual(len(lines), 3, ended.err)
        self.assertIn(f"{self.documents[0]}: the document has changed since it was added", lines[0])
        self.assertIn(".label: not a JSON object", lines[1])
        self.assertIn('.label: "version" begins with =, +, - or @', lines[2])
        self.assertEqual(len(self.kept()), 1)

    def test_no_folder(self):
        self.assertEqual(
            self.refused("import", f"{self.folder}/nowhere"),
            f"cannot read the runs of {self.folder}/nowhere: No such file or directory")


if __name__ == "__main__":
    unittest.main()
