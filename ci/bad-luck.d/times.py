# SPDX-License-Identifier: MIT
"""Clocks that jump, hours of sweeps, and networks that lose packets or go down."""

import json
import os
import re
import statistics
import subprocess
import tempfile
import time

import verbmark as v
from scene import BUILD, TOP, Stage, check, item

# The largest ratio of latencies at the end of many sweeps to those at the beginning.
DRIFT = 1.25
SWEEP_PATIENCE = 1800
# Limit for thousands of cases: leaking a hundred bytes per case would exceed it.
SWEPT_KIB = 1536
NETEM_PATIENCE = 1200


@item("clocks that jump by a day at each reading", 6)
def clocks(tally, count, dice):
    library = os.path.join(BUILD, "bench/test/libjumping.so")
    for number in range(count):
        with tally.attempt(f"run {number}"):
            loaded = [library, *filter(None, [os.environ.get("LD_PRELOAD")])][::-1]
            jumping = ("env", f"LD_PRELOAD={':'.join(loaded)}", f"JUMPING_SEED={dice.randrange(1 << 32)}")
            both = number % 3
            with Stage(before=jumping if both != 1 else ()) as stage:
                ended = v.Ended(v.client(
                    "-n", 500, "--metric", "lat,bw", "--trials", 3, "--json", "-",
                    port=stage.server.port, before=jumping if both != 2 else (),
                ), v.RUN_PATIENCE)
            check(ended.status == 0, ended.err)
            cases = json.loads(ended.out)["cases"]
            check({found["status"] for found in cases} == {"complete"}, cases)
            spent = sum(trial["duration_ns"] for found in cases for trial in found["trials"])
            check(0 < spent < ended.seconds * 1e9, f"{spent} ns of {ended.seconds} s")


def sweep(stage, path):
    """Returns the p50 of each latency, by case id."""
    with v.Program(
        v.VERBMARK, "run", v.ADDRESS, "-p", stage.server.port, "--preset", "standard", "--json", path
    ) as program:
        status = program.wait(SWEEP_PATIENCE)
        check(os.path.exists(path), program.errors or program.out[-1:])
    with open(path, encoding="utf-8") as file:
        cases = json.load(file)["cases"]
    os.unlink(path)
    broken = {
        case["id"]: f"{case['status']}: {case.get('error')}" for case in cases
        if case["status"] not in ("complete", "skipped")
    }
    check(not broken and status == 0, broken or program.errors or program.out[-1:])
    latencies = {case["id"]: case["latency_ns"] for case in cases if "latency_ns" in case}
    # A case with few samples, as on a busy machine, has no percentiles.
    return {name: latency["p50"] for name, latency in latencies.items() if "p50" in latency}


def check_flat(tally, seen):
    """Compares the median of each latency in the last third of the sweeps with the first third."""
    check(seen, "no sweep completed")
    third = max(1, len(seen) // 3)
    ratios = [
        statistics.median(one[name] for one in seen[-third:])
        / statistics.median(one[name] for one in seen[:third])
        for name in set.intersection(*map(set, seen))
    ]
    middle = statistics.median(ratios)
    tally.notes.append(f"p50 of {len(ratios)} latencies, last third to first: {middle:.3f}")
    check(1 / DRIFT < middle < DRIFT, f"latencies drift: {min(ratios):.3f} to {max(ratios):.3f}")


@item("standard sweeps against one server, for hours", 120, is_long=True)
def sweeps(tally, count, dice):
    seen = []
    with Stage() as stage, tempfile.TemporaryDirectory() as folder:
        # The server may keep the memory of its first sweep.
        sweep(stage, f"{folder}/x.json")
        with stage.nothing_left(tally, room=SWEPT_KIB):
            over = time.monotonic() + 60 * count
            while not seen or time.monotonic() < over:
                with tally.attempt(f"sweep {len(seen) + 1}"):
                    seen.append(sweep(stage, f"{folder}/x.json"))
        with tally.attempt("the latencies"):
            check_flat(tally, seen)


@item("two virtual machines, and a network that fails in several ways", 1, is_long=True)
def netem(tally, count, dice):
    plain = {
        name: value for name, value in os.environ.items()
        if name != "LD_PRELOAD" and not name.startswith(("SOFTROCE_", "VERBMARK_SOFT"))
    }
    with tempfile.TemporaryDirectory() as folder:
        tests = os.path.join(TOP, "bench/test")
        done = subprocess.run(
            [
                os.path.join(TOP, "ci/softroce"), "--vm", "--hosts", "2", "--timeout",
                str(NETEM_PATIENCE), "--", "python3", f"{tests}/lib/tap.py", v.VERBMARK,
                f"{tests}/device/netem.py",
            ],
            capture_output=True, text=True, check=False, env=plain | {"OUT": folder},
        )
    for outcome, name in re.findall(r"(?m)^(ok|not ok) \d+ - (.*)$", done.stdout):
        with tally.attempt(name):
            check(outcome == "ok", "see bench/test/device/netem.py")
    with tally.attempt("the whole run"):
        check(done.returncode == 0, (done.stdout + done.stderr)[-400:])
