# SPDX-License-Identifier: MIT
"""The server's limits per client: its options, cases within and above them, and the reasons."""

import os
import tempfile

import documents
from verbmark import ADDRESS, Ended, client

# The first value asked for is within the limit, the second is above it.
LIMITS = {
    "sizes": (
        ("--max-size", "4k"), ("-s", "4k,8k"),
        "messages of 8k exceed this server's limit of 4k: use smaller ones, or raise "
        "'serve --max-size' on the server",
    ),
    "queue pairs": (
        ("--max-qps", 2), ("--metric", "bw", "-q", "2,3"),
        "3 queue pairs exceed this server's limit of 2 per client: use fewer, or raise "
        "'serve --max-qps' on the server",
    ),
    "memory": (
        ("--max-client-memory", "4m"), ("-s", "64,4m"),
        "the case needs 8m of memory, above this server's per-client limit of 4m: use smaller "
        "messages or queues, or fewer queue pairs, or raise 'serve --max-client-memory' on the "
        "server",
    ),
    # The server reserves a quarter of 300 descriptors, and a queue pair needs two.
    "descriptors": (
        (), ("--metric", "bw", "-q", "50,113"),
        "113 queue pairs exceed the 112 that this server's descriptors and ports allow: use "
        "fewer, or --connect qp, or raise LimitNOFILE and ip_local_port_range on the server",
    ),
}
FEW_DESCRIPTORS = ("sh", "-c", 'ulimit -n 300 && exec "$0" "$@"')


def check_left_out(server, name):
    """Checks that the case within a limit is measured, and the one above it skipped and listed."""
    _, options, sentence = LIMITS[name]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "limits.json")
        ended = Ended(client("-n", 50, *options, "--json", path, port=server.port))
        cases = documents.read(path)["cases"]
    statuses = [case["status"] for case in cases]
    assert statuses == ["complete", "skipped"], f"{statuses}: {ended.err}"
    assert cases[1]["error"] == f"{ADDRESS}: {sentence}", cases[1]["error"]
    assert sentence in ended.out, ended.out
