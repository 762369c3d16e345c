# SPDX-License-Identifier: MIT
"""
gate_side.py STATE [KEY=VALUE...] run ...: stands in for a verbmark that is an arm of a gate. It
reads the plan from standard input and writes a result of it, whose figures are those of a
formula: lat= and bw= are factors, noise= is a standard deviation, warm= is for how many
seconds 4k says that it has warmed up, and the n-th run of a STATE
has noise of its own, the same each time. outlier=N: the N-th run is ten times as slow;
broken=N: all from the N-th on have a case that failed; once=N: the N-th alone; stumbles=N: that
one alone has no result, and says why; dies=N: so have all from the N-th on; garbage=N: it writes no result; hangs=N: it does neither; lingers=N: a child of
its outlives it and has its standard error; losses=N: its device counts some; late=N: it takes ten
seconds; moves=N: from then on its hosts are others; kernel=NAME: of the hosts; revision=HEX: of
the program, as it is in the result, in hexadecimal digits.
"""

import copy
import json
import os
import random
import sys
import time

SAMPLE = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../../../reports/test/lib/sample.json"
)
LATENCY_NS = 10000
BYTES_PER_S = 1e9
TEXTS = ("kernel", "revision")


def scale(case, name, wanted):
    for trial in case["trials"]:
        trial["warmup"]["converged"] = True
        figures = trial["latency_ns" if name == "lat" else "bandwidth"]
        factor = wanted / figures["p50" if name == "lat" else "bytes_per_s"]
        for figure in figures:
            figures[figure] *= factor


def made(sample, product, factors, noise):
    metric = product["metric"][0]
    size = product.get("size", [64])[0]
    kind = [case for case in sample["cases"] if case["status"] == "complete"]
    case = copy.deepcopy(kind[0] if metric == "lat" else kind[1])
    text = f"{size // 1024}k" if size % 1024 == 0 else str(size)
    # The size of the sample's stays: its windows are multiples of it.
    case |= {"op": product["op"][0],
             "id": f"{product['op'][0]}/{metric}/{text}/poll"}
    wanted = LATENCY_NS if metric == "lat" else BYTES_PER_S
    if size == 4096 and factors["warm"]:
        for trial in case["trials"]:
            trial["warmup"]["duration_ns"] = round(1e9 * factors["warm"])
    scale(case, metric, wanted * factors[metric] * noise.gauss(1, factors["noise"]))
    return case


def main():
    state = sys.argv[1]
    words = sys.argv[2 : sys.argv.index("run")]
    factors = {"lat": 1.0, "bw": 1.0, "noise": 0.01, "warm": 0.0}
    events = {}
    for word in words:
        key, value = word.split("=")
        if key in factors:
            factors[key] = float(value)
        else:
            events[key] = value
    with open(state, "a+", encoding="ascii") as file:
        file.write(".")
        file.flush()
        number = file.tell()
    with open(f"{state}.words", "w", encoding="utf-8") as file:
        json.dump(sys.argv, file)
    after = {key for key, value in events.items() if key not in TEXTS and number >= int(value)}
    if "dies" in after or number == int(events.get("stumbles", 0)):
        sys.exit("verbmark: the card has caught fire\n")
    if "hangs" in after:
        time.sleep(600)
    if "late" in after:
        time.sleep(10)
    if "lingers" in after:
        import subprocess  # here, since it is slow to import and seldom needed

        subprocess.Popen(("sleep", "90"), stdout=subprocess.DEVNULL, start_new_session=True)
    if "garbage" in after:
        print("perhaps")
        return
    if number == int(events.get("outlier", 0)):
        factors["lat"] *= 10
        factors["bw"] /= 10
    with open(SAMPLE, encoding="utf-8") as file:
        sample = json.load(file)
    plan = json.load(sys.stdin)
    noise = random.Random(f"{os.path.basename(state)} {number}")
    cases = [made(sample, product, factors, noise) for product in plan]
    if "broken" in after or number == int(events.get("once", 0)):
        cases[0] = {key: value for key, value in cases[0].items()
                    if key not in ("latency_ns", "bandwidth", "trials")}
        cases[0] |= {"status": "failed", "error": "no completion for 5 s", "trials": []}
    if "losses" in after:
        for case in cases:
            case["counters"] = {"client": {"packet_seq_err": 3}, "server": {}}
    for end in sample["hosts"].values():
        end["facts"] = {"kernel": {"release": events.get("kernel", "6.1")},
                        "tool": {"compiler": state}}
        if "revision" in events:
            end["facts"]["tool"]["revision"] = bytes.fromhex(events["revision"]).decode()
        end["hard_fingerprint"] = "0123456789abcdef"
        if "kernel" in events or "moves" in after:
            end["hard_fingerprint"] = "fedcba9876543210"
    sample["cases"] = cases
    sample["run"]["status"] = "complete"
    sample.pop("warnings", None)
    json.dump(sample, sys.stdout)


main()
