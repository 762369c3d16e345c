# SPDX-License-Identifier: MIT
"""
Checks that every page must pass in a real browser: correct axes, a layout that fits a small
screen and paper, and the accessibility rules of axe-core.
"""

import base64
import contextlib
import html
import http.server
import json
import re
import shutil
import subprocess
import tempfile
import threading
import unittest

from chromium import PATH as CHROMIUM, Chromium
from figures import bend
from verbmark import PATIENCE

NPM = shutil.which("npm")
AXE = "axe-core@4"
# axe-core ignores content that is folded away.
OPEN = "document.querySelectorAll('details').forEach(one => one.open = true)"
# In CSS pixels. SHRINKS is how far beyond the page width Chromium scales content down to fit;
# wider content is cut off.
PAPER, MARGIN, SHRINKS = (794, 1123), 38, 1.5
# Runs axe-core and puts the parts of its result that the test needs into the page.
RUN = OPEN + """;
axe.run().then(found => {
    const result = document.createElement("pre");
    result.id = "axe";
    result.textContent = JSON.stringify({passes: found.passes.map(one => one.id),
        violations: found.violations.map(one => [one.id, one.help, one.nodes[0].html])});
    document.body.append(result);
});"""


# The policy that Jenkins serves files under by default.
JENKINS = "sandbox; default-src 'none'; img-src 'self'; style-src 'self';"
# For each panel, where the browser draws its marks and its tick labels. The center of a triangle
# is not the center of its bounding box.
READ = r"""[...document.querySelectorAll("svg")].map(svg => ({
    title: svg.querySelector("title").textContent,
    mark: svg.dataset.mark,
    axes: Object.fromEntries([...svg.querySelectorAll("[data-axis]:not([display])")].map(group => {
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
DRAWN = """[...document.querySelectorAll("svg path")].map(path => path.getAttribute("d"))"""


def choose_scale(value):
    """Returns a script that gives all figures a scale; "": the one that they were drawn with."""
    return f"document.querySelector('[data-scales] [value=\"{value}\"]').click()"


@contextlib.contextmanager
def served(folder, policy):
    """Serves the folder over HTTP under a policy; yields its address."""
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
    """Returns the value that a label stands for, in the unit of the data."""
    digits, letter = re.fullmatch(r"([\d.e+-]+)(\D?)", text).groups()
    if letter == "%":
        return float(digits) / 100
    steps = {"": 0, "k": 1, "M": 2, "G": 3, "T": 4}
    return float(digits) * (1024 if axis["sizes"] else 1000) ** steps[letter] * axis["unit"]


def place(axis, value):
    """Returns where a reader who goes by the first and last tick would put a value."""
    scale = {"data-scale": axis["scale"]}
    inside = min(max(value, float(axis["least"])), float(axis["most"]))
    first, last = axis["ticks"][0], axis["ticks"][-1]
    low, high = (bend(scale, number(axis, one["text"])) for one in (first, last))
    return first["at"] + (last["at"] - first["at"]) * (bend(scale, inside) - low) / (high - low)


def plain(panels):
    """Returns the panels as an attribute without a value writes them: with an empty string."""
    return json.loads(json.dumps(panels).replace("null", '""'))


@unittest.skipUnless(CHROMIUM, "chromium is not installed; run ci/setup test")
class Browsing(unittest.TestCase):
    """Tests of pages that are files in a temporary folder."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.browser = Chromium()
        cls.addClassCleanup(cls.browser.close)

    def browse(self, page, *words):
        """Returns what Chromium prints; fails if the page logs anything to the console."""
        ended = subprocess.run(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr",
             f"--user-data-dir={self.folder}/profile", *words, f"file://{page}"],
            capture_output=True, timeout=2 * PATIENCE, check=True,
        )
        log = ended.stderr.decode(errors="replace").splitlines()
        self.assertEqual([line for line in log if "CONSOLE" in line], [])
        return ended.stdout.decode()

    def check_places(self, panels):
        """Checks that each point is where its value belongs according to the axis labels."""
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

    def check_narrow(self, page):
        """Checks that no figure or control is wider than a small screen."""
        browser = self.browser
        browser("Emulation.setDeviceMetricsOverride", width=390, height=800,
                deviceScaleFactor=1, mobile=False)
        self.addCleanup(browser, "Emulation.clearDeviceMetricsOverride")
        browser.open(f"file://{page}")
        browser.evaluate(OPEN)
        wide = browser.evaluate("""[...document.querySelectorAll("svg, .bar *, .tiles *")].map(
            one => one.getBoundingClientRect().right)""")
        self.assertLessEqual(max(wide), 390)
        self.assertLessEqual(browser.evaluate("document.documentElement.scrollWidth"), 390)

    def check_paper(self, page):
        """Checks that the page with all details open fits on A4 paper."""
        browser = self.browser
        browser.open(f"file://{page}")
        browser.evaluate(OPEN)
        printed = browser("Page.printToPDF", paperWidth=PAPER[0] / 96, paperHeight=PAPER[1] / 96,
                          marginLeft=MARGIN / 96, marginRight=MARGIN / 96)
        found = base64.b64decode(printed["data"])
        self.assertTrue(found.startswith(b"%PDF-") and found.rstrip().endswith(b"%%EOF"))
        self.assertGreater(len(re.findall(rb"/Type /Page\b", found)), 1)
        browser("Emulation.setEmulatedMedia", media="print")
        self.addCleanup(browser, "Emulation.setEmulatedMedia", media="")
        browser("Emulation.setDeviceMetricsOverride", width=PAPER[0] - 2 * MARGIN, height=PAPER[1],
                deviceScaleFactor=1, mobile=False)
        self.addCleanup(browser, "Emulation.clearDeviceMetricsOverride")
        wide = browser.evaluate("document.documentElement.scrollWidth")
        self.assertLessEqual(wide, SHRINKS * (PAPER[0] - 2 * MARGIN))
        self.assertEqual(browser.complaints(), [])

    def check_accessibility(self, page):
        if not NPM:
            self.skipTest("npm is not installed")
        got = subprocess.run(
            [NPM, "install", "--prefix", self.folder, "--no-audit", "--no-fund",
             "--ignore-scripts", "--fetch-retries=0", AXE],
            capture_output=True, timeout=PATIENCE, check=False,
        )
        if got.returncode:
            self.skipTest(f"cannot install {AXE}")
        with open(f"{self.folder}/node_modules/axe-core/axe.min.js", encoding="utf-8") as file:
            script = file.read()
        with open(page, encoding="utf-8") as file:
            text = re.sub(r"<meta http-equiv[^>]*>", "", file.read())
        checked = f"{self.folder}/checked.html"
        with open(checked, "w", encoding="utf-8") as file:
            file.write(text.replace("</body>", f"<script>{script}{RUN}</script></body>"))
        shown = self.browse(checked, "--dump-dom", "--virtual-time-budget=60000")
        result = json.loads(html.unescape(re.search('<pre id="axe">(.*?)</pre>', shown).group(1)))
        self.assertEqual(result["violations"], [])
        self.assertGreater(len(result["passes"]), 10)
        # A rule about form controls, which are visible only when opened.
        self.assertIn("label", result["passes"])
