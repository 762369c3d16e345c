# SPDX-License-Identifier: MIT
"""
Parses result documents for the tests. Each one is validated against the published schema
with Debian's python3-jsonschema, an independent implementation, where that is installed.
"""

import json
import os
import warnings

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jsonschema
except ImportError:
    jsonschema = None
    print("# documents are not validated: python3-jsonschema is not installed", flush=True)

SCHEMAS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../reports/schema")
SCHEMA = f"{SCHEMAS}/verbmark.result-1.json"
# Longer arrays of uniform rows are shortened: on an emulated CPU, validating a thousand rows
# takes a second.
ROWS = 20


def shortened(value):
    """Returns the value without the middle of long arrays of numbers or bins."""
    if isinstance(value, dict):
        return {key: shortened(member) for key, member in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) > ROWS and not isinstance(value[0], dict):
        return value[: ROWS // 2] + value[-ROWS // 2 :]
    return [shortened(member) for member in value]


def refuse(word):
    raise AssertionError(f"{word} is not valid JSON")


class Validator:
    made = {}

    @classmethod
    def get(cls, name):
        if name not in cls.made:
            with open(f"{SCHEMAS}/{name}.json", encoding="utf-8") as file:
                schema = json.load(file)
            cls.made[name] = jsonschema.validators.validator_for(schema)(schema)
        return cls.made[name]


def parse(text, name="verbmark.result-1"):
    """Returns the document in text; raises AssertionError if it does not match its schema."""
    document = json.loads(text, parse_constant=refuse)
    if jsonschema:
        faults = [
            f"{'/'.join(map(str, fault.absolute_path))}: {fault.message[:200]}"
            for fault in Validator.get(name).iter_errors(shortened(document))
        ]
        if faults:
            raise AssertionError(f"the document violates its schema: {faults[:5]}")
    return document


def read(path):
    with open(path, encoding="utf-8") as file:
        return parse(file.read())
