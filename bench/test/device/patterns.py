# SPDX-License-Identifier: MIT
"""Traffic patterns: several clients and servers at once, in one process and on several hosts."""

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

# Long enough for each flow to get its turn if CPUs are slow and fewer than threads.
SPELL_MS = 30 if IS_SOFT else 200
SPELL = ("-D", f"{SPELL_MS}ms", "-t", 8)
# The same with even more threads than CPUs.
LONG_SPELL = ("-D", "200ms", "-t", 8)

PATTERNS = "one-to-one,many-to-one,one-to-many,all-to-all"


def jain(rates):
    """Implements the definition in R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984."""
    return sum(rates) ** 2 / (len(rates) * sum(rate * rate for rate in rates))


def ends_of(case):
    return [(flow["from"], flow["to"]) for flow in case["flows"]["flows"]]


class Checked(unittest.TestCase):
    def check_flows(self, case):
        """Checks that flows add up and that the fairness index matches its definition."""
        flows = case["flows"]["flows"]
        self.assertEqual(case["status"], "complete", case)
        self.assertEqual(sum(flow["messages"] for flow in flows), case["bandwidth"]["messages"])
        # On a busy machine some flow may have had no turn.
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
                        [(f"client {source}", f"server {target}")
                         for source, target in wanted[case["pattern"]]],
                    )
                    # All flows were measured over the same time.
                    self.assertNotIn("start_spread_ns", case["flows"])
                    for flow in case["flows"]["flows"]:
                        self.assertGreaterEqual(flow["duration_ns"], 2 * SPELL_MS * 1e6)

    def test_payload_verification(self):
        """Each queue pair's messages arrive in its own buffer."""
        document = measure(
            self.server, "--op", "send,read", "--verify", "-s", "100", "-D", "200ms", "-t", 8,
            "-q", 2, "--threads", 3, "--pattern", PATTERNS,
        ).document
        for case in document["cases"]:
            self.check_flows(case)

    def test_notifications_and_bidirectional(self):
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

    def test_invalid_options(self):
        for options, sentence in (
            ((), "--pattern needs several hosts, or --threads above 1"),
            (("--threads", 2, "--metric", "lat"), "--pattern applies only to bw"),
            (("--threads", 2, "-n", 5), "--pattern needs a common duration; use -D instead of -n"),
        ):
            ended = Ended(client("--pattern", "many-to-one", *options, port=self.server.port))
            self.assertEqual(ended.status, 2)
            self.assertIn(sentence, ended.err)


