# SPDX-License-Identifier: MIT
"""What a gate is worth, by stand-ins of known noise and known slowness: see gate_arm.py."""

import copy
import json
import os
import sys
import tempfile
import unittest

import documents
from verbmark import IS_SANITIZED, VERBMARK, Ended, Program, verbmark, wait_until

LIB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib")
CASES = ("--op", "send", "--metric", "lat,bw", "-s", "64")
ROUNDS = 12


class GateCheck(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = f"{self.folder.name}/record.json"

    def arm(self, name, *words):
        return " ".join((sys.executable, "-I", "-S", f"{LIB}/gate_arm.py",
                         f"{self.folder.name}/{name}", *words))

    def record(self, dose, *words, gates=2):
        ended = verbmark("gate-check", "--base", self.arm("base"), "--head",
                         self.arm("head", *words), "--doses", dose, "--gates", gates,
                         "--rounds", ROUNDS, "--order-seed", "7", "--json", self.path, *CASES)
        self.assertEqual((ended.status, ended.err), (0, ""))
        with open(self.path, encoding="utf-8") as file:
            return documents.parse(file.read(), "verbmark.gate-check-1"), ended.out

    def test_equal(self):
        document, shown = self.record(0)
        dose = document["doses"][0]
        # Room for one of twice the rounds is left.
        self.assertEqual((dose["gates"], dose["regressed"], dose["invalid"]), (2, 0, 0))
        self.assertEqual(len(dose["record"]["rounds"]), 3 * ROUNDS)
        self.assertRegex(shown, r"(?m)^\+0 % +\S+ % +2 +0 +0\.0\.\.84\.2 % +0/4 +0 +0$")

    def test_worse(self):
        document, shown = self.record(20, "lat=1.2", "bw=0.8")
        dose = document["doses"][0]
        self.assertEqual((dose["gates"], dose["regressed"]), (2, 2))
        self.assertEqual(dose["regressed_in"], {"send/lat/64/poll": 2, "send/bw/64/poll": 2})
        # What is recorded can be judged again, and is the same.
        again = verbmark("gate-check", "--replay", self.path)
        self.assertEqual((again.status, again.out), (0, shown))

    def test_a_round_that_fails(self):
        """Has another one, in the same gate; and so it is when that is judged again."""
        document, _ = self.record(0, "stumbles=5")
        dose = document["doses"][0]
        self.assertEqual((dose["gates"], dose["regressed"], dose["invalid"]), (2, 0, 0))
        self.assertEqual(len(dose["record"]["rounds"]), 3 * ROUNDS + 1)

    def test_a_round_that_fails_again(self):
        document, shown = self.record(20, "lat=1.2", "bw=0.8", "stumbles=20", "once=31")
        dose = document["doses"][0]
        self.assertEqual((dose["gates"], dose["regressed"], dose["invalid"]), (2, 2, 0))
        self.assertEqual(len(dose["record"]["rounds"]), 4 * ROUNDS + 2)
        again = verbmark("gate-check", "--replay", self.path)
        self.assertEqual((again.status, again.out), (0, shown))

    def test_order(self):
        """Another one each time, which is told, and can be had again."""
        def recorded(*words):
            ended = verbmark("gate-check", "--base", self.arm("base"), "--head", self.arm("head"),
                             "--doses", 0, "--gates", 1, "--rounds", ROUNDS, "--json", self.path,
                             *words, *CASES)
            self.assertEqual(ended.status, 0, ended.err)
            with open(self.path, encoding="utf-8") as file:
                record = json.load(file)["doses"][0]["record"]
            return record["seed"], [each["first"] for each in record["rounds"]]

        seed, order = recorded()
        self.assertNotEqual(recorded()[0], seed)
        self.assertEqual(recorded("--order-seed", seed), (seed, order))

    def test_better(self):
        document, _ = self.record(-20, "lat=0.8", "bw=1.2")
        self.assertEqual(document["doses"][0]["regressed"], 0)

    def test_arms_that_end(self):
        for words, count in (("dies=1", 0), ("dies=6", 4)):
            ended = verbmark("gate-check", "--base", self.arm(f"base{count}"), "--head",
                             self.arm(f"head{count}", words), "--doses", "0", "--gates", 1,
                             "--rounds", ROUNDS, "--json", self.path, *CASES)
            self.assertEqual(ended.status, 1, ended.err)
            self.assertIn("the card has caught fire", ended.err)
            with open(self.path, encoding="utf-8") as file:
                record = json.load(file)["doses"][0]["record"]
            self.assertGreaterEqual(len(record["rounds"]), count)

    def test_what_was_there(self):
        """Is not lost for a record of nothing."""
        for options, status, reason in (
            (("--metric", "load", "--rate", "100k"), 2, "a gate is for lat and bw"),
            (CASES, 1, "the card has caught fire"),
        ):
            with open(self.path, "w", encoding="utf-8") as file:
                file.write("{}")
            ended = verbmark("gate-check", "--base", self.arm("base"), "--head",
                             self.arm(f"head{status}", "dies=1"), "--doses", "0", "--gates", 1,
                             "--rounds", ROUNDS, "--json", self.path, *options)
            self.assertEqual(ended.status, status, ended.err)
            self.assertIn(reason, ended.err)
            with open(self.path, encoding="utf-8") as file:
                self.assertEqual(file.read(), "{}")

    def test_killed(self):
        """What its gates were is there, without a chance to write it."""
        program = Program(VERBMARK, "gate-check", "--base", self.arm("base"), "--head",
                          self.arm("head", f"hangs={2 * ROUNDS + 3}"), "--doses", "0", "--gates",
                          "5", "--rounds", str(ROUNDS), "--json", self.path, *CASES)
        self.addCleanup(program.kill)

        def has_two():
            if not os.path.exists(self.path):
                return False
            with open(self.path, encoding="utf-8") as file:
                return len(json.load(file)["doses"][0]["record"]["rounds"]) == 2 * ROUNDS

        wait_until(has_two, what="two gates")
        program.kill()
        again = verbmark("gate-check", "--replay", self.path)
        self.assertEqual(again.status, 0, again.err)
        self.assertRegex(again.out, r"(?m)^\+0 % +\S+ % +1 +0 ")

    def test_progress(self):
        """Of all doses together."""
        ended = verbmark("gate-check", "--base", self.arm("base"), "--head", self.arm("head"),
                         "--doses", "2.5", "--gates", 1, "--rounds", ROUNDS, "--progress", *CASES)
        self.assertEqual(ended.status, 0, ended.err)
        self.assertIn("1/24 rounds, +2.5 %  ", ended.err)
        self.assertRegex(ended.out, r"(?m)^\+2\.5 % ")

    def test_usage(self):
        for words, reason in (
            ((), "planted in the link of --device soft0"),
            (("-d", "soft0", "n02"), "planted in the link of --device soft0"),
            (("--base", "a/b"), "--base and --head go together"),
            (("--base", "a/b", "--head", "a/b"), "--base and --head are one dose"),
            (("--doses", "x"), "--doses: 'x' is no list of per cent"),
            (("--doses", "5,"), "--doses: '5,' is no list of per cent"),
            (("--gates", "0"), "--gates: '0' is no number of gates"),
            (("--rounds", "3"), "--rounds: '3' is no number of rounds"),
            (("--replay", ""), "--replay: '' is empty"),
            (("--replay", "x", "--json", "y"), "--replay and --json exclude each other"),
            (("--replay", "x", "--doses", "5"), "--replay and --doses exclude each other"),
            (("--replay", "x", "--floor", "p50=7%"), "--replay and --floor exclude each other"),
            (("--replay", "x", "--order-seed", "5"), "--replay and --order-seed exclude each "),
            (("--order-seed", "0"), "--order-seed: '0' is no seed"),
            (("--replay", "x", "-D", "5ms"), "--replay and --duration exclude each other"),
            (("--replay", "x", "n02"), "--replay and a host exclude each other"),
            (("-d", "soft0", "--noisy", "--doses", "5"), "--noisy is for doses of 0, and there "),
            (("-d", "soft0", "--outlier", "--doses", "5"), "--outlier is for doses of 0, and "),
            (("--base", "a", "--head", "b", "--doses", "0", "--outlier"), "not with --base and "),
            (("-d", "soft0", "--doses", ",".join(["0"] * 17)), "has too many doses"),
            (("--replay", "x", "--outlier"), "--replay and --outlier exclude each other"),
        ):
            ended = verbmark("gate-check", *words)
            self.assertEqual((ended.status, ended.out), (2, ""), words)
            self.assertIn(reason, ended.err)

    def test_records_add_up(self):
        first = f"{self.path}.first"
        self.record(0, gates=1)
        os.rename(self.path, first)
        self.record(0, "noise=0.011", gates=1)
        ended = verbmark("gate-check", "--replay", first, "--replay", self.path)
        self.assertEqual(ended.status, 0, ended.err)
        # Of one gate both bounds would be 0 and 97.5 %: 1 - 0.025^(1/2) of two.
        self.assertRegex(ended.out, r"(?m)^\+0 % +\S+ % +2 +0 0\.0\.\.84\.2 % +0/4 ")
        self.assertEqual(len(ended.out.splitlines()), 3)
        other = f"{self.path}.other"
        with open(self.path, encoding="utf-8") as file:
            good = json.load(file)
        floors, cases = copy.deepcopy(good["doses"]), copy.deepcopy(good["doses"])
        floors[0]["record"]["floors"]["p50_ns"] = 0.07
        cases[0]["record"]["cases"][0]["id"] = "send/lat/65/poll"
        for change, reason in (
            ({"rounds": 13}, "gates of 13 rounds, those before it of 12"),
            ({"plant": "hand"}, "planted by hand, those before it by arms of their own"),
            ({}, "dose 1: its rounds are there already"),
            ({"doses": floors}, "dose 1: its floors are not those of what is before it"),
            ({"doses": cases}, "dose 1: its cases are not those of what is before it"),
        ):
            with open(other, "w", encoding="utf-8") as file:
                json.dump(good | change, file)
            ended = verbmark("gate-check", "--replay", self.path, "--replay", other)
            self.assertEqual(ended.status, 1)
            self.assertIn(reason, ended.err)

    def replay_in(self, kib):
        """With so much memory, where that can be told."""
        limit = ("sh", "-c", f'ulimit -v {kib} && exec "$@"', "sh") if not IS_SANITIZED else ()
        return Ended(Program(*limit, VERBMARK, "gate-check", "--replay", self.path))

    def test_records_that_are_none(self):
        good, _ = self.record(0, gates=1)
        for text, reason in (
            ("", "line 1, column 0: "),
            ("{}", "it is no document of verbmark.gate-check/1"),
            ("[" * 100000, "maximum parsing depth"),
            (json.dumps(good)[:-100], "line 1, column "),
            (json.dumps(good | {"rounds": 1 << 60}), "rounds"),
        ):
            with open(self.path, "w", encoding="utf-8") as file:
                file.write(text)
            ended = verbmark("gate-check", "--replay", self.path)
            self.assertEqual((ended.status, ended.out), (1, ""), reason)
            self.assertIn(reason, ended.err)
            self.assertEqual(len(ended.err.splitlines()), 1)
        # Nothing is kept for values that are not there.
        (dose,) = copy.deepcopy(good["doses"])
        dose["record"] |= {"rounds": [0] * 10**6, "cases": dose["record"]["cases"][:1] * 1000}
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(good | {"doses": [dose]}, file)
        ended = self.replay_in(4000000)
        self.assertEqual(ended.status, 1)
        self.assertRegex(ended.err, r"case 1: \S+: \d+ values of 1000000 rounds")
        # Nor for more of them than records have, of which three bytes are hundreds of memory.
        with open(self.path, "w", encoding="ascii") as file:
            file.write("[" + "{}," * 13000000)
        ended = self.replay_in(1000000)
        self.assertEqual(ended.status, 1)
        self.assertRegex(ended.err, "record.json: this has too many values for a record of gates")
        ended = verbmark("gate-check", "--replay", "/no/such/file")
        self.assertEqual(ended.status, 1)
        self.assertRegex(ended.err, "/no/such/file.*: No such file")


if __name__ == "__main__":
    unittest.main()
