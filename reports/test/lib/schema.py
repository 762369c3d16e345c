# SPDX-License-Identifier: MIT
"""
schema.py SCHEMA SAMPLE SAMPLE_DOCUMENTS: validates, with the independent python3-jsonschema, the
sample, the documents that SAMPLE_DOCUMENTS writes, and samples with one defect each. Prints TAP.
"""

import copy
import json
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("1..0 # SKIP no python3-jsonschema: ci/setup test")
    sys.exit()

DROP = object()
LAT = ("cases", 0)
BW = ("cases", 1)
FAILED = ("cases", 2)
SKIPPED = ("cases", 3)
NOT_RUN = ("cases", 4)
FIGURES = (*LAT, "latency_ns")
RATES = (*BW, "bandwidth")
BINS = (*FIGURES, "histogram", "bins")
INTERVAL = (*RATES, "intervals", "bytes_per_s")
TRIAL = (*LAT, "trials", 0)
COST = (*LAT, "cpu", "server")
CLIENT = ("hosts", "client")
CLOCK = ("run", "clock")

# A path, and the value that replaces the one there.
DEFECTS = (
    (("schema",), "verbmark.result/2"),
    (("schema",), DROP),
    (("tool",), DROP),
    (("tool", "name"), "perftest"),
    (("tool", "version"), 1),
    (("run",), DROP),
    (("run", "started"), "yesterday"),
    (("run", "finished"), DROP),
    (("run", "status"), "good"),
    (("run", "status"), "skipped"),
    (("run", "command"), "verbmark run"),
    (("run", "command"), []),
    (("run", "plan"), {"op": ["send"]}),
    (("run", "plan", 0, "size"), 64),
    (("run", "plan", 0, "size"), []),
    (CLOCK, DROP),
    ((*CLOCK, "kind"), "sundial"),
    ((*CLOCK, "hz"), 0),
    ((*CLOCK, "hz"), 2.5e9 + 0.5),
    ((*CLOCK, "drift_ppm"), None),
    ((*CLOCK, "resolution_ns"), "0.4"),
    ((*CLOCK, "cost_ns"), 7.6),
    ((*CLOCK, "rate"), 1),
    (("hosts", "server"), DROP),
    ((*CLIENT, "device"), ""),
    ((*CLIENT, "port"), 0),
    ((*CLIENT, "port"), "1"),
    ((*CLIENT, "address"), DROP),
    ((*CLIENT, "kind"), "unknown"),
    ((*CLIENT, "link_layer"), "Token Ring"),
    ((*CLIENT, "rate_mbps"), -1),
    ((*CLIENT, "mtu"), DROP),
    ((*CLIENT, "hard_fingerprint"), "0123456789ABCDEF"),
    (("cases",), {}),
    (("cases",), []),
    ((*LAT, "id"), DROP),
    ((*LAT, "id"), "send/lat/64"),
    ((*LAT, "id"), "send/lat/64b/poll"),
    ((*LAT, "id"), "send/lat/64/poll/"),
    ((*LAT, "id"), "send/lat/64/poll/" + "x" * 623),
    ((*LAT, "op"), 0),
    ((*LAT, "metric"), "speed"),
    ((*LAT, "size"), 0),
    ((*LAT, "size"), "64"),
    ((*LAT, "size"), 64.5),
    ((*LAT, "size"), 1073741825),
    ((*LAT, "cq"), "busy"),
    ((*LAT, "server_cq"), DROP),
    ((*LAT, "transport"), "TCP"),
    ((*LAT, "tx_depth"), "64"),
    ((*LAT, "timeout"), 32),
    ((*LAT, "retries"), 8),
    ((*LAT, "hugepages"), 0),
    ((*LAT, "relaxed_ordering"), True),
    ((*LAT, "server_gid_index"), -1),
    ((*LAT, "sge"), 0),
    ((*LAT, "access"), "some"),
    ((*LAT, "access"), "stride="),
    ((*LAT, "buffer"), "1g"),
    ((*LAT, "server_pin"), -1),
    ((*LAT, "numa"), "auto"),
    ((*LAT, "server_pin"), "on"),
    ((*LAT, "placement"), []),
    ((*LAT, "placement", "client"), "0-3"),
    ((*LAT, "placement", "client", "cpus"), DROP),
    ((*LAT, "placement", "client", "cpus"), ""),
    ((*LAT, "placement", "client", "numa_node"), -1),
    ((*LAT, "chosen"), []),
    ((*LAT, "chosen", "server"), 7),
    ((*LAT, "chosen", "client", "post_call"), "ioctl"),
    ((*LAT, "chosen", "client", "inline"), 1),
    ((*LAT, "chosen", "client", "path_mtu_bytes"), "1024"),
    ((*LAT, "chosen", "client", "gid_type"), "RoCE v3"),
    ((*LAT, "chosen", "server", "spin_ns"), -1),
    ((*BW, "duration_ns"), -1),
    ((*BW, "duration_ns"), "25ms"),
    ((*LAT, "status"), DROP),
    ((*LAT, "status"), "done"),
    # Members that depend on the status.
    ((*LAT, "status"), "failed"),
    ((*LAT, "status"), "skipped"),
    ((*LAT, "status"), "interrupted"),
    ((*BW, "status"), "interrupted"),
    ((*LAT, "metric"), "bw"),
    ((*BW, "metric"), "lat"),
    ((*LAT, "error"), "but it is complete"),
    ((*LAT, "latency_ns"), DROP),
    ((*LAT, "cpu"), DROP),
    ((*LAT, "trials"), []),
    ((*LAT, "trials"), DROP),
    ((*BW, "bandwidth"), DROP),
    ((*BW, "cpu"), DROP),
    ((*FAILED, "error"), DROP),
    ((*FAILED, "error"), ""),
    ((*FAILED, "status"), "complete"),
    ((*SKIPPED, "error"), DROP),
    ((*SKIPPED, "trials"), 6),
    ((*NOT_RUN, "status"), "complete"),
    ((*NOT_RUN, "status"), "failed"),
    # Latencies.
    ((*FIGURES, "count"), 0),
    ((*FIGURES, "count"), DROP),
    ((*FIGURES, "kind"), "quarter"),
    ((*FIGURES, "kind"), DROP),
    ((*FIGURES, "min"), DROP),
    ((*FIGURES, "min"), -1),
    ((*FIGURES, "mean"), "1240"),
    ((*FIGURES, "p50"), None),
    ((*FIGURES, "p99_9"), "-"),
    ((*FIGURES, "max"), DROP),
    ((*FIGURES, "intervals"), DROP),
    ((*FIGURES, "histogram"), DROP),
    ((*INTERVAL, "low"), DROP),
    ((*FIGURES, "intervals", "p50"), 0),
    ((*INTERVAL, "half_width"), 5),
    ((*FIGURES, "histogram", "scheme"), "linear"),
    ((*FIGURES, "histogram", "sub_bits"), 7),
    ((*FIGURES, "histogram", "unit"), "us"),
    ((*FIGURES, "histogram", "unit"), "bytes/s"),
    ((*FIGURES, "histogram", "count"), 61.5),
    ((*FIGURES, "histogram", "min"), -1),
    ((*FIGURES, "histogram", "over"), DROP),
    ((*FIGURES, "histogram", "hdr_v2"), "HISTFAAA!"),
    (BINS, {}),
    ((*BINS, 0), [1230, 1231]),
    ((*BINS, 0), [1230, 1231, 20, 0]),
    ((*BINS, 0), [1230, 1231, 0]),
    ((*BINS, 0), [1230, 1231, 1.5]),
    ((*BINS, 0), [-1, 0, 1]),
    ((*BINS, 0), {"low": 1230, "high": 1231, "count": 20}),
    ((*LAT, "warmup_latency_ns", "count"), 0),
    ((*LAT, "warmup_latency_ns", "histogram"), DROP),
    ((*LAT, "warmup_latency_ns", "histogram", "unit"), "bytes/s"),
    ((*FAILED, "warmup_latency_ns"), {}),
    # Bandwidths.
    ((*RATES, "bytes"), DROP),
    ((*RATES, "messages"), -1),
    ((*RATES, "duration_ns"), "150ms"),
    ((*RATES, "bytes_per_s"), DROP),
    ((*RATES, "messages_per_s"), None),
    ((*RATES, "intervals", "bytes_per_s"), DROP),
    ((*RATES, "intervals", "messages_per_s", "low"), DROP),
    ((*RATES, "window_ns"), 0),
    ((*RATES, "windows"), DROP),
    ((*RATES, "windows", 0), -1),
    ((*RATES, "windows", 0), 1.5),
    ((*RATES, "windows"), [1] * 4097),
    ((*RATES, "histogram"), DROP),
    ((*RATES, "histogram", "unit"), "ns"),
    # Trials and their costs.
    ((*TRIAL, "warmup"), DROP),
    ((*TRIAL, "warmup", "converged"), 1),
    ((*TRIAL, "warmup", "trials"), 1),
    ((*TRIAL, "messages"), 0),
    ((*TRIAL, "duration_ns"), 0),
    ((*TRIAL, "cpu"), DROP),
    ((*TRIAL, "latency_ns"), DROP),
    ((*TRIAL, "latency_ns", "max"), DROP),
    ((*BW, "trials", 5, "bandwidth"), DROP),
    ((*BW, "trials", 5, "bandwidth", "bytes_per_s"), "fast"),
    ((*LAT, "cpu", "client"), DROP),
    ((*COST, "messages"), DROP),
    ((*COST, "user_ns"), -1),
    ((*COST, "cq_events"), 0.5),
)


