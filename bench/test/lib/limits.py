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
        "messages of 8k are above the 4k that this server takes: ask for smaller ones, or "
        "raise 'serve --max-size' there",
    ),
    "queue pairs": (
        ("--max-qps", 2), ("--metric", "bw", "-q", "2,3"),
        "3 queue pairs are above the 2 that this server gives a client: ask for fewer, or "
        "raise 'serve --max-qps' there",
    ),
    "memory": (
        ("--max-client-memory", "4m"), ("-s", "64,4m"),
        "the case takes 8m of memory, and this server gives a client 4m: ask for smaller "
        "messages, queues or fewer queue pairs, or raise 'serve --max-client-memory' there",
    ),
    # The server reserves a quarter of 300 descriptors, and a queue pair needs two.
    "descriptors": (
        (), ("--metric", "bw", "-q", "50,113"),
        "113 queue pairs are above the 112 that this server has descriptors and ports for: ask "
        "for fewer, or for --connect qp, or raise LimitNOFILE and ip_local_port_range there",
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
