# SPDX-License-Identifier: MIT
"""
A page in a real browser, without a network: it complains of nothing, draws what the page
says in light and in dark, on wide and on narrow screens, hides and switches what it is asked
to, also where its script is forbidden, and what axe-core checks of accessibility it passes.
Skipped where there is no Chromium; that check without npm, or with no package of it within
reach.
"""

import collections
import contextlib
import html
import http.server
import json
import re
import shutil
import struct
import subprocess
import tempfile
import threading
import time
import unittest
import zlib

from chromium import PATH as CHROMIUM, Chromium
from cli_page import Figures, bend, latency, load, spread, sweep
from verbmark import PATIENCE, verbmark

NPM = shutil.which("npm")
AXE = "axe-core@4"
# Of the first series, as it is drawn on both backgrounds.
BLUE = (0x1A, 0x7F, 0xC1)
LIGHT, DARK = (255, 255, 255), (0x12, 0x12, 0x12)
# What of axe-core's result is told.
RUN = """axe.run().then(found => {
    const told = document.createElement("pre");
    told.id = "axe";
    told.textContent = JSON.stringify({passes: found.passes.length,
        violations: found.violations.map(one => [one.id, one.help, one.nodes[0].html])});
    document.body.append(told);
});"""


# What Jenkins serves files under, unless its administrator says otherwise.
JENKINS = "sandbox; default-src 'none'; img-src 'self'; style-src 'self';"
# Of each panel where the browser has its marks, and what it has written beside its ticks. Of a
# triangle the middle is not that of its box.
READ = r"""[...document.querySelectorAll("svg")].map(svg => ({
    title: svg.querySelector("title").textContent,
    mark: svg.dataset.mark,
    axes: Object.fromEntries([...svg.querySelectorAll("[data-axis]")].map(group => {
        const [grid, labels] = group.children;
        const name = group.dataset.axis;
        const at = [...grid.getAttribute("d").matchAll(/M(\S+) ([^HV]+)[HV]/g)];
        return [name, {
            scale: group.dataset.scale, least: group.dataset.least, most: group.dataset.most,
            unit: +group.dataset.unit, sizes: "sizes" in group.dataset,
            ticks: [...labels.children].map((label, i) => {
                const box = label.getBBox();
                return {text: label.textContent, at: +at[i][name === "x" ? 1 : 2],
                        label: name === "x" ? box.x + box.width / 2 : box.y + box.height / 2};
            }),
        }];
    })),
    points: [...svg.querySelectorAll("[data-case]")].map(path => {
        const box = path.getBBox(), d = path.getAttribute("d");
        const above = d.includes("m0-4l4 7") ? 4 : d.includes("m0 4l4-7") ? 3 : box.height / 2;
        return {...path.dataset, at: {x: box.x + box.width / 2, y: box.y + above},
                box: [box.x, box.y, box.x + box.width, box.y + box.height]};
    }),
}))"""
SWITCHES = "[role=radiogroup][aria-label^='axis of']"
# All axes that can be switched, to what they are not.
SWITCH = f"""document.querySelectorAll("{SWITCHES}").forEach(
    group => group.querySelector("input:not(:checked)").click())"""
DRAWN = """[...document.querySelectorAll("svg path")].map(path => path.getAttribute("d"))"""


@contextlib.contextmanager
def served(folder, policy):
    """The folder, by HTTP, under a policy: its address."""
    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=folder)

        def end_headers(self):
            self.send_header("Content-Security-Policy", policy)
            super().end_headers()

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def number(axis, text):
    """What a label stands for, in the values' own unit."""
    digits, letter = re.fullmatch(r"([\d.e+-]+)(\D?)", text).groups()
    if letter == "%":
        return float(digits) / 100
    steps = {"": 0, "k": 1, "m": 2, "g": 3} if axis["sizes"] else \
        {"": 0, "k": 1, "M": 2, "G": 3, "T": 4}
    return float(digits) * (1024 if axis["sizes"] else 1000) ** steps[letter] * axis["unit"]


def place(axis, value):
    """Where a reader of the first and the last tick would put it."""
    scale = {"data-scale": axis["scale"]}
    inside = min(max(value, float(axis["least"])), float(axis["most"]))
    first, last = axis["ticks"][0], axis["ticks"][-1]
    low, high = (bend(scale, number(axis, one["text"])) for one in (first, last))
    return first["at"] + (last["at"] - first["at"]) * (bend(scale, inside) - low) / (high - low)


def plain(panels):
    """An attribute without a value is written with an empty one."""
    return json.loads(json.dumps(panels).replace("null", '""'))


