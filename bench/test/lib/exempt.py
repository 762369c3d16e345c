# SPDX-License-Identifier: MIT
"""The list of tests that cannot run on a device, as core/test/lib/exempt.h describes it."""

import os


def is_meant(wanted, test):
    name = ".".join(test.id().split(".")[-2:])
    return name == wanted or name.startswith(wanted + ".")


def drop_exempt(program, tests):
    """
    Returns the tests of the program that are not exempt. Prints how many are exempt, and why;
    raises LookupError if the list names a test that does not exist.
    """
    path = os.environ.get("EXEMPT")
    if not path:
        return tests
    counts = {}
    reason = None
    with open(path, encoding="ascii") as lines:
        for line in lines:
            line = line.rstrip("\n")
            if line.startswith("["):
                reason = line.strip("[]")
            own, _, wanted = line.partition(" ")
            if own != program:
                continue
            left = [test for test in tests if not is_meant(wanted, test)]
            if len(left) == len(tests):
                raise LookupError(f"{path} exempts an unknown test: {line}")
            counts[reason] = counts.get(reason, 0) + len(tests) - len(left)
            tests = left
    for reason, count in counts.items():
        print(f"# {count} tests of {program} are exempt: {reason}", flush=True)
    return tests
