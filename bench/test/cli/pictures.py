# SPDX-License-Identifier: MIT
"""ci/pictures, run on a small result of the software device; and the README shows every picture
that exists."""

import html
import os
import re
import socket
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as tree

from verbmark import VERBMARK

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
SCRIPT = os.path.join(TOP, "ci/pictures")
SVG = "{http://www.w3.org/2000/svg}"
NAMES = ["bandwidth.svg", "latency.svg", "waiting.svg"]


def run(*words, status=0):
    done = subprocess.run(words, check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8")
    assert done.returncode == status, (words, done)
    return done


class Pictures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        os.environ["VERBMARK_SOFT_DIR"] = os.path.join(cls.folder.name, "device")
        os.mkdir(os.environ["VERBMARK_SOFT_DIR"], 0o700)
        cls.result = cls.path("result.json")
        run(VERBMARK, "run", "--device", "soft0", "--op", "send,write,read", "--metric", "lat,bw",
            "-s", "64,4k", "--cq", "poll,event", "-n", "1100", "--trials", "1", "--quiet",
            "--json", cls.result)
        cls.pictures = cls.path("pictures")
        run(SCRIPT, "--verbmark", VERBMARK, "--out", cls.pictures, cls.result)
        cls.trees = {name: tree.parse(os.path.join(cls.pictures, name)).getroot()
                     for name in NAMES}

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    def text(self, name):
        with open(os.path.join(self.pictures, name), encoding="utf-8") as file:
            return file.read()

    def test_writes_pictures_of_readme(self):
        self.assertEqual(sorted(os.listdir(self.pictures)), NAMES)

    def test_each_names_the_device(self):
        for name, root in self.trees.items():
            heads = [text.text for text in root.findall(f"{SVG}text")]
            self.assertTrue(heads[0].startswith("SOFTWARE DEVICE"), name)
            self.assertIn("soft0/1", heads[1])

    def test_no_host_is_named(self):
        for name in NAMES:
            words = re.findall(r"[\w.-]+", self.text(name))
            self.assertNotIn(socket.gethostname(), words)

    def test_each_has_two_figures_with_all_points(self):
        run(VERBMARK, "report", self.result, "--format", "html", "-o", self.path("page.html"))
        with open(self.path("page.html"), encoding="utf-8") as file:
            page = html.unescape(file.read())
        for name, root in self.trees.items():
            figures = root.findall(f"{SVG}svg")
            self.assertEqual(len(figures), 2, name)
            for figure in figures:
                values = [title.text for title in figure.iterfind(f".//{SVG}path/{SVG}title")]
                self.assertGreaterEqual(len(values), 4, name)
                for value in values:
                    self.assertIn(f"<title>{value}</title>", page)

    def test_nothing_is_cut_off(self):
        for name, root in self.trees.items():
            width, height = int(root.get("width")), int(root.get("height"))
            for figure in root.findall(f"{SVG}svg"):
                right = int(figure.get("x")) + int(figure.get("width"))
                bottom = int(figure.get("y")) + int(figure.get("height"))
                self.assertLessEqual((right, bottom), (width, height), name)
                self.assertLessEqual(bottom, height, name)

    def test_pictures_are_self_contained(self):
        for name in NAMES:
            text = self.text(name)
            self.assertEqual(re.findall(r"https?://[^\"]*", text), ["http://www.w3.org/2000/svg"])
            self.assertNotRegex(text, r"<script|href|url\(|data-|@import")

    def test_result_without_such_figures(self):
        few = self.path("few.json")
        run(VERBMARK, "run", "--device", "soft0", "--op", "send", "--metric", "lat", "-s", "64",
            "-n", "100", "--trials", "1", "--quiet", "--json", few)
        done = run(SCRIPT, "--verbmark", VERBMARK, "--out", self.path("none"), few,
                   status=1)
        self.assertRegex(done.stderr, r"^pictures: latency: the page has no figure [^\n]*\n$")
        self.assertFalse(os.path.exists(self.path("none")))

    def test_file_that_is_no_result(self):
        done = run(SCRIPT, "--verbmark", VERBMARK, "--out", self.path("none"),
                   self.path("missing.json"), status=1)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("missing.json", done.stderr)

    def test_readme_shows_all_pictures(self):
        with open(os.path.join(TOP, "README.md"), encoding="utf-8") as file:
            readme = file.read()
        shown = re.findall(r"!\[([^\]]+)\]\(\.github/pictures/([^)]*)\)", readme)
        pictures = sorted(os.listdir(os.path.join(TOP, ".github/pictures")))
        self.assertEqual(sorted(name for _, name in shown), pictures)
        for alt, name in shown:
            self.assertGreater(len(alt), 40, name)
            tree.parse(os.path.join(TOP, ".github/pictures", name))