class AmongHosts(Checked):
    """Three servers, each of which also acts as a client of the others."""

    @classmethod
    def setUpClass(cls):
        cls.servers = [Server("--drive") for _ in range(3)]
        cls.names = [f"{ADDRESS}:{server.port}" for server in cls.servers]

    @classmethod
    def tearDownClass(cls):
        for server in cls.servers:
            server.kill()

    def start_run(self, *options, names=None):
        return client(*options, host=",".join(names or self.names))

    def check_serving(self):
        for server in self.servers:
            measure(server, "-n", 10)

    def wait_for_drive(self, driver, target):
        """Waits until both servers run a long case together; each is asked for its facts first."""
        def drives():
            return driver.threads() > 2 and target.threads() > 2

        wait_until(lambda: drives() and not time.sleep(0.2) and drives(), what="the drive")

    def test_patterns(self):
        one, other, last = self.names
        wanted = {
            "many-to-one": [(one, last), (other, last)],
            "one-to-many": [(one, other), (one, last)],
            "all-to-all": [(a, b) for a in self.names for b in self.names if a != b],
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

    def test_losses(self):
        """Losses of all flows are reported together, once, with the worst case in the document."""
        document = measure(
            None, "--op", "send", "--transport", "ud", "--think", "200us", "-s", "64,1k",
            "-D", "300ms", "-t", 8, "--pattern", "many-to-one", host=",".join(self.names),
        ).document
        def per_mille_of(case):
            return case["loss"]["lost"] * 1000 // case["loss"]["sent"]

        # The first case with the largest loss.
        case = max(document["cases"], key=per_mille_of)
        per_mille = per_mille_of(case)
        self.assertGreaterEqual(per_mille, 500)
        (finding,) = [row for row in document["warnings"] if row["code"] == "lost-messages"]
        self.assertEqual(finding["host"], "all hosts")
        self.assertTrue(finding["what"].startswith(
            f"{per_mille // 10}.{per_mille % 10} % of the messages were lost, e.g. in {case['id']}:"
        ), finding)

    def test_pairs(self):
        ended = measure(None, "--pattern", "one-to-one", *SPELL,
                        host=",".join(self.names[:2]))
        self.assertEqual(ends_of(ended.document["cases"][0]), [tuple(self.names[:2])])
        ended = Ended(self.start_run("--pattern", "one-to-one"))
        self.assertEqual(ended.status, 2)
        self.assertIn("one-to-one needs an even number of hosts", ended.err)

    def test_table(self):
        ended = Ended(self.start_run("--pattern", "many-to-one", *SPELL))
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
            ended = Ended(self.start_run("--pattern", "many-to-one", *SPELL, "--redact",
                                        "--json", path))
            self.assertEqual(ended.status, 0, ended.err)
            with open(path, encoding="utf-8") as file:
                text = file.read()
        document = json.loads(text)
        self.assertNotIn(ADDRESS, text)
        self.assertEqual([party["name"] for party in document["parties"]],
                         ["host 1", "host 2", "host 3"])
        self.assertEqual(ends_of(document["cases"][0]), [("host 1", "host 3"), ("host 2", "host 3")])

    def test_document_of_a_driver(self):
        """A driving server sends totals, but no details of queue pairs and messages."""
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

    def test_client_disconnects_while_the_driven_server_is_silent(self):
        """When the client that ordered a drive disconnects, the driver stops waiting."""
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
            # Sends only heartbeats from here on.
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

    def test_server_without_drive(self):
        with Server() as other:
            name = f"{ADDRESS}:{other.port}"
            ended = Ended(self.start_run("--pattern", "many-to-one", names=[name, self.names[0]]))
            self.assertEqual(ended.status, 1)
            self.assertIn(
                f"{name} does not drive other servers: run 'verbmark serve --drive' there",
                ended.err,
            )
            # The single target of a pattern need not drive.
            measure(None, "--pattern", "many-to-one", *SPELL,
                    host=f"{self.names[0]},{name}")

    def test_allowed_targets(self):
        """A server connects only to addresses that it would accept clients from."""
        with Server("--drive", "--allow", "127.0.0.1/32,::1/128") as other:
            ended = Ended(self.start_run("--pattern", "many-to-one",
                                        names=[f"localhost:{other.port}", self.names[0]]))
            if ADDRESS.startswith("127."):
                self.assertEqual(ended.status, 0, ended.err)
                return
            self.assertEqual(ended.status, 1)
            self.assertIn("is not in any network of 'serve --allow'", ended.err)

    def test_ports_elsewhere_are_not_probed(self):
        """A server does not reveal if a port outside of its allowed networks is open."""
        with Server("--drive", "--allow", "127.0.0.1/32,::1/128") as other, Server() as gone:
            gone.kill()
            for port in (self.servers[0].port, gone.port):
                # Our own client would not ask: it connects to each host itself first.
                with Peer.dial(other.port, "127.0.0.1") as peer:
                    peer.send(HELLO)
                    peer.expect("welcome")
                    peer.send({"type": "drive", "host": "192.0.2.99", "port": port, "wait_ms": 0,
                               "parameters": {"op": "write", "metric": "bw"}})
                    answer = peer.receive()
                self.assertEqual(answer["type"], "failed")
                self.assertEqual(
                    answer["reason"], "192.0.2.99 is not in any network of 'serve --allow'"
                )

    def test_queue_pairs_of_others(self):
        """Nor does a server connect to queue pairs at addresses that are not allowed."""
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

    def test_document_of_another_case(self):
        """A driver that returns another case than the requested one makes the case fail."""
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
            ended = Ended(self.start_run("--op", "write", "--pattern", "many-to-one", "-D", "30ms",
                                        names=[name, self.names[0]]))
        self.assertEqual(ended.status, 1)
        self.assertIn(f"{name} to {self.names[0]}: {name} ran a different case", ended.out)

    def test_missing_server(self):
        with Server() as gone:
            name = f"{ADDRESS}:{gone.port}"
        ended = Ended(self.start_run("--pattern", "many-to-one", names=[self.names[0], name]))
        self.assertEqual(ended.status, 1)
        self.assertIn(f"nothing listens on {ADDRESS}:{gone.port}; run 'verbmark serve --drive' "
                      "there or add --launch 'ssh %h'", ended.err)

    def test_interrupted_while_waiting(self):
        """The client waits for a host that disappeared in the first case and may come back."""
        with Server("--drive") as gone, self.start_run(
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
            # A stand-in for ssh that stays on this machine.
            path = os.path.join(folder, "ssh")
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
                ended = Ended(self.start_run("--pattern", "all-to-all", names=names))
                self.assertEqual(ended.status, 1)
                self.assertIn("secret", ended.err)
            finally:
                for server in servers:
                    server.kill()

    def test_interrupted(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.json")
            with self.start_run("--pattern", "many-to-one", "-s", "1:64k", "-D", "100ms",
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

    def test_killed_server(self):
        """The case names the lost host, the other servers go on, and earlier cases are kept."""
        with tempfile.TemporaryDirectory() as folder, Server("--drive") as victim:
            path = os.path.join(folder, "r.json")
            names = [self.names[0], self.names[1], f"{ADDRESS}:{victim.port}"]
            with self.start_run("--pattern", "many-to-one", "-s", "64,128", "-D", "1s", "--trials",
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

    def test_killed_client(self):
        with self.start_run("--pattern", "many-to-one", "-D", "60s") as run_here:
            # A driver serves its client and the other server's session; both soon end.
            self.wait_for_drive(self.servers[0], self.servers[-1])
            run_here.kill()
        wait_until(lambda: all(server.threads() <= 2 for server in self.servers),
                   what="the end of all clients")
        self.check_serving()

    def test_killed_client_during_warmup(self):
        """The warm-up would take 100 s."""
        with self.start_run("--pattern", "many-to-one", "--think", "1s", "--warmup", "10m", "-D",
                           "1s") as run_here:
            self.wait_for_drive(self.servers[0], self.servers[-1])
            time.sleep(0.5)
            run_here.kill()
        wait_until(lambda: all(server.threads() <= 2 for server in self.servers),
                   what="the end of all clients")
        self.check_serving()

    def test_invalid_options_with_several_hosts(self):
        for options, sentence in (
            ((), "several hosts need --pattern, which says who talks to whom"),
            (("--pattern", "all-to-all", "--latencies"), "work only with one HOST"),
            (("--pattern", "all-to-all", "--interleave"), "work only with one HOST"),
            (("--pattern", "all-to-all", "-b"), "work only with one HOST"),
            (("--pattern", "all-to-all", "--server-device", "x"), "work only with one HOST"),
            (("--pattern", "all-to-all", "--device", "x"), "work only with one HOST"),
        ):
            ended = Ended(self.start_run(*options))
            self.assertEqual(ended.status, 2, ended.err)
            self.assertIn(sentence, ended.err)

    def test_list_of_hosts_for_doctor(self):
        """Commands that take one HOST do not split it at commas."""
        program = Program(VERBMARK, "doctor", "--json", ",".join(self.names))
        ended = Ended(program, 30)
        self.assertEqual(ended.status, 1)
        found = [row for row in json.loads("\n".join(program.out))["findings"]
                 if row["code"] == "unreachable"]
        self.assertEqual([row["host"] for row in found], [",".join(self.names)[:63]])


if __name__ == "__main__":
    unittest.main()