# Defects of the last document but one that SAMPLE_DOCUMENTS writes.
CROWD_DEFECTS = (
    (("crowds",), []),
    (("crowds", 0, "at"), DROP),
    (("crowds", 0, "beyond", "queue_pairs"), 0),
    (("crowds", 0, "beyond", "messages_per_s"), DROP),
)
# Defects of the last document.
LOAD = ("cases", 2)
LAG = (*LOAD, "load", "lag_ns")
LOAD_DEFECTS = (
    ((*LOAD, "metric"), "lat"),
    ((*LOAD, "status"), "failed"),
    ((*LOAD, "saturated"), DROP),
    ((*LOAD, "saturated"), 1),
    ((*LOAD, "load"), DROP),
    ((*LOAD, "latency_ns"), DROP),
    ((*LOAD, "rate"), DROP),
    ((*LOAD, "rate"), 300000),
    ((*LOAD, "rate"), "10 %"),
    ((*LOAD, "arrivals"), "uniform"),
    ((*LOAD, "load", "rate"), DROP),
    ((*LOAD, "load", "messages_per_s"), "1M"),
    ((*LOAD, "load", "unsent"), -1),
    ((*LOAD, "load", "maximum", "case"), DROP),
    ((*LOAD, "load", "uncorrected_ns"), DROP),
    (LAG, []),
    ((*LAG, "count"), 0),
    ((*LAG, "histogram"), DROP),
    ((*LAG, "histogram", "unit"), "bytes/s"),
    ((*LOAD, "trials", 1, "load"), DROP),
    ((*LOAD, "trials", 1, "load", "rate"), 0),
    ((*LOAD, "trials", 1, "load", "saturated"), "no"),
    (("knees",), []),
    (("knees", 0, "at"), DROP),
    (("knees", 0, "below"), {"case": "a", "rate": 1, "p99_ns": 1, "saturated": True}),
    (("knees", 0, "beyond", "p99_ns"), "2 us"),
    (("knees", 0, "left_out"), []),
    (("knees", 0, "left_out", 0, "reason"), DROP),
)


