# SPDX-License-Identifier: MIT
"""
Client or server is killed, stopped or asked to end at each stage of a case. The peer ends with a
message, or continues to serve, in time, and leaks nothing.
"""

import itertools
import json
import os
import re
import signal
import statistics
import subprocess
import time
import unittest

import documents
from verbmark import (
    ADDRESS, IS_SANITIZED, PATIENCE, Relay, Server, below_heading, client,
    connection_states, counter, measure, resources, stop, wait_until,
)

ROUNDS = 5
ENDLESS = 10**12
NOBODY = ADDRESS.rpartition(".")[0] + ".77"


def neighbor():
    shown = subprocess.run(
        ["ip", "-j", "neigh", "show", NOBODY], check=True, capture_output=True
    )
    return [state for row in json.loads(shown.stdout) for state in row["state"]]


def forget_neighbor():
    subprocess.run(
        ["ip", "neigh", "del", NOBODY, "dev", os.environ["SOFTROCE_NETDEV"]],
        check=False, capture_output=True,
    )


def is_asleep(program):
    """Tells if all threads sleep and the device does nothing for the program."""
    sent = counter("sent_pkts")
    for thread in os.listdir(f"/proc/{program.pid}/task"):
        with open(f"/proc/{program.pid}/task/{thread}/stat", encoding="ascii") as stat:
            if stat.read().rpartition(")")[2].split()[0] != "S":
                return False
    # Longer than the counters are cached.
    time.sleep(0.05)
    return counter("sent_pkts") == sent


class Scene:
    """A client and a server at a stage of a case at which one of them is killed."""

    # The type of message that the relay holds back.
    held = "listening"
    cq = "poll"
    metric = "lat"
    options = ()

    def __init__(self, server):
        self.server = server
        self.relay = Relay(server, self.held)
        self.client = client(
            "-n", self.messages, "--cq", self.cq, "--metric", self.metric, *self.options,
            port=self.relay.port,
        )

    messages = ENDLESS

    def reach(self, victim):
        """Waits until client and server have reached the stage, where they stay."""

    def after(self, survivor):
        """Lets the survivor notice."""

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.client.kill()
        self.relay.__exit__()


class Resolving(Scene):
    """The client resolves an address that does not exist."""

    def reach(self, victim):
        forget_neighbor()
        self.relay.wait()
        self.relay.release(address=NOBODY)
        wait_until(lambda: "INCOMPLETE" in neighbor(), what="the resolution")


class Connecting(Scene):
    """The client's request has arrived at the server, which is stopped."""

    def reach(self, victim):
        self.relay.wait()
        stop(self.server)
        self.relay.release()
        wait_until(
            lambda: "CONNECT" in connection_states(self.client.pid), what="the request"
        )

    def after(self, survivor):
        if survivor is self.server:
            survivor.signal(signal.SIGCONT)


class BeforeTheFirstMessage(Scene):
    """Both are connected, but the client has not heard that the server is ready."""

    held = "ready"

    def reach(self, victim):
        self.relay.wait()


class BeforeTheOtherDirection(BeforeTheFirstMessage):
    """The server waits for permission to send in its own direction."""

    held = "begin"
    metric = "bw"
    options = ("-b",)


class InTheLoop(Scene):
    held = None

    def reach(self, victim):
        before = counter("sent_pkts")

        def is_running():
            if self.client.process.poll() is not None:
                raise AssertionError(f"the client has ended: {self.client.errors}")
            return counter("sent_pkts") > before + 1000

        wait_until(is_running, what="the loop")


class InAStream(InTheLoop):
    metric = "bw"


class InEventWait(InTheLoop):
    """The survivor is stopped, so the victim can only be waiting."""

    cq = "event"

    def reach(self, victim):
        super().reach(victim)
        survivor = self.server if victim is self.client else self.client
        stop(survivor)
        wait_until(lambda: is_asleep(victim), what="the victim to sleep")

    def after(self, survivor):
        survivor.signal(signal.SIGCONT)


class WhileClosing(Scene):
    """The server has sent its results and is closing; the client has not received them."""

    held = "done"
    messages = 50

    def reach(self, victim):
        self.relay.wait()


