# SPDX-License-Identifier: MIT
"""How the command is called: its help, and what it says to what it does not know."""

import os
import re
import unittest

from verbmark import verbmark

OPTIONS = {
    "run": {
        "op", "metric", "size", "iterations", "cq", "server-cq", "device", "server-device", "port",
        "wait", "json",
    },
    "serve": {"port"},
    "devices": {"json"},
    "doctor": {"device", "port", "json"},
}
LETTERS = {"run": {"s": "size", "n": "iterations", "d": "device", "p": "port"},
           "serve": {"p": "port"}, "devices": {},
           "doctor": {"d": "device", "p": "port"}}


class Usage(unittest.TestCase):
    def refused(self, *words):
        """The one sentence of a wrong call."""
        ended = verbmark(*words)
        self.assertEqual(ended.status, 2, ended.err)
        self.assertEqual(ended.out, "")
        self.assertEqual(len(ended.err.splitlines()), 1, ended.err)
        self.assertTrue(ended.err.startswith("verbmark: "), ended.err)
        return ended.err.removeprefix("verbmark: ")

    def test_nothing(self):
        self.assertEqual(self.refused(), "a command is missing: run, serve or devices; see --help")

    def test_help(self):
        for word in ("--help", "-h"):
            ended = verbmark(word)
            self.assertEqual((ended.status, ended.err), (0, ""))
            for command in OPTIONS:
                self.assertRegex(ended.out, rf"(?m)^  {command} +[a-z]")

    def test_version(self):
        ended = verbmark("--version")
        self.assertEqual((ended.status, ended.err), (0, ""))
        self.assertRegex(ended.out, r"^verbmark [0-9]+\.[0-9]+\.[0-9]+$")

    def test_help_of_each_command(self):
        for command, options in OPTIONS.items():
            with self.subTest(command):
                ended = verbmark(command, "--help")
                self.assertEqual((ended.status, ended.err), (0, ""))
                self.assertTrue(ended.out.startswith(f"usage: verbmark {command} "))
                shown = re.findall(r"(?m)^  (?:-(\w), |    )--([\w-]+)", ended.out)
                self.assertEqual({name for _, name in shown}, options | {"help"})
                self.assertEqual(
                    {letter: name for letter, name in shown if letter},
                    LETTERS[command] | {"h": "help"},
                )
                self.assertLessEqual(max(map(len, ended.out.splitlines())), 100)

    def test_help_comes_first(self):
        self.assertEqual(verbmark("run", "--help", "--nonsense").status, 0)
        self.assertEqual(verbmark("run", "-n", "5", "-h").status, 0)

    def test_manual(self):
        page = os.path.join(os.path.dirname(__file__), "..", "verbmark.1.scd")
        with open(page, encoding="utf-8") as file:
            text = file.read().replace("\\", "")
        for command, options in OPTIONS.items():
            for name in options:
                self.assertIn(f"--{name}", text, command)

    def test_unknown_commands(self):
        for word in ("measure", "Run", "", "-x", "--json"):
            self.assertEqual(
                self.refused(word), f"there is no command '{word}'; see verbmark --help"
            )

    def test_unknown_options(self):
        for command in OPTIONS:
            self.assertEqual(self.refused(command, "--colour"), "there is no option --colour")
            self.assertEqual(self.refused(command, "-Z"), "there is no option -Z")

    def test_wrong_values(self):
        for words, sentence in (
            (("--size", "4q"), "--size: '4q' is not a size, such as 64 or 4k"),
            (("-s4q",), "--size: '4q' is not a size, such as 64 or 4k"),
            (("-s", ""), "--size: '' is not a size, such as 64 or 4k"),
            (("--size=-1",), "--size: '-1' is not a size, such as 64 or 4k"),
            (("-s", "18446744073709551616"), "--size: '18446744073709551616' is not a size"),
            (("-s", "0"), "--size: '0' is not from 1 to 1g"),
            (("-s", "2g"), "--size: '2g' is not from 1 to 1g"),
            (("--op", "push"), "--op: 'push' is none of send, write, read"),
            (("--metric", "speed"), "--metric: 'speed' is none of lat"),
            (("--cq", "busy"), "--cq: 'busy' is none of poll, event, adaptive"),
            (("--server-cq=poll,",), "--server-cq: 'poll,' is none of poll, event, adaptive"),
            (("-n", "0"), "--iterations: '0' is not a number from 1 to 10^12"),
            (("-n", "1.5"), "--iterations: '1.5' is not a number from 1 to 10^12"),
            (("-p", "65536"), "--port: '65536' is not a port: 0 to 65535"),
            (("--wait", "10h"), "--wait: '10h' is not a time, such as 10s or 500ms"),
            (("--json", ""), "--json: '' is empty"),
            (("--json",), "--json needs FILE"),
        ):
            with self.subTest(words):
                self.assertTrue(self.refused("run", "n02", *words).startswith(sentence))
        self.assertTrue(self.refused("serve", "-p", "x").startswith("--port: 'x' is not a port"))
        self.assertEqual(self.refused("devices", "--json=yes"), "--json takes no value")
        self.assertTrue(self.refused("doctor", "-p", "x").startswith("--port: 'x' is not a port"))

    def test_words_too_many(self):
        self.assertEqual(self.refused("run", "a", "b"), "'b' is one word too many: HOST is 'a'")
        self.assertEqual(self.refused("serve", "n02"), "'n02' is one word too many")
        self.assertEqual(self.refused("devices", "rxe0"), "'rxe0' is one word too many")
        self.assertEqual(
            self.refused("doctor", "a", "b"), "'b' is one word too many: [HOST] is 'a'"
        )

    def test_no_host(self):
        self.assertEqual(
            self.refused("run", "-n", "5"),
            "HOST is missing: the machine where 'verbmark serve' runs",
        )
