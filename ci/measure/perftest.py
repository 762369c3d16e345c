# SPDX-License-Identifier: MIT
"""Runs perftest's programs: a server, which does not report when it listens, and a client."""

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
    Returns verbmark's options for the addresses that perftest's streams use: cyclic within a page
    per queue pair and direction if two messages fit; otherwise always the same.
    """
    if size > PAGE // 2:
        return ["--access", "same"]
    return ["--access", "sequential", "--buffer", str(PAGE * qps * (2 if is_both else 1))]


def numbers(text):
    """Returns the numbers in a list such as 0-3,8."""
    ranges = [part.split("-") for part in text.strip().split(",") if part]
    return {one for part in ranges for one in range(int(part[0]), int(part[-1]) + 1)}


def siblings(cpu):
    """Returns the CPUs that share the core of a CPU."""
    try:
        with open("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list" % cpu,
                  encoding="ascii") as file:
            return numbers(file.read())
    except OSError:
        return {cpu}


def close_to(device):
    """Returns the allowed CPUs near the device, or all allowed CPUs if these are unknown."""
    allowed = os.sched_getaffinity(0)
    try:
        with open("/sys/class/infiniband/%s/device/local_cpulist" % device,
                  encoding="ascii") as file:
            return sorted(numbers(file.read()) & allowed) or sorted(allowed)
    except OSError:
        return sorted(allowed)


def choose_cpus(device):
    """
    Returns a CPU for the server and one for the client, near the device and, if possible, on
    different cores; None if there is only one CPU.
    """
    cpus = close_to(device)
    same = siblings(cpus[0])
    others = [cpu for cpu in cpus if cpu not in same] or cpus[1:]
    return (cpus[0], others[0]) if others else None


def end_by_signals():
    """Makes signals exit this program normally, so that it ends its child processes."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))


def pinned(command, cpu):
    return ["taskset", "-c", str(cpu), *command]


def listens(port):
    needle = ":%04X " % port
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        # tcp6 exists only with IPv6.
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
    """Waits until the process listens; returns False if it ended before."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            return False
        if listens(port):
            return True
        time.sleep(0.01)
    sys.exit("%s did not listen within %d s" % (name, PATIENCE_S))


def run(command, address, port, cpus=None):
    """
    Returns the output of the client, or None if client or server failed, as perftest sometimes
    does. cpus are those of server and client; with None the kernel chooses.
    """
    if not shutil.which(command[0]):
        sys.exit("%s is missing: install perftest, or set PERFTEST to its folder" % command[0])
    server_command, client_command = (
        [pinned(command, cpu) for cpu in cpus] if cpus else [command, command]
    )
    with subprocess.Popen(
        server_command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        try:
            if not wait_for_listener(server, port, command[0]):
                return None
            client = subprocess.run(
                [*client_command, address], capture_output=True, text=True, timeout=DEADLINE_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None
        finally:
            server.kill()
    return client.stdout if client.returncode == 0 else None
