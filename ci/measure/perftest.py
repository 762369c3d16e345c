# SPDX-License-Identifier: MIT
"""Runs perftest's programs: a server, which does not say when it listens, and its client."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

PATIENCE_S = 20
DEADLINE_S = 120
PAGE = 4096


def places(size, qps, is_both=False):
    """
    verbmark's options for where perftest's streams go: over a page of each queue pair, and
    direction, that holds two messages, and larger ones to one place.
    """
    if size > PAGE // 2:
        return ["--access", "same"]
    return ["--access", "sequential", "--buffer", str(PAGE * qps * (2 if is_both else 1))]


def numbers(text):
    """Those of a list such as 0-3,8."""
    ranges = [part.split("-") for part in text.strip().split(",") if part]
    return {one for part in ranges for one in range(int(part[0]), int(part[-1]) + 1)}


def siblings(cpu):
    """Those that share its core."""
    try:
        with open("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list" % cpu,
                  encoding="ascii") as file:
            return numbers(file.read())
    except OSError:
        return {cpu}


def close_to(device):
    """The processors near it, as far as they are known, that may be used here."""
    allowed = os.sched_getaffinity(0)
    try:
        with open("/sys/class/infiniband/%s/device/local_cpulist" % device,
                  encoding="ascii") as file:
            return sorted(numbers(file.read()) & allowed) or sorted(allowed)
    except OSError:
        return sorted(allowed)


def processors(device):
    """
    One for the server and one for the client, near the device, and of two cores where there
    are so many; None where there is one only.
    """
    cpus = close_to(device)
    same = siblings(cpus[0])
    others = [cpu for cpu in cpus if cpu not in same] or cpus[1:]
    return (cpus[0], others[0]) if others else None


def end_by_signals():
    """What is started ends with this program, however that is ended."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))


def pinned(command, cpu):
    return ["taskset", "-c", str(cpu), *command]


def listens(port):
    needle = ":%04X " % port
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        # Without IPv6 there is no such table.
        if os.path.exists(table):
            with open(table, encoding="ascii") as lines:
                if any(needle in line and " 0A " in line for line in lines):
                    return True
    if not shutil.which("rdma"):
        return False
    found = subprocess.run(
        ["rdma", "resource", "show", "cm_id"], capture_output=True, text=True, check=False
    )
    return re.search(r"state LISTEN.*:%d\b" % port, found.stdout) is not None


def wait_for_listener(process, port, name):
    """False when it has broken before."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            return False
        if listens(port):
            return True
        time.sleep(0.01)
    sys.exit("%s does not listen" % name)


def run(command, address, port, cpus=None):
    """
    What the client printed; None when one of them broke, as they do now and then. cpus, of
    server and client, or None: wherever the kernel puts them.
    """
    if not shutil.which(command[0]):
        sys.exit("there is no %s: install perftest, or name its folder by PERFTEST" % command[0])
    far, near = [pinned(command, cpu) for cpu in cpus] if cpus else [command, command]
    with subprocess.Popen(
        far, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        try:
            if not wait_for_listener(server, port, command[0]):
                return None
            client = subprocess.run(
                [*near, address], capture_output=True, text=True, timeout=DEADLINE_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None
        finally:
            server.kill()
    return client.stdout if client.returncode == 0 else None