def document():
    """All figures that there are."""
    made = sweep()
    made["cases"] += [load(f"send/load/64/poll/rate{rate}", rate, spread(rate), False)
                      for rate in (600, 700, 800)]
    line = latency("send/lat/512/event", spread(900))
    beside = latency("send/lat/512/poll", spread(800))
    line["beside"] = {"case": beside["id"], "by": "cq"}
    made["cases"] += [beside, line]
    return made


def baseline(number):
    """Cases that are there as well, which take longer, and one that is not."""
    made = sweep()
    made["cases"] = [latency(f"{operation}/lat/64/poll", spread(1200 + 10 * number))
                     for operation in ("send", "read", "write", "write-imm")]
    made["run"] |= {"started": f"2001-02-03T03:0{number}:06Z",
                    "finished": f"2001-02-03T03:0{number}:07Z"}
    return made


def pixels(path):
    """Of a PNG with 8 bits to a channel: its width, and its rows of (red, green, blue)."""
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


@unittest.skipUnless(CHROMIUM, "there is no chromium; ci/setup test installs it")
class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
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
        cls.browser = Chromium()
        cls.addClassCleanup(cls.browser.close)

    def browse(self, *words, page=None):
        """What it prints; whatever a page complains of goes to standard error."""
        ended = subprocess.run(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr",
             f"--user-data-dir={self.folder}/profile", *words, f"file://{page or self.page}"],
            capture_output=True, timeout=2 * PATIENCE, check=True,
        )
        told = ended.stderr.decode(errors="replace").splitlines()
        self.assertEqual([line for line in told if "CONSOLE" in line], [])
        return ended.stdout.decode()

    def test_what_is_drawn(self):
        """The browser has each panel and each series that the page has."""
        with open(self.page, encoding="utf-8") as file:
            wanted = Figures(file.read()).panels
        found = Figures(self.browse("--dump-dom")).panels
        self.assertEqual(len({panel["figure"] for panel in found}), 15)
        for one, other in zip(found, wanted, strict=True):
            self.assertEqual(one["title"], other["title"])
            self.assertEqual(
                {name: len(points) for name, points in one["series"].items()},
                {name: len(points) for name, points in other["series"].items()},
            )

    def check_places(self, panels):
        """As those who look at it read it, from the labels of the axes."""
        for panel in panels:
            axes = {name: axis for name, axis in panel["axes"].items() if axis["ticks"]}
            for axis in axes.values():
                self.assertGreater(len(axis["ticks"]), 1, panel["title"])
                for tick in axis["ticks"][:-1]:
                    self.assertAlmostEqual(tick["at"], tick["label"], delta=2)
            for point in panel["points"]:
                for name, axis in axes.items():
                    if panel["mark"] == "bars":
                        ends = ("low", "high") if name == "x" else ("y",)
                        at = point["box"][:3:2] if name == "x" else point["box"][1:2]
                    else:
                        ends, at = (name,), (point["at"][name],)
                    for end, found in zip(ends, at, strict=True):
                        self.assertAlmostEqual(place(axis, float(point[end])), found, delta=0.16,
                                               msg=f"{panel['title']}: {name} of {point}")

    def test_places(self):
        """Both as it is drawn first, and on the other axes; and there is a way back."""
        browser = self.browser
        browser.open(f"file://{self.page}")
        panels = browser.evaluate(READ)
        self.assertGreater(len(panels), 60)
        self.check_places(panels)
        drawn = browser.evaluate(DRAWN)
        browser.evaluate(SWITCH)
        others = browser.evaluate(READ)
        self.check_places(others)
        for figure, one, other in zip(Figures(browser.evaluate(
                "document.documentElement.outerHTML")).panels, panels, others, strict=True):
            for name, axis in one["axes"].items():
                is_fixed = axis["scale"] == "nines" or (name == "x" and "trial" in figure["figure"]) \
                    or (name == "y" and one["mark"] == "intervals")
                self.assertEqual(other["axes"][name]["scale"], axis["scale"] if is_fixed else
                                 {"log": "linear", "linear": "log"}[axis["scale"]])
        browser.evaluate(SWITCH)
        self.assertEqual(browser.evaluate(DRAWN), drawn)
        self.assertEqual(browser.complaints(), [])

    def test_pointing(self):
        """What is near is told, with its series as long as that is shown."""
        browser = self.browser
        browser.open(f"file://{self.page}")
        told = "[...document.querySelectorAll('[data-readout] text')].map(one => one.textContent)"
        browser.point("[data-case]")
        self.assertEqual(" ".join(browser.evaluate(told)),
                         browser.evaluate("document.querySelector('[data-case]').textContent"))
        browser.point("h1")
        self.assertEqual(browser.evaluate(told), [])

    def check_hiding(self, browser):
        """By mouse and by keys, one series of all panels of its figure."""
        figure = "[data-figure]:has(#r0f0s0h)"

        def shown():
            return (browser.style(f"{figure} [data-series]", "display"),
                    browser.style(f"{figure} svg g", "opacity"))

        def wait(wanted):
            end = time.monotonic() + PATIENCE
            while shown() != wanted and time.monotonic() < end:
                time.sleep(0.05)
            self.assertEqual(shown(), wanted)

        wait(("inline", "1"))
        browser.click(f"{figure} summary")
        for _ in range(2):
            browser.click("#r0f0s0h")
            wait(("none", "0.3"))
            browser.click("#r0f0s0s")
            wait(("inline", "1"))
        browser.press("#r0f0s0s", "ArrowRight", 39)
        wait(("none", "0.3"))
        panels = Figures(browser.evaluate("document.documentElement.outerHTML")).panels
        first = next(panel for panel in panels if panel["figure"] == "Latency by size")
        name, *others = first["series"]
        wanted = [panel["figure"] == first["figure"] and series == name
                  for panel in panels for series in panel["series"]]
        hidden = browser.evaluate("""[...document.querySelectorAll("[data-series]")].map(
            series => getComputedStyle(series).display === "none")""")
        self.assertEqual(hidden, wanted)
        self.assertTrue(others and sum(hidden) > 1)

    def test_hiding(self):
        browser = self.browser
        browser.open(f"file://{self.page}")
        self.check_hiding(browser)
        self.assertEqual(browser.complaints(), [])

    def test_a_strict_policy(self):
        """No script, and nothing else is missing, nor is anything else forbidden."""
        with open(self.page, encoding="utf-8") as file:
            wanted = Figures(file.read()).panels
        browser = self.browser
        with served(self.folder, JENKINS) as address:
            browser.open(f"{address}/page.html")
            self.assertEqual(browser.evaluate(f"document.querySelectorAll(\"{SWITCHES}\").length"),
                             0)
            found = Figures(browser.evaluate("document.documentElement.outerHTML")).panels
            self.assertEqual(plain(found), plain(wanted))
            self.check_places(browser.evaluate(READ))
            self.check_hiding(browser)
        for text in browser.complaints():
            self.assertRegex(text, "(?i)script|favicon|404")

    def test_narrow(self):
        """No figure, and no control of one, is wider than a small screen."""
        browser = self.browser
        browser("Emulation.setDeviceMetricsOverride", width=390, height=800,
                deviceScaleFactor=1, mobile=False)
        self.addCleanup(browser, "Emulation.clearDeviceMetricsOverride")
        browser.open(f"file://{self.page}")
        browser.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        wide = browser.evaluate("""[...document.querySelectorAll("svg, [role=radiogroup] *")].map(
            one => one.getBoundingClientRect().right)""")
        self.assertLessEqual(max(wide), 390)

    def test_screens(self):
        for width, height in ((390, 3400), (1280, 1600)):
            for words, background in (
                ((), LIGHT), (("--blink-settings=preferredColorScheme=0",), DARK)
            ):
                path = f"{self.folder}/screen.png"
                self.browse(f"--screenshot={path}", f"--window-size={width},{height}", *words)
                wide, rows = pixels(path)
                self.assertEqual(wide, width)
                every = collections.Counter(pixel for row in rows for pixel in row)
                self.assertEqual(every.most_common(1)[0][0], background)
                self.assertGreater(every[BLUE], 100)
                # Panels stand beside each other, and none is cut off.
                right = max(x for row in rows for x, pixel in enumerate(row) if pixel == BLUE)
                self.assertLess(right, width - 8)
                self.assertGreater(right, width - 200)

    @unittest.skipUnless(NPM, "there is no npm")
    def test_accessibility(self):
        got = subprocess.run(
            [NPM, "install", "--prefix", self.folder, "--no-audit", "--no-fund",
             "--ignore-scripts", "--fetch-retries=0", AXE],
            capture_output=True, timeout=PATIENCE, check=False,
        )
        if got.returncode:
            self.skipTest(f"{AXE} is not within reach")
        with open(f"{self.folder}/node_modules/axe-core/axe.min.js", encoding="utf-8") as file:
            script = file.read()
        with open(self.page, encoding="utf-8") as file:
            text = re.sub(r"<meta http-equiv[^>]*>", "", file.read())
        page = f"{self.folder}/checked.html"
        with open(page, "w", encoding="utf-8") as file:
            file.write(text.replace("</body>", f"<script>{script}{RUN}</script></body>"))
        shown = self.browse("--dump-dom", "--virtual-time-budget=60000", page=page)
        told = json.loads(html.unescape(re.search('<pre id="axe">(.*?)</pre>', shown).group(1)))
        self.assertEqual(told["violations"], [])
        self.assertGreater(told["passes"], 10)
