#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
history_speed.py VERBMARK [RUNS [CASES]]: times 'verbmark history' on a long history (10,000 runs
of 30 cases, all with a change point near the end). Prints seconds; has no limits of its own.
"""

import copy
import json
import os
import random
import subprocess
import sys
import tempfile
import time

SAMPLE = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../../../reports/test/lib/sample.json"
)
BATCH = 500


def make(sample, number, total, cases, chance):
    """Returns the run at minute number; the last ten are 10 % slower."""
    document = {key: value for key, value in sample.items() if key != "cases"}
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1700000000 + 60 * number))
    document["run"] = sample["run"] | {"started": when, "finished": when, "status": "complete"}
    factor = 1.1 if number >= total - 10 else 1
    document["cases"] = []
    for i in range(cases):
        case = copy.deepcopy(sample["cases"][0]) | {"id": f"send/lat/{i + 1}/poll", "size": i + 1}
        for trial in case["trials"]:
            figures = trial["latency_ns"]
            figures["p50"] *= factor * chance.gauss(1, 0.02)
            figures["p99"] = figures["p50"] * chance.gauss(2, 0.1)
        document["cases"].append(case)
    return document


def timed(what, *words):
    began = time.monotonic()
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    print(f"{what}: {time.monotonic() - began:.2f} s, status {ended.returncode}", flush=True)
    if ended.returncode not in (0, 1) or ended.stderr:
        sys.exit(ended.stderr)
    return ended.stdout


def main():
    program = sys.argv[1]
    total = int(sys.argv[2]) if len(sys.argv) > 2 else 10000
    cases = int(sys.argv[3]) if len(sys.argv) > 3 else 30
    with open(SAMPLE, encoding="utf-8") as file:
        sample = json.load(file)
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        db = f"{folder}/history.sqlite"
        history = (program, "history", "--db", db)
        began = time.monotonic()
        for first in range(0, total, BATCH):
            paths = []
            for number in range(first, min(first + BATCH, total)):
                paths.append(f"{folder}/{number}.json")
                with open(paths[-1], "w", encoding="utf-8") as file:
                    json.dump(make(sample, number, total, cases, chance), file)
            subprocess.run((*history, "add", *paths), check=True, stdout=subprocess.DEVNULL)
            for path in paths:
                os.unlink(path)
        print(f"made and added: {time.monotonic() - began:.0f} s", flush=True)
        print(timed("check", *history, "check").splitlines()[-1])
        path = f"{folder}/one.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(make(sample, total, total, cases, chance), file)
        timed("add of one more", *history, "add", path)
        timed("list", *history, "list")
        timed("show", *history, "show")
        print(f"database: {os.path.getsize(db) / 2**20:.0f} MiB")


main()
