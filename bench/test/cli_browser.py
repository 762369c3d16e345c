# SPDX-License-Identifier: MIT
"""
A page in a real browser, without a network: it complains of nothing, draws what the page
says in light and in dark, on wide and on narrow screens, and what axe-core checks of
accessibility it passes. Skipped where there is no Chromium; that check without npm, or with
no package of it within reach.
"""

import collections
import html
import json
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
import zlib

from cli_page import Figures, latency, load, spread, sweep
from verbmark import PATIENCE, verbmark

CHROMIUM = shutil.which("chromium")
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
        ended = verbmark("report", "--format", "html", f"{cls.folder}/a.json", "-o", cls.page)
        assert not ended.status, ended.err

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
        self.assertEqual(len({panel["figure"] for panel in found}), 14)
        for one, other in zip(found, wanted, strict=True):
            self.assertEqual(one["title"], other["title"])
            self.assertEqual(
                {name: len(points) for name, points in one["series"].items()},
                {name: len(points) for name, points in other["series"].items()},
            )

    def test_screens(self):
        for width in (390, 1280):
            for words, background in (
                ((), LIGHT), (("--blink-settings=preferredColorScheme=0",), DARK)
            ):
                path = f"{self.folder}/screen.png"
                self.browse(f"--screenshot={path}", f"--window-size={width},700", *words)
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
