# SPDX-License-Identifier: MIT
"""The rules that JUnit XML must follow to be valid for all CI servers.

They are what Jenkins's junit-10.xsd and windyroad's JUnit-Schema have in common: where one allows
more, the stricter rule counts.
"""

import re
import xml.etree.ElementTree as tree

COUNTS = ("tests", "failures", "errors", "skipped")
NUMBER = r"\d+"
SECONDS = r"\d+(\.\d+)?"
NAME = r"\s*\S[\s\S]*"
ANY = r"[\s\S]*"
# By element: its children in order, and the form of each attribute.
RULES = {
    "testsuites": (r"(testsuite )*", {}),
    "testsuite": (r"properties (testcase )*system-out system-err ", {
        "id": NUMBER, "package": NAME, "name": NAME, **{name: NUMBER for name in COUNTS},
        "time": r"\d+(\.\d{0,3})?", "timestamp": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", "hostname": NAME,
    }),
    "properties": (r"(property )*", {}),
    "property": ("", {"name": NAME, "value": ANY}),
    "testcase": (r"((skipped|error|failure) )?", {"name": NAME, "classname": NAME, "time": SECONDS}),
    "skipped": ("", {"message": ANY}),
    "error": ("", {"message": ANY, "type": ANY}),
    "failure": ("", {"message": ANY, "type": ANY}),
    "system-out": ("", {}),
    "system-err": ("", {}),
}


def _faults_of(element):
    if element.tag not in RULES:
        yield f"unknown element <{element.tag}>"
        return
    children, forms = RULES[element.tag]
    found = "".join(child.tag + " " for child in element)
    if not re.fullmatch(children, found):
        yield f"<{element.tag}> has children {found!r}"
    for name in sorted(set(forms) ^ set(element.attrib)):
        yield f"<{element.tag}> {'lacks' if name in forms else 'has'} the attribute {name!r}"
    for name in set(forms) & set(element.attrib):
        if not re.fullmatch(forms[name], element.get(name)):
            yield f"<{element.tag}> has {name}={element.get(name)!r}"


def _counts_of(suite):
    tags = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    counts = {name: len(suite.findall(f"testcase/{tag}")) for name, tag in tags.items()}
    return counts | {"tests": len(suite.findall("testcase"))}


def faults(text):
    """Returns what is wrong with a document."""
    root = tree.fromstring(text)
    found = [] if root.tag == "testsuites" else [f"the root is <{root.tag}>"]
    for element in root.iter():
        found += _faults_of(element)
    for number, suite in enumerate(root.iter("testsuite")):
        expected = {"id": number} | _counts_of(suite)
        found += [f"{name}={suite.get(name)!r} of suite {number} should be {value}"
                  for name, value in expected.items() if suite.get(name) != str(value)]
    return found
