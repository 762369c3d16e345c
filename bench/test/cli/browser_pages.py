# SPDX-License-Identifier: MIT
"""
The pages of a history, of a comparison and of a fleet in a real browser, without a network: they
log no errors, each mark is where its axes put it on either scale, nothing is wider than a small
screen, and they pass axe-core's accessibility checks.
"""

import json

import browsing
from browsing import DRAWN, READ, choose_scale
from cli.page import bandwidth, latency, result, spread
from figures import Figures
from verbmark import verbmark

BEFORE, AFTER = 30, 8
# The planted change: 20 % slower.
PLANTED = 1.2
# Series that each page must show.
SERIES = {"history": {"runs", "change point"}, "compare": {"worse"}}


class Pages(browsing.Browsing):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        runs = [cls.run_of(n, PLANTED if n >= BEFORE else 1) for n in range(BEFORE + AFTER)]
        kept = f"{cls.folder}/history.sqlite"
        cls.called("history", "add", "--db", kept, *runs)
        cls.pages = {}
        for name, words in (
            ("history", ("history", "show", "--db", kept)),
            ("compare", ("compare", *runs[:4], "--new", *runs[-4:])),
        ):
            cls.pages[name] = f"{cls.folder}/{name}.html"
            with open(cls.pages[name], "w", encoding="utf-8") as file:
                file.write(cls.called(*words, "--format", "html"))

    @staticmethod
    def called(*words):
        ended = verbmark(*words)
        assert not ended.status, ended.err
        return ended.out

    @classmethod
    def run_of(cls, number, factor):
        """Writes a run at that minute, which varies by some tenths of a percent."""
        around = factor * (1000 + number * 7 % 11)
        made = result(
            *(latency(f"send/lat/{size}/poll", spread(round(around))) for size in (8, 64)),
            bandwidth("write/bw/64/poll", [[200 + number % 3, 200 - number % 3]] * 6))
        when = f"2001-02-03T04:{number:02}:0"
        made["run"] |= {"started": f"{when}5Z", "finished": f"{when}6Z"}
        for end in made["hosts"].values():
            end["hard_fingerprint"] = "0123456789abcdef"
        # No part of the name allows a line break.
        path = f"{cls.folder}/{'long' * 20}{number}.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(made, file)
        return path

    def test_browser_shows_all_series(self):
        """The browser shows each panel and series of the page, including the change point."""
        for name, page in self.pages.items():
            with self.subTest(name):
                with open(page, encoding="utf-8") as file:
                    wanted = Figures(file.read()).panels
                found = Figures(self.browse(page, "--dump-dom")).panels
                self.assertEqual([panel["title"] for panel in found],
                                 [panel["title"] for panel in wanted])
                for one, other in zip(found, wanted):
                    self.assertEqual(
                        {series: len(points) for series, points in one["series"].items()},
                        {series: len(points) for series, points in other["series"].items()})
                series = {series for panel in found for series in panel["series"]}
                self.assertLessEqual(SERIES[name], series)

    def test_marks_are_where_axes_say(self):
        browser = self.browser
        for name, page in self.pages.items():
            with self.subTest(name):
                browser.open(f"file://{page}")
                panels = browser.evaluate(READ)
                self.assertGreater(sum(len(panel["points"]) for panel in panels), 2)
                self.check_places(panels)
                drawn = browser.evaluate(DRAWN)
                for scale in ("log", "linear"):
                    browser.evaluate(choose_scale(scale))
                    self.check_places(browser.evaluate(READ))
                browser.evaluate(choose_scale(""))
                self.assertEqual(browser.evaluate(DRAWN), drawn)
                self.assertEqual(browser.complaints(), [])

    def test_narrow(self):
        for name, page in self.pages.items():
            with self.subTest(name):
                self.check_narrow(page)

    def test_paper(self):
        for name, page in self.pages.items():
            with self.subTest(name):
                self.check_paper(page)

    def test_accessibility(self):
        for name, page in self.pages.items():
            with self.subTest(name):
                self.check_accessibility(page)


class Fleet(browsing.Browsing):
    """The page of 20 nodes in four groups, of which n017 is slow."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        path = f"{cls.folder}/fleet.json"
        ended = verbmark("fleet", "--simulate", "20", "--plant", "slow-node:17", "--quiet",
                         "--json", path)
        assert ended.status == 1, ended.err
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        for number, node in enumerate(document["nodes"]):
            node["group"] = f"leaf{number % 4}"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
        cls.page = f"{cls.folder}/fleet.html"
        ended = verbmark("report", "--format", "html", path, "-o", cls.page)
        assert not ended.status, ended.err

    def test_width(self):
        """The page never scrolls sideways."""
        browser = self.browser
        self.addCleanup(browser, "Emulation.clearDeviceMetricsOverride")
        for width in (400, 800, 1440):
            browser("Emulation.setDeviceMetricsOverride", width=width, height=900,
                    deviceScaleFactor=1, mobile=False)
            browser.open(f"file://{self.page}")
            self.assertEqual(browser.evaluate("document.documentElement.scrollWidth"), width)

    def test_paper(self):
        self.check_paper(self.page)

    def test_accessibility(self):
        self.check_accessibility(self.page)
