# SPDX-License-Identifier: MIT
"""Several clients and servers at once: of one process, and of several hosts."""

import json
import os
import signal
import tempfile
import threading
import time
import unittest

from verbmark import (
    ADDRESS, ALIVE, HELLO, IS_SOFT, PORT, VERBMARK, Ended, Impostor, Peer, Program,
    Served, Server, below_heading, client, measure, wait_until,
)

# In which each flow has its turn, where a processor is slow and there is none for each thread.
SPELL_MS = 30 if IS_SOFT else 200
SPELL = ("-D", f"{SPELL_MS}ms", "-t", 8)
# In which each of more threads than processors has its turn.
LONG_SPELL = ("-D", "200ms", "-t", 8)

PATTERNS = "one-to-one,many-to-one,one-to-many,all-to-all"


def jain(rates):
    """Of the definition: R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984."""
    return sum(rates) ** 2 / (len(rates) * sum(rate * rate for rate in rates))


def ends_of(case):
    return [(flow["from"], flow["to"]) for flow in case["flows"]["flows"]]


class Checked(unittest.TestCase):
    def check_flows(self, case):
        """They add up, and their index is what it is defined to be."""
        flows = case["flows"]["flows"]
        self.assertEqual(case["status"], "complete", case)
        self.assertEqual(sum(flow["messages"] for flow in flows), case["bandwidth"]["messages"])
        # On a busy machine a flow may have had no turn.
        for flow in (flow for flow in flows if flow["messages"]):
            seconds = flow["duration_ns"] / 1e9
            self.assertAlmostEqual(flow["messages_per_s"] * seconds / flow["messages"], 1)
            self.assertAlmostEqual(flow["bytes_per_s"], flow["messages_per_s"] * case["size"])
        self.assertAlmostEqual(
            case["flows"]["fairness"], jain([flow["messages_per_s"] for flow in flows])
        )


class InOneProcess(Checked, Served):
    def test_patterns(self):
        wanted = {
            "one-to-one": [(0, 0), (1, 1), (2, 2)],
            "many-to-one": [(0, 0), (1, 0), (2, 0)],
            "one-to-many": [(0, 0), (0, 1), (0, 2)],
            "all-to-all": [(client, server) for client in range(3) for server in range(3)],
        }
        for connect in ("cm", "qp"):
            document = measure(
                self.server, "--op", "write,send,read", "-s", "512", *SPELL, "-q", 2,
                "--trials", 2, "--threads", 3, "--pattern", PATTERNS, "--connect", connect,
            ).document
            self.assertEqual(len(document["cases"]), 12)
            for case in document["cases"]:
                with self.subTest(case["id"]):
                    self.check_flows(case)
                    self.assertEqual(
                        ends_of(case),
                        [(f"client {near}", f"server {far}")
                         for near, far in wanted[case["pattern"]]],
                    )
                    # All of them over the same time.
                    self.assertNotIn("start_spread_ns", case["flows"])
                    for flow in case["flows"]["flows"]:
                        self.assertGreaterEqual(flow["duration_ns"], 2 * SPELL_MS * 1e6)

    def test_bytes_are_those_of_the_sender(self):
        """Each queue pair's messages come where its own are looked for."""
        document = measure(
            self.server, "--op", "send,read", "--verify", "-s", "100", "-D", "200ms", "-t", 8,
            "-q", 2, "--threads", 3, "--pattern", PATTERNS,
        ).document
        for case in document["cases"]:
            self.check_flows(case)

    def test_notifications_and_both_ways(self):
        document = measure(
            self.server, "--op", "write-notify,write-imm,fetch-add", "-s", "64", *LONG_SPELL,
            "--threads", 2, "--pattern", PATTERNS,
        ).document
        for case in document["cases"]:
            self.check_flows(case)
        document = measure(
            self.server, "--op", "send,write", "-b", *LONG_SPELL, "--threads", 2, "--use-srq",
            "--access", "same", "--pattern", PATTERNS,
        ).document
        for case in document["cases"]:
            self.check_flows(case)
            self.assertGreater(case["bandwidth"]["total"]["bytes_per_s"],
                               case["bandwidth"]["bytes_per_s"])

    def test_refusals(self):
        for options, sentence in (
            ((), "--pattern needs several hosts, or --threads above 1"),
            (("--threads", 2, "--metric", "lat"), "--pattern applies only to bw"),
            (("--threads", 2, "-n", 5), "--pattern needs a common duration; use -D instead of -n"),
        ):
            ended = Ended(client("--pattern", "many-to-one", *options, port=self.server.port))
            self.assertEqual(ended.status, 2)
            self.assertIn(sentence, ended.err)


