# SPDX-License-Identifier: MIT
"""
The page of a report in a real browser, without a network: it logs no errors, draws what its
markup says in light and dark mode and on wide and narrow screens, does what its controls say, is
readable where scripts and styles are forbidden, and passes axe-core's accessibility checks. Skipped
without Chromium; the accessibility check also without npm or if axe-core cannot be installed.
"""

import collections
import json
import struct
import time
import zlib

import browsing
from browsing import DRAWN, JENKINS, READ, choose_scale, plain, served
from cli.page import latency, load, spread, sweep
from figures import Figures
from verbmark import PATIENCE, verbmark

# The colors of the first two series on both backgrounds.
SERIES = {(0x1A, 0x7F, 0xC1), (0xD5, 0x5E, 0x00)}
# What most pixels have: the page, or the cards on it.
LIGHT = {(0xF6, 0xF7, 0xF9), (0xFF, 0xFF, 0xFF)}
DARK = {(0x0F, 0x12, 0x17), (0x17, 0x1B, 0x22)}
# The box of the table of latencies.
BOX = ("[...document.querySelectorAll('.table')].find(one => /^\\s*LATENCY/.test(one.textContent) && "
       "one.querySelector('tbody').rows.length > 8)")


def document():
    """Returns a document that has all kinds of figures."""
    made = sweep()
    made["cases"] += [load(f"send/load/64/poll/rate{rate}", rate, spread(rate), False)
                      for rate in (600, 700, 800)]
    line = latency("send/lat/512/event", spread(900))
    beside = latency("send/lat/512/poll", spread(800))
    line["beside"] = {"case": beside["id"], "by": "cq"}
    made["cases"] += [beside, line]
    return made


def baseline(number):
    """Returns slower runs of some of the document's cases, and one case that it does not have."""
    made = sweep()
    made["cases"] = [latency(f"{operation}/lat/64/poll", spread(1200 + 10 * number))
                     for operation in ("send", "read", "write", "write-imm")]
    made["run"] |= {"started": f"2001-02-03T03:0{number}:06Z",
                    "finished": f"2001-02-03T03:0{number}:07Z"}
    return made


