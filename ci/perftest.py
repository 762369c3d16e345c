# SPDX-License-Identifier: MIT
"""Runs perftest's programs: a server, which does not say when it listens, and its client."""

import re
import shutil
import subprocess
import sys
import time

PATIENCE_S = 20
DEADLINE_S = 120
PAGE = 4096


def places(size, qps):
    """
    verbmark's options for where perftest's streams go: over a page of each queue pair that
    holds two messages, and larger ones to one place.
    """
    if size > PAGE // 2:
        return ["--access", "same"]
    return ["--access", "sequential", "--buffer", str(PAGE * qps)]


def listens(port):
    needle = ":%04X " % port
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(table, encoding="ascii") as lines:
            if any(needle in line and " 0A " in line for line in lines):
                return True
    if not shutil.which("rdma"):
        return False
    found = subprocess.run(
        ["rdma", "resource", "show", "cm_id"], capture_output=True, text=True, check=False
    )
    return re.search(r"state LISTEN.*:%d\b" % port, found.stdout) is not None


def wait_for_listener(process, port):
    """False when it has broken before."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            return False
        if listens(port):
            return True
        time.sleep(0.01)
    sys.exit("%s does not listen" % process.args[0])


def run(command, address, port):
    """What the client printed; None when one of them broke, as they do now and then."""
    if not shutil.which(command[0]):
        sys.exit("there is no %s: install perftest, or name its folder by PERFTEST" % command[0])
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        try:
            if not wait_for_listener(server, port):
                return None
            client = subprocess.run(
                [*command, address], capture_output=True, text=True, timeout=DEADLINE_S,
                check=False,
            )
        finally:
            server.kill()
    return client.stdout