class AmongHosts(Checked):
    """Three servers, each of which drives the others."""

    @classmethod
    def setUpClass(cls):
        cls.servers = [Server("--drive") for _ in range(3)]
        cls.names = [f"{ADDRESS}:{server.port}" for server in cls.servers]

    @classmethod
    def tearDownClass(cls):
        for server in cls.servers:
            server.kill()

    def run_here(self, *options, names=None):
        return client(*options, host=",".join(names or self.names))

    def check_serving(self):
        for server in self.servers:
            measure(server, "-n", 10)

    def wait_for_drive(self, driver, target):
        """They are asked what they have one after the other, and run a case together, for long."""
        def drives():
            return driver.threads() > 2 and target.threads() > 2

        wait_until(lambda: drives() and not time.sleep(0.2) and drives(), what="the drive")

    def test_patterns(self):
        one, other, last = self.names
        wanted = {
            "many-to-one": [(one, last), (other, last)],
            "one-to-many": [(one, other), (one, last)],
            "all-to-all": [(near, far) for near in self.names for far in self.names if near != far],
        }
        document = measure(
            None, "--op", "write,send", "-s", "1k", *SPELL, "--trials", 3, "--pattern",
            ",".join(wanted), host=",".join(self.names),
        ).document
        self.assertEqual([party["name"] for party in document["parties"]], self.names)
        self.assertEqual(len(document["cases"]), 6)
        for case in document["cases"]:
            with self.subTest(case["id"]):
                self.check_flows(case)
                self.assertEqual(ends_of(case), wanted[case["pattern"]])
                self.assertEqual(len(case["trials"]), 3)
                self.assertGreater(case["flows"]["start_spread_ns"], 0)
                for flow in case["flows"]["flows"]:
                    self.assertGreaterEqual(flow["duration_ns"], 3 * SPELL_MS * 1e6)
        self.check_serving()

    def test_what_is_lost(self):
        """Of all flows together, and once, by the case that the document has."""
        document = measure(
            None, "--op", "send", "--transport", "ud", "--think", "200us", "-s", "64,1k",
            "-D", "300ms", "-t", 8, "--pattern", "many-to-one", host=",".join(self.names),
        ).document
        def per_mille_of(case):
            return case["loss"]["lost"] * 1000 // case["loss"]["sent"]

        # The first one of those that lost the same.
        case = max(document["cases"], key=per_mille_of)
        per_mille = per_mille_of(case)
        self.assertGreaterEqual(per_mille, 500)
        (finding,) = [row for row in document["warnings"] if row["code"] == "lost-messages"]
        self.assertEqual(finding["host"], "all hosts")
        self.assertTrue(finding["what"].startswith(
            f"{per_mille // 10}.{per_mille % 10} % of the messages never came, as in {case['id']}:"
        ), finding)

    def test_pairs(self):
        ended = measure(None, "--pattern", "one-to-one", *SPELL,
                        host=",".join(self.names[:2]))
        self.assertEqual(ends_of(ended.document["cases"][0]), [tuple(self.names[:2])])
        ended = Ended(self.run_here("--pattern", "one-to-one"))
        self.assertEqual(ended.status, 2)
        self.assertIn("one-to-one needs an even number of hosts", ended.err)

    def test_table(self):
        ended = Ended(self.run_here("--pattern", "many-to-one", *SPELL))
        self.assertEqual(ended.status, 0, ended.err)
        lines = below_heading(ended.out.splitlines())
        for name in self.names:
            self.assertIn(name, lines[0])
        self.assertRegex(lines[2], r"^send/many-to-one/t8 .*fairness \d\.\d+ of 2 flows of ")
        self.assertRegex(lines[3], rf"^  {self.names[0]} -> {self.names[2]}: [\d.]+ Gb/s$")
        self.assertRegex(lines[4], rf"^  {self.names[1]} -> {self.names[2]}: [\d.]+ Gb/s$")

    def test_redacted(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.json")
            ended = Ended(self.run_here("--pattern", "many-to-one", *SPELL, "--redact",
                                        "--json", path))
            self.assertEqual(ended.status, 0, ended.err)
            with open(path, encoding="utf-8") as file:
                text = file.read()
        document = json.loads(text)
        self.assertNotIn(ADDRESS, text)
        self.assertEqual([party["name"] for party in document["parties"]],
                         ["host 1", "host 2", "host 3"])
        self.assertEqual(ends_of(document["cases"][0]), [("host 1", "host 3"), ("host 2", "host 3")])

    def test_what_is_sent(self):
        """Whoever drives tells what is added up, and not what each queue pair and message took."""
        order = {"type": "drive", "host": ADDRESS, "port": self.servers[1].port, "wait_ms": 0,
                 "parameters": {"op": "write", "metric": "bw", "qps": 2, "latencies": True,
                                "cq-mod": 1, "duration": "1s", "warmup": "0ns", "trials": 1}}
        with Peer.dial(self.servers[0].port) as peer:
            peer.send(HELLO)
            peer.expect("welcome")
            peer.send(order)
            peer.expect("steady")
            peer.send({"type": "go"})
            peer.expect("gone")
            case, = peer.expect("driven")["document"]["cases"]
        self.assertEqual(case["status"], "complete")
        self.assertGreater(case["bandwidth"]["messages"], 0)
        for left_out in ("shares", "latency_ns", "warmup_latency_ns"):
            self.assertNotIn(left_out, list(case))

    def test_gone_while_the_other_end_says_nothing(self):
        """Who asked for a drive goes: no answer of the other end is waited for any more."""
        held = threading.Event()

        def hold(sock):
            peer = Peer(sock)
            peer.expect("hello")
            peer.send({"type": "welcome", "protocol": 4, "version": "0", "host": "n9",
                       "devices": [PORT]})
            peer.expect("describe")
            peer.send({"type": "description", "facts": {}, "noise": {}})
            peer.expect("case")
            peer.send({"type": "failed", "reason": "not here"})
            peer.expect("note")
            held.set()
            # It lives, and that is all.
            peer.receive()

        with Impostor(hold) as other, Server("--drive") as server:
            before = server.threads()
            with Peer.dial(server.port) as peer:
                peer.send(HELLO)
                peer.expect("welcome")
                peer.send({"type": "drive", "host": ADDRESS, "port": other.port, "wait_ms": 0,
                           "parameters": {"op": "write", "metric": "bw"}})
                wait_until(lambda: held.is_set() or peer.send(ALIVE), what="the question")
            wait_until(lambda: server.threads() == before, what="the end of the drive")

    def test_who_does_not_drive(self):
        with Server() as other:
            name = f"{ADDRESS}:{other.port}"
            ended = Ended(self.run_here("--pattern", "many-to-one", names=[name, self.names[0]]))
            self.assertEqual(ended.status, 1)
            self.assertIn(f"{name} drives no other: run 'verbmark serve --drive' there", ended.err)
            # As the one, it need not.
            measure(None, "--pattern", "many-to-one", *SPELL,
                    host=f"{self.names[0]},{name}")

    def test_who_may_be_driven(self):
        """A server goes nowhere that it would not let come."""
        with Server("--drive", "--allow", "127.0.0.1/32,::1/128") as other:
            ended = Ended(self.run_here("--pattern", "many-to-one",
                                        names=[f"localhost:{other.port}", self.names[0]]))
            if ADDRESS.startswith("127."):
                self.assertEqual(ended.status, 0, ended.err)
                return
            self.assertEqual(ended.status, 1)
            self.assertIn("is of no network of 'serve --allow' here", ended.err)

    def test_ports_of_others_are_not_told(self):
        """Where it may not go it does not look who listens."""
        with Server("--drive", "--allow", "127.0.0.1/32,::1/128") as other, Server() as gone:
            gone.kill()
            for port in (self.servers[0].port, gone.port):
                # As no client of ours would ask: it has been there itself.
                with Peer.dial(other.port, "127.0.0.1") as peer:
                    peer.send(HELLO)
                    peer.expect("welcome")
                    peer.send({"type": "drive", "host": "192.0.2.99", "port": port, "wait_ms": 0,
                               "parameters": {"op": "write", "metric": "bw"}})
                    answer = peer.receive()
                self.assertEqual(answer["type"], "failed")
                self.assertEqual(
                    answer["reason"], "192.0.2.99 is of no network of 'serve --allow' here"
                )

    def test_queue_pairs_of_others(self):
        """Nor does it connect to where one says that it listens, but is not."""
        def lie(sock):
            peer = Peer(sock)
            peer.expect("hello")
            peer.send({"type": "welcome", "protocol": 4, "version": "0", "host": "n9",
                       "devices": [PORT]})
            while message := peer.receive():
                if message["type"] == "describe":
                    peer.send({"type": "description", "facts": {}})
                if message["type"] == "case":
                    peer.send({"type": "listening", "address": "192.0.2.99", "ports": [4711]})
                if message["type"] == "stop":
                    peer.send({"type": "failed", "reason": "no"})
                if message["type"] == "note":
                    peer.send({"type": "noted"})

        with Server("--drive", "--allow", "127.0.0.1/32,::1/128") as other, Impostor(lie) as liar:
            with Peer.dial(other.port, "127.0.0.1") as peer:
                peer.send(HELLO)
                peer.expect("welcome")
                peer.send({"type": "drive", "host": "127.0.0.1", "port": liar.port, "wait_ms": 0,
                           "parameters": {"op": "write", "metric": "bw"}})
                case, = peer.expect("driven")["document"]["cases"]
        self.assertIn("the peer's queue pairs are at 192.0.2.99, outside the networks of "
                      "'serve --allow': add it to --allow", case["error"])

    def test_who_tells_of_another_case(self):
        """What is shown is what was asked for, or nothing."""
        document = measure(self.servers[0], "--metric", "bw", *SPELL).document

        def drive(sock):
            peer = Peer(sock)
            peer.expect("hello")
            peer.send({"type": "welcome", "protocol": 4, "version": "0", "host": "n9",
                       "devices": [PORT], "drives": True})
            if peer.receive()["type"] != "drive":
                return
            peer.send({"type": "steady"})
            peer.expect("go")
            peer.send({"type": "gone"})
            peer.send({"type": "driven", "document": document})
            peer.receive()

        with Impostor(drive) as other:
            name = f"{ADDRESS}:{other.port}"
            ended = Ended(self.run_here("--op", "write", "--pattern", "many-to-one", "-D", "30ms",
                                        names=[name, self.names[0]]))
        self.assertEqual(ended.status, 1)
        self.assertIn(f"{name} to {self.names[0]}: {name} has run another case", ended.out)

    def test_nobody_there(self):
        with Server() as gone:
            name = f"{ADDRESS}:{gone.port}"
        ended = Ended(self.run_here("--pattern", "many-to-one", names=[self.names[0], name]))
        self.assertEqual(ended.status, 1)
        self.assertIn(f"nothing listens on {ADDRESS}:{gone.port}; run 'verbmark serve --drive' "
                      "there or add --launch 'ssh %h'", ended.err)

    def test_interrupted_while_it_waits(self):
        """For a host that has gone in the first case, and may still listen in the second."""
        with Server("--drive") as gone, self.run_here(
            "--pattern", "many-to-one", "-s", "64,128,256,512", "-D", "60s", "--wait", "10m",
            names=[f"{ADDRESS}:{gone.port}", self.names[0]],
        ) as run_here:
            self.wait_for_drive(gone, self.servers[0])
            gone.kill()
            wait_until(lambda: below_heading(run_here.out), what="the end of the first case")
            time.sleep(0.5)
            self.assertIsNone(run_here.process.poll(), run_here.errors)
            run_here.signal(signal.SIGINT)
            self.assertEqual(run_here.wait(), 1, run_here.errors)
            self.assertIn("verbmark: interrupted", run_here.errors)

    def test_launched(self):
        with tempfile.TemporaryDirectory() as folder:
            # "Gets there" by staying here.
            path = os.path.join(folder, "there")
            with open(path, "w", encoding="ascii") as script:
                script.write('#!/bin/sh\nshift\nexec "$@"\n')
            os.chmod(path, 0o700)
            document = measure(None, "--launch", f"{path} %h", "--pattern", "all-to-all", *SPELL, host=f"{ADDRESS},localhost").document
        self.assertEqual(ends_of(document["cases"][0]),
                         [(ADDRESS, "localhost"), ("localhost", ADDRESS)])

    def test_secret(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "secret")
            with open(path, "w", encoding="ascii") as file:
                file.write("a secret that is long enough to be one")
            os.chmod(path, 0o600)
            servers = [Server("--drive", "--secret-file", path) for _ in range(2)]
            names = [f"{ADDRESS}:{server.port}" for server in servers]
            try:
                measure(None, "--secret-file", path, "--pattern", "all-to-all", *SPELL,
                        host=",".join(names))
                ended = Ended(self.run_here("--pattern", "all-to-all", names=names))
                self.assertEqual(ended.status, 1)
                self.assertIn("secret", ended.err)
            finally:
                for server in servers:
                    server.kill()

    def test_interrupted(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.json")
            with self.run_here("--pattern", "many-to-one", "-s", "1:64k", "-D", "100ms",
                               "--trials", 2, "--json", path) as run_here:
                wait_until(lambda: os.path.exists(path), what="the first case")
                run_here.signal(signal.SIGINT)
                status = run_here.wait()
            with open(path, encoding="utf-8") as file:
                document = json.load(file)
        states = [case["status"] for case in document["cases"]]
        self.assertEqual(states[0], "complete")
        self.assertEqual((status, states[-1], document["run"]["status"]),
                         (1, "interrupted", "interrupted"))
        self.check_serving()

    def test_one_killed(self):
        """The case says who, the servers that are left go on, and what was measured stays."""
        with tempfile.TemporaryDirectory() as folder, Server("--drive") as victim:
            path = os.path.join(folder, "r.json")
            names = [self.names[0], self.names[1], f"{ADDRESS}:{victim.port}"]
            with self.run_here("--pattern", "many-to-one", "-s", "64,128", "-D", "1s", "--trials",
                               3, "--json", path, names=names) as run_here:
                wait_until(lambda: os.path.exists(path), what="the first case")
                victim.kill()
                self.assertEqual(run_here.wait(), 1)
            with open(path, encoding="utf-8") as file:
                document = json.load(file)
        self.assertEqual([case["status"] for case in document["cases"]], ["complete", "failed"])
        self.assertRegex(document["cases"][1]["error"],
                         f"^({names[0]}|{names[1]}) to {names[2]}: ")
        self.check_serving()

    def test_who_gives_the_order_dies(self):
        with self.run_here("--pattern", "many-to-one", "-D", "60s") as run_here:
            # A driver has its client, and the other server's session: both soon go.
            self.wait_for_drive(self.servers[0], self.servers[-1])
            run_here.kill()
        wait_until(lambda: all(server.threads() <= 2 for server in self.servers),
                   what="the end of all clients")
        self.check_serving()

    def test_who_gives_the_order_dies_early(self):
        """While they warm up, which would take 100 s."""
        with self.run_here("--pattern", "many-to-one", "--think", "1s", "--warmup", "10m", "-D",
                           "1s") as run_here:
            self.wait_for_drive(self.servers[0], self.servers[-1])
            time.sleep(0.5)
            run_here.kill()
        wait_until(lambda: all(server.threads() <= 2 for server in self.servers),
                   what="the end of all clients")
        self.check_serving()

    def test_refusals(self):
        for options, sentence in (
            ((), "several hosts need --pattern, which says who talks to whom"),
            (("--pattern", "all-to-all", "--latencies"), "work only with one HOST"),
            (("--pattern", "all-to-all", "--interleave"), "work only with one HOST"),
            (("--pattern", "all-to-all", "-b"), "work only with one HOST"),
            (("--pattern", "all-to-all", "--server-device", "x"), "work only with one HOST"),
            (("--pattern", "all-to-all", "--device", "x"), "work only with one HOST"),
        ):
            ended = Ended(self.run_here(*options))
            self.assertEqual(ended.status, 2, ended.err)
            self.assertIn(sentence, ended.err)

    def test_program_is_one_word(self):
        """Of HOST alone a comma is no list where it is asked for one thing."""
        program = Program(VERBMARK, "doctor", "--json", ",".join(self.names))
        ended = Ended(program, 30)
        self.assertEqual(ended.status, 1)
        found = [row for row in json.loads("\n".join(program.out))["findings"]
                 if row["code"] == "unreachable"]
        self.assertEqual([row["host"] for row in found], [",".join(self.names)[:63]])


if __name__ == "__main__":
    unittest.main()
