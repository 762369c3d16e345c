# SPDX-License-Identifier: MIT
"""The CPUs of measuring threads and the NUMA nodes of their buffers."""

import os
import unittest

from verbmark import ADDRESS, IS_SOFT, Ended, Served, client, measure, wait_until

CPUS = sorted(os.sched_getaffinity(0))
# On the software device, client and server that poll on one machine get disjoint CPUs.
HAS_HALVES = IS_SOFT and len(CPUS) > 1


def listed(cpus):
    """Formats a list of CPUs as the kernel does."""
    pieces = []
    for cpu in cpus:
        if pieces and pieces[-1][1] == cpu - 1:
            pieces[-1][1] = cpu
        else:
            pieces.append([cpu, cpu])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in pieces)


def of_list(text):
    """Parses the output of listed()."""
    pieces = [[int(cpu) for cpu in piece.split("-")] for piece in text.split(",")]
    return {cpu for piece in pieces for cpu in range(piece[0], piece[-1] + 1)}


def threads(pid):
    """Returns the CPUs that each thread of a process may run on."""
    found = {}
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            found[int(thread)] = os.sched_getaffinity(int(thread))
        except ProcessLookupError:
            pass  # the thread has ended
    return found


def nodes():
    """Returns the kernel's list of nodes with memory; empty without NUMA."""
    try:
        with open("/sys/devices/system/node/has_memory", encoding="ascii") as file:
            return file.read().strip()
    except FileNotFoundError:
        return ""


def check_one_fails(test, sentence, *options):
    """Checks that one of two cases fails and the other one succeeds."""
    ended = Ended(client("-n", 50, *options, port=test.server.port))
    test.assertEqual(ended.status, 1)
    failed = [line for line in ended.out.splitlines() if sentence in line]
    test.assertEqual(len(failed), 1, ended.out)
    test.assertIn("1 of 2 cases complete", ended.out)


@unittest.skipUnless(len(CPUS) > 1, "there is only one CPU")
class Pinned(Served):
    def test_placement_in_the_document(self):
        last = CPUS[-1]
        document = measure(
            self.server, "-n", 50, "--pin", f"{CPUS[0]},{last},off,auto", "--server-pin", last
        ).document
        cases = document["cases"]
        self.assertEqual(
            [case["id"] for case in cases],
            [f"send/lat/64/poll{pin}/server-pin{last}"
             for pin in (f"/pin{CPUS[0]}", f"/pin{last}", "/pinoff", "")],
        )
        # The device's NUMA node is not known.
        self.assertEqual(
            [case["placement"]["client"]["cpus"] for case in cases[:3]],
            [str(CPUS[0]), str(last), listed(CPUS)],
        )
        auto = CPUS[:-1] if HAS_HALVES else CPUS
        self.assertEqual(cases[3]["placement"]["client"]["cpus"], listed(auto))
        self.assertEqual([case.get("pin") for case in cases], [CPUS[0], last, "off", None])
        for case in cases:
            self.assertEqual(case["placement"]["server"]["cpus"], str(last))
            self.assertEqual(case["server_pin"], last)

    def test_only_measuring_threads_are_pinned(self):
        last = CPUS[-1]
        before = threads(self.server.pid)
        options = ("-D", "3s", "--cq", "event", "--pin", last, "--server-pin", last)
        with client(*options, port=self.server.port) as program:
            wait_until(lambda: threads(program.pid).get(program.pid) == {last}, what="pinning")
            others = [cpus for thread, cpus in threads(program.pid).items()
                      if thread != program.pid]
            self.assertTrue(others)
            self.assertEqual([set(CPUS)] * len(others), others)
            wait_until(lambda: {last} in threads(self.server.pid).values(), what="pinning")
            meanwhile = threads(self.server.pid)
            self.assertEqual(list(meanwhile.values()).count({last}), 1)
            for thread in before.keys() & meanwhile.keys():
                self.assertEqual(meanwhile[thread], set(CPUS))
            self.assertEqual(program.wait(), 0, program.errors)

    def test_case_does_not_affect_the_next_one(self):
        first, second = measure(
            self.server, "-n", 50, "--pin", f"{CPUS[-1]},auto", "--server-pin", "auto"
        ).document["cases"]
        self.assertEqual(first["placement"]["client"]["cpus"], str(CPUS[-1]))
        if HAS_HALVES:
            self.assertEqual(first["placement"]["server"]["cpus"], listed(CPUS[:-1]))
        client_cpus, server_cpus = (
            of_list(second["placement"][end]["cpus"]) for end in ("client", "server")
        )
        self.assertEqual(client_cpus | server_cpus, set(CPUS))
        if HAS_HALVES:
            self.assertFalse(client_cpus & server_cpus)
        else:
            self.assertEqual(client_cpus, server_cpus)

    def test_event_mode_uses_all_cpus(self):
        case = measure(self.server, "-n", 50, "--cq", "event").document["cases"][0]
        self.assertEqual(case["placement"]["client"]["cpus"], listed(CPUS))
        self.assertEqual(case["placement"]["server"]["cpus"], listed(CPUS))

    def test_missing_cpu(self):
        reason = f"is not available; available CPUs: {listed(CPUS)}"
        check_one_fails(self, f"--pin: CPU 4095 {reason}", "--pin", f"4095,{CPUS[0]}")
        check_one_fails(
            self, f"{ADDRESS}: --server-pin: CPU 4095 {reason}", "--server-pin", f"4095,{CPUS[0]}"
        )

    def test_forbidden_cpu(self):
        before = ("taskset", "-c", str(CPUS[0]))
        with client("-n", 50, "--pin", CPUS[-1], before=before, port=self.server.port) as program:
            self.assertEqual(program.wait(), 1)
        self.assertIn(
            f"--pin: CPU {CPUS[-1]} is not available; available CPUs: {CPUS[0]}",
            "\n".join(program.out),
        )


@unittest.skipUnless(nodes(), "this kernel has no NUMA")
class Buffers(Served):
    def test_placement_in_the_document(self):
        cases = measure(
            self.server, "-n", 50, "--numa", "0,off,auto", "--server-numa", "0"
        ).document["cases"]
        self.assertEqual(
            [case["id"] for case in cases],
            [f"send/lat/64/poll{numa}/server-numa0" for numa in ("/numa0", "/numaoff", "")],
        )
        self.assertEqual([case.get("numa") for case in cases], [0, "off", None])
        self.assertEqual(cases[0]["placement"]["client"]["numa_node"], 0)
        for case in cases:
            self.assertEqual(case["placement"]["server"]["numa_node"], 0)

    def test_missing_node(self):
        reason = f"no NUMA node 1000 with memory; available nodes: {nodes()}"
        check_one_fails(self, f"--numa: {reason}", "--numa", "1000,0")
        check_one_fails(
            self, f"{ADDRESS}: --server-numa: {reason}", "--server-numa", "1000,off"
        )
