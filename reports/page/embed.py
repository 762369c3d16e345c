# SPDX-License-Identifier: MIT
"""A script as C has it, with the hash by which a page's policy lets it run, and no other."""

import base64
import hashlib
import json
import sys

source, header = sys.argv[1:]
with open(source, encoding="ascii") as file:
    text = file.read()
if "</script" in text.lower() or "<!--" in text:
    sys.exit(f"{source}: there is something in it that would end it within a page")
digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
# What JSON has of ASCII letters, C has as well, but for trigraphs, which nobody reads any more.
lines = "\n".join("\t" + json.dumps(line) for line in text.splitlines(keepends=True))
with open(header, "w", encoding="ascii") as file:
    file.write(f'#define PAGE_SCRIPT_HASH "sha256-{digest}"\n'
               f"static const char page_script[] =\n{lines};\n")