class Killed(unittest.TestCase):
    def setUp(self):
        self.addCleanup(forget_neighbor)

    def standing(self):
        return resources(), self.server.descriptors(), self.server.threads()

    def kill_clients(self, kind):
        self.server = Server()
        self.addCleanup(self.server.kill)
        # Allocate what the process keeps after its first use of a device.
        measure(self.server, "-n", 50)
        before = self.standing()
        memory = []
        for round_number in range(ROUNDS):
            with kind(self.server) as scene:
                scene.reach(scene.client)
                n_lines = len(self.server.err)
                scene.client.kill()
                scene.after(self.server)
                wait_until(lambda: self.standing() == before, what=f"cleanup: {before}")
                wait_until(lambda: len(self.server.err) > n_lines, what="a message")
            memory.append(self.server.rss_kib())
            self.assertRegex(
                self.server.err[-1],
                rf"^verbmark: client {re.escape(ADDRESS)}: the peer closed the control connection, "
                "or its process ended$",
            )
            self.assertEqual(len(self.server.err), round_number + 1, self.server.err)
        # The allocator keeps some memory of threads, and the top of its heap varies. The leaked
        # rings of a client, in a stream, would be 70 KiB per round.
        if not IS_SANITIZED:
            steps = [after - before for before, after in itertools.pairwise(memory[1:])]
            self.assertLess(statistics.median(steps), 40, memory)
        measure(self.server, "-n", 50)

    def kill_servers(self, kind):
        before = resources()
        for _ in range(ROUNDS):
            with Server() as self.server, kind(self.server) as scene:
                scene.reach(self.server)
                self.server.kill()
                scene.after(scene.client)
                self.assertEqual(scene.client.wait(), 1)
                self.assertRegex(
                    scene.client.errors,
                    "^verbmark: .*(closed the control connection|closed the connection), "
                    "or its process ended",
                )
                self.assertEqual(len(scene.client.err), 1, scene.client.err)
            wait_until(lambda: resources() == before, what=f"cleanup: {before}")

    def test_clients_while_resolving(self):
        self.kill_clients(Resolving)

    def test_clients_while_connecting(self):
        self.kill_clients(Connecting)

    def test_clients_before_the_first_message(self):
        self.kill_clients(BeforeTheFirstMessage)

    def test_clients_before_the_other_direction(self):
        self.kill_clients(BeforeTheOtherDirection)

    def test_clients_in_the_loop(self):
        self.kill_clients(InTheLoop)

    def test_clients_in_a_stream(self):
        self.kill_clients(InAStream)

    def test_clients_in_event_wait(self):
        self.kill_clients(InEventWait)

    def test_clients_while_closing(self):
        self.kill_clients(WhileClosing)

    def test_servers_while_resolving(self):
        self.kill_servers(Resolving)

    def test_servers_while_connecting(self):
        self.kill_servers(Connecting)

    def test_servers_before_the_first_message(self):
        self.kill_servers(BeforeTheFirstMessage)

    def test_servers_before_the_other_direction(self):
        self.kill_servers(BeforeTheOtherDirection)

    def test_servers_in_the_loop(self):
        self.kill_servers(InTheLoop)

    def test_servers_in_a_stream(self):
        self.kill_servers(InAStream)

    def test_servers_in_event_wait(self):
        self.kill_servers(InEventWait)

    def test_servers_while_closing(self):
        self.kill_servers(WhileClosing)


