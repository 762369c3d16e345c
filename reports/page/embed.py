# SPDX-License-Identifier: MIT
"""
Writes the script and the style of pages as C strings, with the hashes that let a page's content
policy allow them.
"""

import base64
import hashlib
import json
import sys

*sources, header = sys.argv[1:]
lines = []
for source in sources:
    with open(source, encoding="ascii") as file:
        text = file.read()
    if any(end in text.lower() for end in ("</script", "</style", "<!--")):
        sys.exit(f"{source}: contains what would end it within a page")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    name = "script" if source.endswith(".js") else "style"
    lines.append(f'#define PAGE_{name.upper()}_HASH "sha256-{digest}"\n'
                 f"static const char page_{name}[] =\n")
    # A JSON string of ASCII text is also a C string (compilers ignore trigraphs by default).
    lines += ["\t" + json.dumps(line) + "\n" for line in text.splitlines(keepends=True)]
    lines.append(";\n")
with open(header, "w", encoding="ascii") as file:
    file.writelines(lines)