class Tap:
    def __init__(self):
        self.number = 0
        self.bad = 0

    def check(self, text, errors):
        self.number += 1
        self.bad += bool(errors)
        print(f"{'not ok' if errors else 'ok'} {self.number} - {text}")
        for error in errors:
            print(f"# {error}")


def sentences(validator, document):
    return [
        f"{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"
        for error in validator.iter_errors(document)
    ]


def defective(sample, where, value):
    document = copy.deepcopy(sample)
    parent = document
    for step in where[:-1]:
        parent = parent[step]
    if value is DROP:
        del parent[where[-1]]
    else:
        parent[where[-1]] = value
    return document


def objects(schema):
    """Yields each object schema that names its members, with its path."""
    for where, part in walk(schema, ()):
        if isinstance(part, dict) and part.get("type") == "object" and "properties" in part:
            yield where, part


def walk(part, where):
    yield where, part
    if isinstance(part, (dict, list)):
        for key, value in part.items() if isinstance(part, dict) else enumerate(part):
            yield from walk(value, (*where, key))


def undescribed(schema):
    for where, part in objects(schema):
        for name, member in part["properties"].items():
            target = schema["$defs"].get(member.get("$ref", "").rpartition("/")[2], {})
            if "description" not in member and "description" not in target:
                yield f"{'/'.join(map(str, where))}: {name}"


