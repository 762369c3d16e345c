# SPDX-License-Identifier: MIT
"""
fleet_schema.py SCHEMA FLEET_DOCUMENTS: validates, with the independent python3-jsonschema, the
documents that FLEET_DOCUMENTS writes. Changes each value of them in many ways: the parser and the
schema must agree on the outcome. Prints TAP.
"""

import contextlib
import copy
import functools
import json
import re
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("1..0 # SKIP no python3-jsonschema: ci/setup test")
    sys.exit()

DROP = object()
# They replace any value, texts, and numbers. Python writes 2 ** 63 as an integer, too large for C.
ANY = (DROP, None, True, [], [None], {}, {"a": 1}, "", "NaN", "n1", "-1", -1, 0, 0.5)
TEXTS = (
    "Infinity", "n 1", "=1", "n1;", "0123456789abcdef", "\x1b[2J", "n1\n", "\x85", "x" * 15, "x" * 16,
    "x" * 31, "x" * 32, "x" * 63, "x" * 64, "x" * 127, "x" * 128, "x" * 255, "x" * 256,
    "HISTF=", "HISTF===", "HISTF+=/", "HISTF" + "x" * 16379, "HISTF" + "x" * 16380,
)
NUMBERS = (
    -2, -0.5, 1, 2, 3, 4, 15, 16, 31, 32, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 2,
    2**32 - 1, 2**32, 2**63 - 513, 2**63 - 512, 2**63 - 1, 2**63, 2**64, 1e19, 1e300, -1e300,
)
# A schema cannot express these rules: the parser alone refuses such documents.
REFERENCES = (
    r'"(layout|fingerprint|case|node|peer)" is not below \d+$',
    r'"(from|to)" is not a number below \d+$',
    r'"addresses" has \d+ values for \d+ rails',
    "two nodes have the name",
    "a rail was measured that its node does not have",
    r"(figures|histograms) are not an array of \d+",
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


def paths(part, at=()):
    """Yields the way to each value, and the value."""
    if at:
        yield at, part
    if isinstance(part, (dict, list)):
        for name in part if isinstance(part, dict) else range(len(part)):
            yield from paths(part[name], (*at, name))


def kind_of(where, value):
    """Returns what a value has in common with others, such as those of other nodes."""
    pattern = [step if isinstance(step, str) or where[0] == "pairs" and place == 2 else None
               for place, step in enumerate(where)]
    return (*pattern, type(value))


@contextlib.contextmanager
def changed(document, where, value):
    """Changes the document in place, until the block ends."""
    *way, last = where
    parent = functools.reduce(lambda part, step: part[step], way, document)
    kept = copy.copy(parent)
    if value is DROP:
        del parent[last]
    else:
        parent[last] = value
    yield
    if isinstance(parent, list):
        parent[:] = kept
    else:
        parent.clear()
        parent.update(kept)


def changes(document, seen):
    """Yields changed documents; seen has the kinds of values that have been changed before."""
    for where, old in list(paths(document)):
        if kind_of(where, old) in seen:
            continue
        seen.add(kind_of(where, old))
        more = TEXTS if isinstance(old, (str, list)) else NUMBERS
        for value in ANY + (more if not isinstance(old, (dict, bool)) else ()):
            with changed(document, where, value):
                yield where, value, document


def disagreements(validator, program, documents):
    """Yields each changed document on which the parser and the schema do not agree."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as lines:
        names, verdicts, seen = [], [], set()
        for number, document in enumerate(documents, 1):
            for where, value, bad in changes(document, seen):
                text = "missing" if value is DROP else repr(value)[:40]
                names.append(f"document {number}: {'/'.join(map(str, where))} {text}")
                verdicts.append(validator.is_valid(bad))
                lines.write(json.dumps(bad, ensure_ascii=False) + "\n")
        lines.seek(0)
        answers = subprocess.run([program, "-"], check=True, stdin=lines, capture_output=True,
                                 text=True).stdout.splitlines()
    assert len(answers) == len(names) > 1000, (len(answers), len(names))
    for name, is_valid, answer in zip(names, verdicts, answers):
        if is_valid == (answer == "good"):
            continue
        if is_valid and any(re.search(reason, answer) for reason in REFERENCES):
            continue
        yield f"{name}: the parser says '{answer}', the schema {is_valid}"
    yield verdicts


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
    *faults, verdicts = disagreements(make(schema), sys.argv[2], documents)
    for fault in faults[:100]:
        print("#", fault)
    print(f"# {len(verdicts)} changed documents, {sum(verdicts)} valid")
    checks.append(("the parser refuses what the schema refuses, and nothing else", not faults))
    checks.append(("some changed documents are valid, and more are not",
                   0 < sum(verdicts) < len(verdicts) / 2))
    for number, (text, is_good) in enumerate(checks, 1):
        print(f"{'' if is_good else 'not '}ok {number} - {text}")
    print(f"1..{len(checks)}")
    sys.exit(not all(is_good for _, is_good in checks))


main()
