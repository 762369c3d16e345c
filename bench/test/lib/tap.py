# SPDX-License-Identifier: MIT
"""tap.py VERBMARK FILE...: runs the unittest cases of the files, and prints TAP."""

import faulthandler
import importlib.util
import os
import sys
import time
import traceback
import unittest

import exempt

# Seconds after which a test counts as hung and its stack traces are printed.
HANGS = 420


def report(error):
    """Prints the error before its trace: a reader may see only the first lines."""
    kind, value, trace = error
    lines = traceback.format_exception_only(kind, value)
    frames = [frame for frame in traceback.extract_tb(trace) if "unittest" not in frame.filename]
    for line in "".join(lines + traceback.format_list(frames)).splitlines():
        print(f"# {line}", flush=True)


class TapResult(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.started = time.monotonic()
        self.number = 0
        self.bad = 0

    def line(self, test, good, comment=""):
        self.number += 1
        self.bad += not good
        name = ".".join(test.id().split(".")[-2:])
        print(f"{'ok' if good else 'not ok'} {self.number} - {name}{comment}", flush=True)
        print(f"# {time.monotonic() - self.started:.1f} s", flush=True)

    def startTest(self, test):
        super().startTest(test)
        self.started = time.monotonic()
        faulthandler.dump_traceback_later(HANGS)

    def stopTest(self, test):
        super().stopTest(test)
        faulthandler.cancel_dump_traceback_later()

    def complain(self, test, error):
        self.line(test, False)
        report(error)

    def addSuccess(self, test):
        self.line(test, True)

    def addError(self, test, err):
        self.complain(test, err)

    def addFailure(self, test, err):
        self.complain(test, err)

    def addSkip(self, test, reason):
        self.line(test, True, f" # SKIP {reason}")

    def addSubTest(self, test, subtest, err):
        # A test with failed subtests fails once, when its last subtest is done.
        if err:
            super().addSubTest(test, subtest, err)
            self.line(test, False, f" {subtest._subDescription()}")
            report(err)


def load(path):
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    return unittest.TestSuite(exempt.drop_exempt(name, list(flat(suite))))


def main():
    os.environ["VERBMARK"] = os.path.abspath(sys.argv[1])
    sys.dont_write_bytecode = True
    lib = os.path.dirname(os.path.abspath(__file__))
    # Suites import from each other: "from cli.report import result".
    sys.path[:0] = [lib, os.path.dirname(lib)]
    suite = unittest.TestSuite([load(path) for path in sys.argv[2:]])
    only, omit = os.environ.get("ONLY", ""), os.environ.get("OMIT")
    suite = unittest.TestSuite(test for test in flat(suite)
                               if only in test.id() and not (omit and omit in test.id()))
    result = TapResult()
    suite.run(result)
    print(f"1..{result.number}")
    sys.exit(bool(result.bad))


def flat(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


main()