def pixels(path):
    """Returns the width and the rows of (red, green, blue) of a PNG with 8 bits per channel."""
    with open(path, "rb") as file:
        data = file.read()
    chunks, at = {}, 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at:at + 4])
        chunks.setdefault(data[at + 4:at + 8], []).append(data[at + 8:at + 8 + length])
        at += length + 12
    width, height, depth, kind = struct.unpack(">IIBB", chunks[b"IHDR"][0][:10])
    assert depth == 8 and kind in (2, 6)
    each = 3 if kind == 2 else 4
    raw = zlib.decompress(b"".join(chunks[b"IDAT"]))
    rows, above = [], bytearray(width * each)
    for number in range(height):
        start = number * (width * each + 1)
        how, row = raw[start], bytearray(raw[start + 1:start + 1 + width * each])
        for i in range(len(row) if how else 0):
            left = row[i - each] if i >= each else 0
            if how == 4:
                corner = above[i - each] if i >= each else 0
                sum_ = left + above[i] - corner
                more = min((left, above[i], corner), key=lambda one: abs(sum_ - one))
            else:
                more = (left, above[i], (left + above[i]) // 2)[how - 1]
            row[i] = row[i] + more & 255
        rows.append([tuple(row[i:i + 3]) for i in range(0, len(row), each)])
        above = row
    return width, rows


class Browser(browsing.Browsing):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.page = f"{cls.folder}/page.html"
        with open(f"{cls.folder}/a.json", "w", encoding="utf-8") as file:
            json.dump(document(), file)
        words = []
        for n in range(2):
            words += ["--baseline", f"{cls.folder}/base-{n}.json"]
            with open(words[-1], "w", encoding="utf-8") as file:
                json.dump(baseline(n), file)
        ended = verbmark("report", "--format", "html", f"{cls.folder}/a.json", "-o", cls.page, *words)
        assert not ended.status, ended.err

    def test_browser_shows_all_series(self):
        """The browser shows each panel and series in the page."""
        with open(self.page, encoding="utf-8") as file:
            wanted = Figures(file.read()).panels
        found = Figures(self.browse(self.page, "--dump-dom")).panels
        self.assertEqual(len({panel["figure"] for panel in found}), 15)
        for one, other in zip(found, wanted, strict=True):
            self.assertEqual(one["title"], other["title"])
            self.assertEqual(
                {name: len(points) for name, points in one["series"].items()},
                {name: len(points) for name, points in other["series"].items()},
            )

    def test_marks_are_where_axes_say(self):
        """Marks are in place on both scales of the axes, and the first scale can be restored."""
        browser = self.browser
        browser.open(f"file://{self.page}")
        panels = browser.evaluate(READ)
        self.assertGreater(len(panels), 60)
        self.check_places(panels)
        drawn = browser.evaluate(DRAWN)
        for scale in ("log", "linear"):
            browser.evaluate(choose_scale(scale))
            others = browser.evaluate(READ)
            self.check_places(others)
            for one, other in zip(panels, others, strict=True):
                switched = "x" if one["mark"] == "intervals" or \
                    one["axes"]["y"]["scale"] == "nines" else "y"
                for name, axis in one["axes"].items():
                    self.assertEqual(other["axes"][name]["scale"],
                                     scale if name == switched else axis["scale"])
        browser.evaluate(choose_scale(""))
        self.assertEqual(browser.evaluate(DRAWN), drawn)
        self.assertEqual(browser.complaints(), [])

    def test_pointing(self):
        """Shows the values of the nearest mark, with its series, while pointing at it."""
        browser = self.browser
        browser.open(f"file://{self.page}")
        shown = "[...document.querySelectorAll('[data-readout] text')].map(one => one.textContent)"
        browser.point("[data-case]")
        self.assertEqual(" ".join(browser.evaluate(shown)),
                         browser.evaluate("document.querySelector('[data-case]').textContent"))
        browser.point("h1")
        self.assertEqual(browser.evaluate(shown), [])

    def hidden(self):
        """Returns whether each series of the page is hidden."""
        return self.browser.evaluate("""[...document.querySelectorAll("[data-series]")].map(
            series => getComputedStyle(series).display === "none")""")

    def test_hiding(self):
        """Mouse and keys hide a series in all panels of its figure, and only there."""
        browser = self.browser
        browser.open(f"file://{self.page}")
        panels = Figures(browser.evaluate("document.documentElement.outerHTML")).panels
        first = next(panel for panel in panels if panel["figure"] == "Latency by size")
        browser.evaluate("""[...document.querySelectorAll("[data-figure]")].find(
            figure => figure.querySelector("h4").textContent === "Latency by size"
        ).querySelector("[data-label]").id = "legend" """)
        name = next(iter(first["series"]))
        wanted = [panel["figure"] == first["figure"] and series == name
                  for panel in panels for series in panel["series"]]
        self.assertGreater(sum(wanted), 1)
        self.assertFalse(any(self.hidden()))
        for hide in (lambda: browser.click("#legend"), lambda: browser.press("#legend", "Enter", 13)):
            for expected in (wanted, [False] * len(wanted)):
                hide()
                self.assertEqual(self.hidden(), expected)
        self.assertEqual(browser.complaints(), [])

    def column(self, number):
        """Returns the cells of a column of the first table of cases."""
        return self.browser.evaluate(f"""[...{BOX}.querySelectorAll(
            "tbody tr:not([hidden])")].map(row => row.cells[{number}].textContent)""")

    def test_tables(self):
        """A table can be sorted by size as a number, either way, and filtered by words."""
        browser = self.browser
        browser.open(f"file://{self.page}")
        sizes = {"8": 8, "64": 64, "512": 512, "4k": 4096, "4096": 4096}
        first = [sizes[text] for text in self.column(1)]
        for order in (sorted(first), sorted(first, reverse=True)):
            browser.evaluate(f"{BOX}.querySelector('th:nth-child(2) button').click()")
            self.assertEqual([sizes[text] for text in self.column(1)], order)
        browser.evaluate(f"""(box => {{
            const filter = box.previousElementSibling.querySelector("input");
            filter.value = "READ event";
            filter.dispatchEvent(new Event("input"));
        }})({BOX})""")
        self.assertEqual(self.column(0), ["read"] * 3)
        self.assertEqual(self.column(2), ["event"] * 3)
        self.assertEqual(browser.complaints(), [])

    def test_enlarging(self):
        """A panel fills the window in a dialog, and returns to its place."""
        browser = self.browser
        browser.open(f"file://{self.page}")
        wide = "document.querySelector('[data-figure] svg, dialog svg').getBoundingClientRect().width"
        before = browser.evaluate(wide)
        drawn = browser.evaluate(DRAWN)
        browser.evaluate("document.querySelector('.panels button').click()")
        self.assertGreater(browser.evaluate(
            "document.querySelector('dialog svg').getBoundingClientRect().width"), before)
        browser.evaluate("document.querySelector('dialog button').click()")
        end = time.monotonic() + PATIENCE
        while browser.evaluate("!!document.querySelector('dialog')"):
            self.assertLess(time.monotonic(), end)
        self.assertEqual(browser.evaluate(DRAWN), drawn)
        self.assertEqual(browser.evaluate(wide), before)

    def check_contents(self):
        """Checks that the contents have a link to each heading, with its text."""
        found = self.browser.evaluate("""[...document.querySelectorAll("nav a")].map(
            link => [link.textContent, document.querySelector(link.hash)?.textContent])""")
        self.assertEqual(found, [[text] * 2 for text in self.browser.evaluate(
            "[...document.querySelectorAll('main :is(h2, h3, h4)')].map(one => one.textContent)")])

    def test_contents_stay(self):
        """The contents stay in the window while the page scrolls, beside or above the text."""
        browser = self.browser
        self.addCleanup(browser, "Emulation.clearDeviceMetricsOverride")
        for width, is_beside in ((1440, True), (800, False), (400, False)):
            browser("Emulation.setDeviceMetricsOverride", width=width, height=900,
                    deviceScaleFactor=1, mobile=False)
            browser.open(f"file://{self.page}")
            nav, main = browser.evaluate("""scrollTo(0, 3000);
                ["nav", "main"].map(name => document.querySelector(name).getBoundingClientRect())
                    .map(({left, top, right, bottom}) => ({left, top, right, bottom}))""")
            self.assertLess(main["top"], 0)
            self.assertGreaterEqual(nav["top"], 0)
            self.assertLessEqual(nav["bottom"], 900 if is_beside else 60)
            self.assertLessEqual(nav["right"], main["left"] if is_beside else width)

    def test_contents(self):
        """The list of contents has all headings, and unfolds the one that is chosen."""
        browser = self.browser
        browser.open(f"file://{self.page}")
        self.check_contents()
        chosen = "[...document.querySelectorAll('h4')].find(one => one.textContent === 'Percentiles')"
        self.assertFalse(browser.evaluate(f"{chosen}.checkVisibility()"))
        browser.evaluate("""[...document.querySelectorAll('nav a')].find(
            one => one.textContent === 'Percentiles').click()""")
        self.assertTrue(browser.evaluate(f"{chosen}.checkVisibility()"))

    def test_strict_policy(self):
        """Where a policy blocks script and style, all figures are drawn where they belong."""
        with open(self.page, encoding="utf-8") as file:
            wanted = Figures(file.read()).panels
        browser = self.browser
        with served(self.folder, JENKINS) as address:
            browser.open(f"{address}/page.html")
            self.check_contents()
            found = Figures(browser.evaluate("document.documentElement.outerHTML")).panels
            self.assertEqual(plain(found), plain(wanted))
            self.check_places(browser.evaluate(READ))
        for text in browser.complaints():
            self.assertRegex(text, "(?i)script|style|favicon|404")

    def test_folding(self):
        """A row of each figure is shown, and the rest of its panels when asked for."""
        browser = self.browser
        browser.open(f"file://{self.page}")
        shown = """[...document.querySelectorAll("[data-figure]")].map(figure => [
            figure.querySelector("h4").textContent, ...[true, false].map(isSeen => [
                ...figure.querySelectorAll("svg")].filter(
                    svg => svg.checkVisibility() === isSeen).length)])"""
        found = dict((name, counts) for name, *counts in browser.evaluate(shown))
        self.assertEqual(found["Latency by size"], [3, 6])
        self.assertEqual(found["Bandwidth by size"], [2, 0])
        browser.evaluate("[...document.querySelectorAll('summary')].find("
                         "one => one.textContent.endsWith('more panels')).click()")
        found = dict((name, counts) for name, *counts in browser.evaluate(shown))
        self.assertEqual(found["Latency by size"], [9, 0])

    def test_narrow(self):
        self.check_narrow(self.page)

    def test_paper(self):
        self.check_paper(self.page)

    def test_screens(self):
        for width, height in ((390, 3400), (1280, 2600)):
            for words, background in (
                ((), LIGHT), (("--blink-settings=preferredColorScheme=0",), DARK)
            ):
                path = f"{self.folder}/screen.png"
                self.browse(self.page, f"--screenshot={path}",
                            f"--window-size={width},{height}", *words)
                wide, rows = pixels(path)
                self.assertEqual(wide, width)
                every = collections.Counter(pixel for row in rows for pixel in row)
                self.assertIn(every.most_common(1)[0][0], background)
                self.assertGreater(sum(every[color] for color in SERIES), 50)
                # Panels are side by side, and none is cut off.
                right = max(x for row in rows for x, pixel in enumerate(row) if pixel in SERIES)
                self.assertLess(right, width - 8)
                self.assertGreater(right, width - 200)

    def test_accessibility(self):
        self.check_accessibility(self.page)
