# SPDX-License-Identifier: MIT
"""
fleet_schema.py SCHEMA FLEET_DOCUMENTS: validates, with the independent python3-jsonschema, the
documents that FLEET_DOCUMENTS writes, and changed ones that must be invalid. Prints TAP.
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
# A path, and the value that replaces the one there.
DEFECTS = (
    (("schema",), "verbmark.fleet/2"),
    (("pairs",), DROP),
    (("bad_nodes",), DROP),
    (("run", "exit_status"), 2),
    (("fingerprints", 0), "0123"),
    (("nodes", 0, "host"), "n 1"),
    (("nodes", 0, "presence"), "here"),
    (("layouts", 0, 0, "pkey"), 65536),
    (("cases", 0, "metric"), "rate"),
    (("pairs", 0, 0), -1),
    (("pairs", 0, 6), 4),
    (("pairs", 0, 8, 0), "fast"),
    (("pairs", 0, 8, 0), -1),
    (("pairs", 3, 9), {"at": {}}),
    (("blames", 0, "culprit"), "switch"),
    (("blames", 0, "faults"), ["bad"]),
    (("spreads", 0, "rail"), 32),
)


def walk(part):
    yield part
    if isinstance(part, (dict, list)):
        for value in part.values() if isinstance(part, dict) else part:
            yield from walk(value)


def undescribed(schema):
    for part in walk(schema):
        if isinstance(part, dict) and part.get("type") == "object":
            for name, member in part.get("properties", {}).items():
                if "description" not in member:
                    yield name


def closed(schema):
    """Returns a copy of the schema that rejects members it does not name."""
    made = copy.deepcopy(schema)
    for part in walk(made):
        if isinstance(part, dict) and part.get("type") == "object" and "properties" in part:
            part["additionalProperties"] = False
    return made


def defective(document, where, value):
    document = copy.deepcopy(document)
    parent = document
    for step in where[:-1]:
        parent = parent[step]
    if value is DROP:
        del parent[where[-1]]
    else:
        parent[where[-1]] = value
    return document


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    lines = subprocess.run([sys.argv[2]], check=True, capture_output=True, text=True).stdout
    documents = [json.loads(line) for line in lines.splitlines()]
    make = jsonschema.Draft202012Validator
    make.check_schema(schema)
    checks = [("each member has a description", not list(undescribed(schema))),
              ("documents are written", len(documents) == 3)]
    for number, document in enumerate(documents, 1):
        faults = [fault.message for fault in make(closed(schema)).iter_errors(document)]
        for fault in faults:
            print("#", fault[:300])
        checks.append((f"document {number} is valid and has only members of the schema",
                       not faults))
    for where, value in DEFECTS:
        bad = defective(documents[0], where, value)
        text = "missing" if value is DROP else repr(value)
        checks.append((f"rejected: {'/'.join(map(str, where))} {text}",
                       not make(schema).is_valid(bad)))
    for number, (text, is_good) in enumerate(checks, 1):
        print(f"{'' if is_good else 'not '}ok {number} - {text}")
    print(f"1..{len(checks)}")
    sys.exit(not all(is_good for _, is_good in checks))


main()
