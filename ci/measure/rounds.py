# SPDX-License-Identifier: MIT
"""
Evaluates rounds, each a run of verbmark and one of perftest: the median ratio with its confidence
interval, the faults of a cell, and a Markdown table of a file of rounds.
"""

import itertools
import json
import math
import statistics
import sys

# Bounds of the confidence interval of the ratio.
MOST = 1.05
LEAST = 0.95
WIDTH = 0.03
# The resolution of our latencies: histogram bins of one part in 1024, but at least whole
# nanoseconds. Smaller differences do not count, for rates either.
BIN = 1 / 1024
HALF_NS_US = 0.0005
UNIT_NAMES = ((1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B"))
SCHEMA = "verbmark.versus-perftest/1"


def median_interval(values):
    """Returns the median and its 95 % confidence interval (the narrowest symmetric ranks)."""
    ordered = sorted(values)
    n = len(ordered)
    low = 0
    beyond = 0.0
    for rank in range(n // 2):
        beyond += 2 * math.comb(n, rank) / 2**n
        if beyond > 0.05:
            break
        low = rank
    return statistics.median(ordered), ordered[low], ordered[n - 1 - low]


def interval(cell):
    return median_interval([ours / theirs for ours, theirs in cell.rounds])


def is_within(ratio, low, high):
    return low >= (1 - WIDTH) * ratio and high <= (1 + WIDTH) * ratio


def is_narrow(cell):
    return is_within(*interval(cell))


def counted_interval(cell):
    """Returns the interval by the device's counters, or None if a round was not counted."""
    if not cell.counted or len(cell.counted) != len(cell.rounds):
        return None
    if not all(itertools.chain(*cell.counted)):
        return None
    return median_interval([ours / theirs for ours, theirs in cell.counted])


def counted_text(cell):
    found = counted_interval(cell)
    return ", counted %.4f to %.4f" % found[1:] if found else ""


def is_slower(cell):
    """Returns whether verbmark is slower by more than chance and the resolution explain."""
    _, low, high = interval(cell)
    if not cell.less_is_better:
        counted = counted_interval(cell)
        return (counted[2] if counted and is_within(*counted) else high) < 1 - BIN
    return low > 1 + max(BIN, HALF_NS_US / min(ours for ours, _ in cell.rounds))


def faults(cell):
    """Returns the faults of a cell as words."""
    _, low, high = interval(cell)
    found = [] if is_narrow(cell) else ["WIDE"]
    if is_slower(cell):
        found.append("SLOWER")
    if high > MOST if cell.less_is_better else low < LEAST:
        found.append("BEYOND %.2f" % (MOST if cell.less_is_better else LEAST))
    return found


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def three_digits(value):
    """Formats a value with three significant digits and without an exponent."""
    return "%.*f" % (max(0, 2 - math.floor(math.log10(value))), value)


def title(row):
    words_of = [
        row["op"],
        next("%d %s" % (row["size"] // unit, name) for unit, name in UNIT_NAMES
             if row["size"] >= unit),
    ]
    words_of += ["events"] if row["cq"] == "event" else []
    words_of += ["bidirectional"] if row["both"] else []
    words_of += ["%d queue pairs" % row["qps"]] if row["qps"] > 1 else []
    return ", ".join(words_of)


class SavedCell:
    """A cell read from a document."""

    def __init__(self, row):
        self.rounds = row["rounds"]
        self.counted = row.get("counted", [])
        self.less_is_better = row["metric"] == "lat"
        self.is_done = row["done"]


def print_row(row):
    """Prints a row of the table; returns whether the cell has no fault."""
    cell = SavedCell(row)
    found = faults(cell) + ([] if cell.is_done else ["interrupted"])
    unit = {"Mmsg/s": "M/s"}.get(row["unit"], row["unit"])
    print("| %s | %s %s | %s %s | %.3f | %.3f to %.3f | %d%s%s |" % (
        title(row),
        three_digits(statistics.median(ours for ours, _ in cell.rounds)), unit,
        three_digits(statistics.median(theirs for _, theirs in cell.rounds)), unit,
        *interval(cell), len(cell.rounds), counted_text(cell),
        "".join(", " + fault.lower() for fault in found),
    ))
    return not found


def print_table(path):
    """Prints a document as a table; returns whether all cells are done and have no fault."""
    before = read(path)
    if before["head"]["schema"] != SCHEMA:
        sys.exit("%s: not %s" % (path, SCHEMA))
    where = before["head"]["device"]
    if before["head"].get("time") == "virtual":
        where += ", virtual time"
    print("| %s | verbmark | perftest | ratio | 95 %% | rounds |" % where)
    print("| --- | --- | --- | --- | --- | --- |")
    is_good = all([print_row(row) for row in before["cells"] if row["rounds"]])
    return is_good and before["head"]["status"] == "complete"
