# SPDX-License-Identifier: MIT
"""
Result documents as the tests read them: each one is held against the published schema
by Debian's python3-jsonschema, which knows nothing of us, where that is installed.
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
    print("# documents are held against no schema: there is no python3-jsonschema", flush=True)

SCHEMAS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../reports/schema")
SCHEMA = f"{SCHEMAS}/verbmark.result-1.json"
# Rows that are one like the other: a validator takes a second for a thousand of them on an
# emulated processor.
ROWS = 20


def shortened(value):
    """Without the middle of long arrays of numbers, or of bins."""
    if isinstance(value, dict):
        return {key: shortened(member) for key, member in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) > ROWS and not isinstance(value[0], dict):
        return value[: ROWS // 2] + value[-ROWS // 2 :]
    return [shortened(member) for member in value]


def refuse(word):
    raise AssertionError(f"{word} is no JSON")


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
    """The document of that schema that the text is; AssertionError where it is none."""
    document = json.loads(text, parse_constant=refuse)
    if jsonschema:
        faults = [
            f"{'/'.join(map(str, fault.absolute_path))}: {fault.message[:200]}"
            for fault in Validator.get(name).iter_errors(shortened(document))
        ]
        if faults:
            raise AssertionError(f"against the schema: {faults[:5]}")
    return document


def read(path):
    with open(path, encoding="utf-8") as file:
        return parse(file.read())
