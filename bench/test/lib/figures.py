# SPDX-License-Identifier: MIT
"""Parses the figures of a page from its markup, and computes where an axis puts a value."""

import html.parser
import math


class Figures(html.parser.HTMLParser):
    """The panels of a page: their headings, axes, and series of points."""

    def __init__(self, text):
        super().__init__()
        self.panels = []
        self.heading = self.into = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        # Skip the alternative axes and levels, which are hidden until selected.
        if attrs.get("display") == "none":
            return
        if tag == "h4":
            self.heading, self.into = "", "heading"
        elif tag == "svg":
            self.panels.append({"figure": self.heading, "axes": {}, "series": {}, "levels": [],
                                "title": "", "desc": "", "attrs": attrs})
            self.into = "panel"
        elif tag in ("title", "desc") and self.into == "panel":
            self.into = tag
        elif "data-axis" in attrs:
            self.panels[-1]["axes"][attrs["data-axis"]] = attrs
        elif "data-series" in attrs:
            self.points = self.panels[-1]["series"].setdefault(attrs["data-series"], [])
        elif "data-level" in attrs:
            self.panels[-1]["levels"].append(float(attrs["data-value"]))
        elif "data-case" in attrs:
            self.points.append(attrs)
            self.into = "hint"
            attrs["hint"] = ""

    def handle_endtag(self, tag):
        if tag in ("title", "desc") and self.into in ("title", "desc"):
            self.into = "panel"
        elif tag == "h4" or self.into == "hint":
            self.into = None

    def handle_data(self, data):
        if self.into == "heading":
            self.heading += data
        elif self.into in ("title", "desc"):
            self.panels[-1][self.into] += data
        elif self.into == "hint":
            self.points[-1]["hint"] += data


def bend(axis, value):
    if axis["data-scale"] == "log":
        return math.log(value)
    if axis["data-scale"] == "nines":
        return -math.log10(1 - value)
    return value


def place(axis, value):
    least, most, first, last = (
        float(axis[f"data-{name}"]) for name in ("least", "most", "from", "to")
    )
    value = min(max(value, least), most)
    span = bend(axis, most) - bend(axis, least)
    return first + (last - first) * (bend(axis, value) - bend(axis, least)) / span
