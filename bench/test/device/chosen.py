# SPDX-License-Identifier: MIT
"""
The values in a result that were chosen automatically, compared with those of the kernel, iproute2
and ibv_devinfo, and with the defaults in the manual page.
"""

import ipaddress
import json
import os
import re
import subprocess
import tempfile
import time

from verbmark import (
    ADDRESS, DEVICE, RUN_PATIENCE, Ended, Served, client, measure, wait_until,
)

PAGE = os.sysconf("SC_PAGESIZE")
NR_HUGEPAGES = "/proc/sys/vm/nr_hugepages"
ENDS = ("client", "server")
NETDEV = os.environ["SOFTROCE_NETDEV"]


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read().strip()


def resources(kind, pid):
    """Returns a process's resources, which iproute2 lists by its threads."""
    threads = {int(thread) for thread in os.listdir(f"/proc/{pid}/task")}
    shown = subprocess.run(
        ["rdma", "-dd", "-j", "resource", "show", kind], check=True, capture_output=True
    )
    return [row for row in json.loads(shown.stdout) if row.get("pid") in threads]


def shown():
    return subprocess.run(
        ["ibv_devinfo", "-v", "-d", DEVICE], check=True, capture_output=True, text=True
    ).stdout


def devinfo():
    return dict(re.findall(r"(?m)^\s*([a-z_]+):\s+(\S+)", shown()))


def gids():
    """Returns (address, type) of the GIDs by index."""
    rows = re.findall(r"(?m)^\s*GID\[\s*(\d+)\]:\s+(\S+), (.+)$", shown())
    return {int(index): (address, kind) for index, address, kind in rows}


def in_huge_pages(pid):
    """Returns the number of bytes that a process has in huge pages."""
    rows = re.findall(r"(?m)^Private_Hugetlb:\s+(\d+) kB", read(f"/proc/{pid}/smaps"))
    return sum(map(int, rows)) * 1024


