# SPDX-License-Identifier: MIT
"""Writes a script or style sheet as a C string, with the hash that the page's content policy needs."""

import base64
import hashlib
import json
import sys

source, name, header = sys.argv[1:]
with open(source, encoding="ascii") as file:
    text = file.read()
if "</s" in text.lower() or "<!--" in text:
    sys.exit(f"{source}: contains </s or <!--, which could end the script or style within a page")
digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
# A JSON string of ASCII text is also a C string (compilers ignore trigraphs by default).
lines = "\n".join("\t" + json.dumps(line) for line in text.splitlines(keepends=True))
with open(header, "w", encoding="ascii") as file:
    file.write(f'#define PAGE_{name.upper()}_HASH "sha256-{digest}"\n'
               f"static const char page_{name}[] =\n{lines};\n")
