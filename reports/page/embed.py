# SPDX-License-Identifier: MIT
"""Writes a script as a C string, with the hash that lets the page's content policy allow it."""

import base64
import hashlib
import json
import sys

source, header = sys.argv[1:]
with open(source, encoding="ascii") as file:
    text = file.read()
if "</script" in text.lower() or "<!--" in text:
    sys.exit(f"{source}: contains </script or <!--, which would end the script within a page")
digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
# A JSON string of ASCII text is also a C string (compilers ignore trigraphs by default).
lines = "\n".join("\t" + json.dumps(line) for line in text.splitlines(keepends=True))
with open(header, "w", encoding="ascii") as file:
    file.write(f'#define PAGE_SCRIPT_HASH "sha256-{digest}"\n'
               f"static const char page_script[] =\n{lines};\n")