class Asked(unittest.TestCase):
    """Signals that can be handled. The first case is complete, the second one is running."""

    def setUp(self):
        self.path = f"{os.environ['OUT']}/result.json"
        self.server = Server()
        self.addCleanup(self.server.kill)

    def start(self, op="send", cq="event", metric="lat", size="1m"):
        # With 1 MiB per message, the messages in flight of a stream would keep an emulated rxe
        # busy for seconds at the end. The second case does not end on its own.
        parts = ((1, 3000), (size if metric == "lat" else "64k", 10**9), (64, 3000))
        plan = f"{self.path}.plan"
        with open(plan, "w", encoding="ascii") as file:
            json.dump([{"size": size, "iterations": count} for size, count in parts], file)
        self.addCleanup(os.unlink, plan)
        program = client(
            "--op", op, "--cq", cq, "--metric", metric, "--plan", plan, "--json", self.path,
            port=self.server.port,
        )
        self.addCleanup(program.kill)
        wait_until(lambda: len(below_heading(program.out)) == 4, what="the first case")
        before = counter("sent_pkts")
        # Setting up the second case sends fewer packets.
        wait_until(lambda: counter("sent_pkts") > before + 1000, what="the second case")
        return program

    def document(self):
        document = documents.read(self.path)
        os.unlink(self.path)
        first = document["cases"][0]
        self.assertEqual(first["status"], "complete")
        if first["metric"] == "lat":
            self.assertEqual(first["latency_ns"]["count"], 3000)
        else:
            self.assertGreaterEqual(first["bandwidth"]["messages"], 3000)
        return document

    def check_stopped_server(self, number, **options):
        program = self.start(**options)
        self.server.signal(number)
        self.assertEqual(self.server.wait(), 0)
        self.assertEqual(program.wait(), 1)
        self.assertIn("the server was stopped", program.errors + "\n".join(program.out))
        document = self.document()
        self.assertEqual(
            [case["status"] for case in document["cases"]],
            ["complete", "interrupted", "interrupted"],
            [case.get("error") for case in document["cases"]],
        )
        self.assertEqual(document["run"]["status"], "interrupted")
        self.assertIn("the server was stopped", document["cases"][1]["error"])

    def test_sigterm_of_the_server(self):
        self.check_stopped_server(signal.SIGTERM)

    def test_sigint_of_the_server(self):
        self.check_stopped_server(signal.SIGINT)

    def test_sigterm_of_a_server_that_receives_a_stream(self):
        self.check_stopped_server(signal.SIGTERM, metric="bw")

    def test_server_without_clients(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with Server() as server:
                server.signal(number)
                self.assertEqual(server.wait(), 0)
                self.assertEqual(server.err, [])

    def check_interrupted(self, number, **options):
        program = self.start(**options)
        program.signal(number)
        self.assertEqual(program.wait(), 1)
        self.assertEqual(program.errors, "verbmark: interrupted")
        document = self.document()
        self.assertEqual(document["run"]["status"], "interrupted")
        self.assertEqual(
            [case["status"] for case in document["cases"]],
            ["complete", "interrupted", "interrupted"],
        )
        self.assertNotIn("latency_ns", document["cases"][1])
        self.assertNotIn("bandwidth", document["cases"][1])
        self.assertEqual(document["cases"][1]["trials"], [])
        # The server may already have been answering; it logs nothing else.
        for line in self.server.err:
            self.assertIn("closed the control connection", line)
        measure(self.server, "-n", 50)

    def test_sigint_of_the_client(self):
        self.check_interrupted(signal.SIGINT)

    def test_sigint_of_a_client_that_polls_memory(self):
        self.check_interrupted(signal.SIGINT, op="write", cq="poll")

    def test_sigint_of_a_client_with_fast_operations(self):
        self.check_interrupted(signal.SIGINT, op="read", cq="poll", size=128)

    def test_sigint_of_a_client_that_streams(self):
        self.check_interrupted(signal.SIGINT, metric="bw")

    def test_sigterm_of_a_client_that_polls_a_stream(self):
        self.check_interrupted(signal.SIGTERM, op="read", cq="poll", metric="bw")

    def test_sigterm_of_the_client(self):
        self.check_interrupted(signal.SIGTERM, op="read")

    def check_interrupted_at(self, kind):
        self.addCleanup(forget_neighbor)
        with kind(self.server) as scene:
            scene.reach(scene.client)
            scene.client.signal(signal.SIGINT)
            self.assertEqual(scene.client.wait(), 1)
            self.assertEqual(scene.client.errors, "verbmark: interrupted")
            scene.after(self.server)
        measure(self.server, "-n", 50)

    def test_sigint_while_resolving(self):
        self.check_interrupted_at(Resolving)

    def test_sigint_while_connecting(self):
        self.check_interrupted_at(Connecting)

    def test_sigint_before_the_first_message(self):
        self.check_interrupted_at(BeforeTheFirstMessage)

    def test_sigint_in_event_wait(self):
        self.check_interrupted_at(InEventWait)

    def check_stalled(self, **options):
        program = self.start(**options)
        stop(self.server)
        self.assertEqual(program.wait(), 1)
        self.assertIn("the peer has been silent for 4 s", program.errors)
        self.document()
        self.server.signal(signal.SIGCONT)
        wait_until(lambda: self.server.err, what="a message")
        measure(self.server, "-n", 50)

    def test_sigstop_of_the_server(self):
        self.check_stalled()

    def test_sigstop_of_a_server_with_one_sided_operations(self):
        self.check_stalled(op="read", cq="poll")

    def test_sigstop_of_a_server_that_receives_a_stream(self):
        self.check_stalled(metric="bw")

    def test_sigstop_of_both(self):
        """Each knows that it was stopped itself, so neither gives up on its peer."""
        program = self.start()
        ends = (program, self.server)
        for end in ends:
            stop(end)
        time.sleep(4.2)
        for end in ends:
            end.signal(signal.SIGCONT)
        before = counter("sent_pkts")
        wait_until(lambda: counter("sent_pkts") > before + 1000, what="more messages")
        program.signal(signal.SIGINT)
        self.assertEqual(program.wait(), 1)
        self.assertIn("verbmark: interrupted", program.errors)
        self.assertNotIn("silent", program.errors + self.server.errors)
        measure(self.server, "-n", 50)

    def test_sigstop_of_the_client(self):
        program = self.start()
        stop(program)
        wait_until(lambda: self.server.err, what="a message")
        self.assertIn("the peer has been silent for 4 s", self.server.err[0])
        measure(self.server, "-n", 50)

    def test_too_little_memlock_at_the_server(self):
        bound = ("setpriv", "--bounding-set=-ipc_lock", "prlimit", "--memlock=65536:65536")
        with Server(before=bound) as server, client(
            "-n", 50, "-s", "1m,64", "--json", self.path, port=server.port
        ) as program:
            self.assertEqual(program.wait(), 1)
        cases = documents.read(self.path)["cases"]
        os.unlink(self.path)
        self.assertEqual([case["status"] for case in cases], ["failed", "complete"])
        self.assertTrue(cases[0]["error"].startswith(f"{ADDRESS}: cannot register "), cases[0])
        self.assertIn("memlock is 64 KiB", cases[0]["error"])

    def test_too_little_memlock_at_the_client(self):
        bound = ("setpriv", "--bounding-set=-ipc_lock", "prlimit", "--memlock=65536:65536")
        with client("-n", 50, "-s", "1m", port=self.server.port, before=bound) as program:
            self.assertEqual(program.wait(), 1)
            shown = "\n".join(program.out)
            self.assertIn("memlock is 64 KiB", shown)
            self.assertNotIn("the server:", shown)
        measure(self.server, "-n", 50)


class Removed(unittest.TestCase):
    """The device is removed, and added again for later tests."""

    def remove(self):
        def rdma(*words):
            subprocess.run(["rdma", "link", *words], check=True, timeout=PATIENCE)

        device, interface = os.environ["SOFTROCE_DEVICE"], os.environ["SOFTROCE_NETDEV"]
        rdma("delete", device)
        rdma("add", device, "type", "rxe", "netdev", interface)

    def test_while_idle(self):
        with Server() as server:
            self.remove()
            self.assertEqual(server.wait(), 1)
            self.assertEqual(
                server.err, [f"verbmark: the RDMA device {os.environ['SOFTROCE_DEVICE']} was removed"]
            )

    def test_while_a_case_runs(self):
        with Server() as server, client("-n", ENDLESS, port=server.port) as program:
            before = counter("sent_pkts")
            wait_until(lambda: counter("sent_pkts") > before + 1000, what="the case")
            self.remove()
            self.assertEqual(server.wait(), 1)
            self.assertEqual(program.wait(), 1)
            self.assertIn("was removed", program.errors + "\n".join(program.out))