def closed(schema):
    """Returns a copy of the schema that rejects members it does not name."""
    made = copy.deepcopy(schema)
    for where, part in objects(made):
        # Other objects include its members.
        if where != ("$defs", "figures"):
            part["unevaluatedProperties"] = False
    for name in ("latency", "warmup_latency", "beside"):
        made["$defs"][name]["unevaluatedProperties"] = False
    return made


def extended(sample):
    """Returns a copy of the sample with unknown members."""
    document = copy.deepcopy(sample)
    for part in (
        document, document["tool"], document["run"], document["hosts"],
        document["hosts"]["client"], document["cases"][0], document["cases"][0]["latency_ns"],
        document["cases"][0]["trials"][0], document["cases"][0]["cpu"]["client"],
        document["cases"][1]["bandwidth"], document["cases"][2],
        document["cases"][0]["chosen"], document["cases"][0]["chosen"]["server"],
    ):
        part["of_the_future"] = {"any": ["thing"]}
    return document


def main():
    paths = sys.argv[1:3]
    schema, sample = (json.load(open(path, encoding="utf-8")) for path in paths)
    lines = subprocess.run(
        [sys.argv[3]], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    tap = Tap()
    make = jsonschema.Draft202012Validator
    try:
        make.check_schema(schema)
        tap.check("the schema is valid", [])
    except jsonschema.SchemaError as error:
        tap.check("the schema is valid", [error.message])
    tap.check("each member has a description", list(undescribed(schema)))
    validator = make(schema)
    tap.check("the sample is valid", sentences(validator, sample))
    by_hand = defective(sample, (*CLIENT, "address"), "")
    tap.check("an empty address is valid", sentences(validator, by_hand))
    tap.check("unknown members are valid", sentences(validator, extended(sample)))
    unknown = sentences(make(closed(schema)), extended(sample))
    tap.check("the closed schema rejects unknown members", [] if len(unknown) >= 13 else unknown)
    tap.check("documents are written", [] if len(lines) > 5 else [f"{len(lines)} documents"])
    for number, line in enumerate(lines, 1):
        document = json.loads(line)
        tap.check(f"document {number} is valid", sentences(validator, document))
        tap.check(f"document {number} has only members of the schema",
                  sentences(make(closed(schema)), document))
    of_all = [(sample, *defect) for defect in DEFECTS]
    of_all += [(json.loads(lines[-2]), *defect) for defect in CROWD_DEFECTS]
    of_all += [(json.loads(lines[-1]), *defect) for defect in LOAD_DEFECTS]
    for good, where, value in of_all:
        text = f"{'/'.join(map(str, where))} {'missing' if value is DROP else repr(value)[:40]}"
        found = sentences(validator, defective(good, where, value))
        tap.check(f"rejected: {text}", [] if found else ["it was accepted"])
    print(f"1..{tap.number}")
    sys.exit(bool(tap.bad))


main()