class Chosen(Served):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = f"{folder.name}/r.json"

    def ends(self, *options):
        (case,) = measure(self.server, "-n", 50, *options).document["cases"]
        self.assertEqual(case["status"], "complete", case.get("error"))
        return [case["chosen"][end] for end in ENDS]

    def while_it_runs(self, look, *options):
        """Returns pairs of look(pid) and of the document's values, for client and server."""
        with client("-D", "2s", "--json", self.path, *options, port=self.server.port) as program:
            found = [
                wait_until(lambda pid=pid: look(pid), what="the resources of a case")
                for pid in (program.pid, self.server.pid)
            ]
            self.assertEqual(program.wait(RUN_PATIENCE), 0, program.errors)
        with open(self.path, encoding="utf-8") as file:
            (case,) = json.load(file)["cases"]
        return list(zip(found, (case["chosen"][end] for end in ENDS)))

    def test_defaults(self):
        for end in self.ends():
            self.assertEqual(end["post_call"], "ibv_wr")
            self.assertEqual((end["inline"], end["inline_limit_bytes"]), (True, 256))
            self.assertEqual(end["ack_timeout_ns"], 4096 << 14)
            self.assertEqual((end["retries"], end["sl"], end["traffic_class"]), (6, 0, 0))
            self.assertEqual(end["path_mtu_bytes"], int(devinfo()["active_mtu"]))
            self.assertEqual(end["page_bytes"], PAGE)
            self.assertEqual(end["buffer_bytes"] % PAGE, 0)
            # Without events there is no vector, and no shared receive queue was asked for.
            self.assertEqual(
                end.keys() & {"completion_vector", "spin_ns", "shared_receive_depth"}, set()
            )

    def test_gid(self):
        """The address that the user named has that index in the port's GID table."""
        for connect in ("cm", "qp"):
            for end in self.ends("--connect", connect):
                gid, kind = gids()[end["gid_index"]]
                self.assertEqual(end["gid_type"], kind)
                self.assertEqual(str(ipaddress.IPv6Address(gid).ipv4_mapped), ADDRESS)

    def test_gid_of_client_and_server(self):
        """--server-gid-index sets the server's index; the client's is chosen automatically."""
        rows = {index: ipaddress.IPv6Address(gid).ipv4_mapped for index, (gid, _) in gids().items()}
        best, _ = (end["gid_index"] for end in self.ends("--connect", "qp"))
        others = [index for index, address in rows.items() if address and index != best]
        for other in others[:2]:
            for options, wanted in (
                (("--server-gid-index", other), (best, other)),
                (("-x", other, "--server-gid-index", best), (other, best)),
                (("-x", other), (other, other)),
            ):
                found = [end["gid_index"] for end in self.ends(*options)]
                self.assertEqual(tuple(found), wanted, options)
        # GIDs of different address families cannot be combined.
        for index in (index for index, address in rows.items() if not address):
            ended = Ended(client("-n", 20, "--server-gid-index", index, port=self.server.port))
            self.assertEqual(ended.status, 1, ended.out)
            self.assertIn("the peer's GID is IPv4, the local one is IPv6", ended.out)

    def test_clock(self):
        """The resolution is a tick of the counter, or that of the kernel's clock."""
        clock = measure(self.server, "-n", 50).document["run"]["clock"]
        source = read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
        counters = {"tsc": "tsc", "arch_sys_counter": "cntvct"}
        self.assertEqual(clock["kind"], counters.get(source, "monotonic_raw"))
        if source in counters:
            self.assertAlmostEqual(clock["resolution_ns"], 1e9 / clock["hz"])
        else:
            self.assertEqual(
                clock["resolution_ns"], time.clock_getres(time.CLOCK_MONOTONIC_RAW) * 1e9
            )
        self.assertGreater(clock["cost_ns"], 0)

    def test_hard_fingerprint(self):
        """Client and server have this machine's fingerprint; another MTU changes it."""
        def found():
            hosts = measure(self.server, "-n", 50).document["hosts"]
            return [hosts[end]["hard_fingerprint"] for end in ENDS]

        def set_mtu(mtu):
            subprocess.run(["ip", "link", "set", NETDEV, "mtu", str(mtu)], check=True)

        mtu = read(f"/sys/class/net/{NETDEV}/mtu")
        before = found()
        self.assertEqual(before[0], before[1])
        self.assertEqual(found(), before)
        set_mtu(int(mtu) - 4)
        self.addCleanup(set_mtu, mtu)
        self.assertNotIn(before[0], found())
        set_mtu(mtu)
        self.assertEqual(found(), before)

    def test_completion_mode(self):
        client_end, server_end = self.ends("--cq", "adaptive", "--server-cq", "event")
        self.assertEqual(client_end["spin_ns"], 50000)
        self.assertNotIn("spin_ns", server_end)
        for end in (client_end, server_end):
            self.assertIn(end["completion_vector"], range(int(devinfo()["num_comp_vectors"])))

    def test_queues(self):
        """Queues are at least as deep as requested."""
        for depth in ("64", "300"):
            # Ignore the short queue with which the inline limit is found.
            def deep_enough(pid):
                return [row["cqe"] for row in resources("cq", pid) if row["cqe"] >= int(depth)]

            for depths, end in self.while_it_runs(
                deep_enough, "-t", depth, "-r", depth, "--metric", "bw"
            ):
                self.assertIn(end["cq_depth"], depths)
                self.assertGreaterEqual(end["send_depth"], int(depth))
                self.assertGreaterEqual(end["receive_depth"], int(depth))

    def test_shared_receive_queue(self):
        for end in self.ends("--use-srq", "-r", 100):
            self.assertGreaterEqual(end["shared_receive_depth"], 100)
            self.assertNotIn("receive_depth", end)

    def test_buffer(self):
        for rows, end in self.while_it_runs(lambda pid: resources("mr", pid), "-s", "100k"):
            self.assertEqual(sum(row["mrlen"] for row in rows), end["buffer_bytes"])

    def test_huge_pages(self):
        before = read(NR_HUGEPAGES)
        huge = int(re.search(r"Hugepagesize:\s+(\d+) kB", read("/proc/meminfo"))[1]) * 1024

        def write(text):
            with open(NR_HUGEPAGES, "w", encoding="ascii") as file:
                file.write(text)

        write(str(int(before) + 4))
        self.addCleanup(write, before)
        for mapped, end in self.while_it_runs(in_huge_pages, "--hugepages"):
            self.assertEqual(mapped, huge)
            self.assertEqual((end["page_bytes"], end["buffer_bytes"]), (huge, huge))

    def test_requested_values(self):
        options = ("-m", 256, "-T", 104, "-u", 17, "--retries", 5, "-I", 0)
        client_end, server_end = self.ends("--op", "read", *options)
        for end in (client_end, server_end):
            self.assertEqual((end["path_mtu_bytes"], end["traffic_class"]), (256, 104))
            self.assertEqual((end["ack_timeout_ns"], end["retries"]), (4096 << 17, 5))
        self.assertFalse(client_end["inline"])
        # The server's program takes no part in a read.
        self.assertEqual(server_end.keys() & {"inline", "post_call"}, set())

    def test_outstanding_reads(self):
        """The device may round 3 up; both sides have the same value."""
        client_end, server_end = self.ends("--op", "read", "-o", 3)
        self.assertIn(client_end["initiator_depth"], (3, 4))
        self.assertEqual(client_end["initiator_depth"], server_end["responder_depth"])

    def test_too_large_for_inline(self):
        client_end, server_end = self.ends("--op", "write", "--metric", "bw", "-s", "257")
        self.assertFalse(client_end["inline"])
        self.assertNotIn("post_call", server_end)

    def test_datagrams(self):
        for end in self.ends("-c", "UD", "-T", 8):
            self.assertEqual(end["traffic_class"], 8)
            self.assertEqual(end["gid_type"], gids()[end["gid_index"]][1])
            self.assertEqual(end.keys() & {"path_mtu_bytes", "retries", "initiator_depth"}, set())
