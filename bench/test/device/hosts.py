# SPDX-License-Identifier: MIT
"""Two machines: servers launched on the second one, and what the doctor finds between them."""

import json
import os
import subprocess
import unittest

import over_ssh
import verbmark
from verbmark import (
    ADDRESS, PATIENCE, VERBMARK, Ended, Program, ServedRemotely, client, run, wait_until,
)

PEER = os.environ["SOFTROCE_PEER_ADDRESS"]
NETDEV = os.environ["SOFTROCE_NETDEV"]


def on_second(*command):
    return subprocess.run(["on-second", *command], capture_output=True, text=True, check=False)


def serving(machine=()):
    """Returns the process ids of the servers on a machine."""
    found = subprocess.run(
        [*machine, "pgrep", "-f", "verbmark serve"], capture_output=True, text=True, check=False
    )
    return found.stdout.split()


def measure(*options):
    return verbmark.measure(None, *options, host=PEER).document


class Launch(over_ssh.OverSsh):
    def nobody_serves(self):
        wait_until(lambda: not serving(("on-second",)), what="the launched server to end")

    def test_ssh(self):
        document = measure("--launch", f"{self.ssh} %h", "-n", 100, "--op", "send,write,read")
        self.assertEqual(
            [case["status"] for case in document["cases"]], ["complete"] * 3
        )
        hosts = document["hosts"]
        self.assertEqual(hosts["client"]["host"], "softroce1")
        self.assertEqual(hosts["server"]["host"], "softroce2")
        self.assertEqual(hosts["client"]["address"], ADDRESS)
        self.assertEqual(hosts["server"]["address"], PEER)
        for case in document["cases"]:
            for end in ("client", "server"):
                self.assertGreater(case["counters"][end]["sent_pkts"], 100)
        self.nobody_serves()

    def test_killed_client(self):
        launch = ("--launch", f"{self.ssh} %h")
        with client(*launch, "-D", "60s", "--json", os.devnull, host=PEER) as run_here:
            wait_until(lambda: serving(("on-second",)), what="the launched server")
            run_here.kill()
        self.nobody_serves()

    def test_missing_program(self):
        launch = ("--launch", f"{self.ssh} %h exec not-there")
        ended = Ended(Program(VERBMARK, "run", PEER, "--no-save", *launch))
        self.assertEqual(ended.status, 1)
        self.assertRegex(
            ended.err,
            "not-there.*\nverbmark: the server started by --launch exited: see its messages above$",
        )

    def test_missing_key(self):
        words = self.ssh.replace(self.key.name, "/dev/null")
        ended = Ended(client("--launch", f"{words} %h", host=PEER))
        self.assertEqual(ended.status, 1)
        self.assertIn("the server started by --launch exited: see its messages above", ended.err)


class Namespace(unittest.TestCase):
    def test_launch_in_a_namespace(self):
        # Name the current namespace, which has the device.
        run("ip", "netns", "attach", "here", str(os.getpid()))
        self.addCleanup(run, "ip", "netns", "delete", "here")
        ended = Ended(
            client("--launch", "ip netns exec %h", "-n", 50, host="here", before=("env",)), PATIENCE
        )
        # The server starts, but the namespace's name is not a host name.
        self.assertIn("cannot resolve 'here'", ended.err)
        run("sh", "-c", f"echo {ADDRESS} here >>/etc/hosts")
        ended = Ended(client("--launch", "ip netns exec %h", "-n", 50, host="here"), PATIENCE)
        self.assertEqual(ended.status, 0, ended.err)
        self.assertFalse(serving())


class Wire(ServedRemotely):
    """A server on the second machine, and RDMA packets that are dropped on the wire."""
    # Bits of the length in the IP header: 4096 or more, and 2048 or more.
    LONGEST = ("match", "u16", "0x1000", "0x1000", "at", "2")
    LONGER = ("match", "u16", "0x0800", "0x0800", "at", "2")

    def lose(self, percent, *match, **kind):
        verbmark.lose(self, NETDEV, percent, *match, **kind)

    @staticmethod
    def match_packets(*match, **kind):
        verbmark.match_packets(NETDEV, *match, **kind)


class Limits(Wire):
    def test_smaller_mtu_of_client_and_server(self):
        """Cases that the server's port cannot carry are skipped up front."""
        # With headers, the network card's MTU leaves 1024 bytes for RDMA.
        mtu = run("on-second", "cat", f"/sys/class/net/{NETDEV}/mtu").strip()
        change = ("on-second", "ip", "link", "set", "dev", NETDEV, "mtu")
        run(*change, "1500")
        self.addCleanup(run, *change, mtu)
        document = measure("-c", "UD", "-s", "1k,2k", "-n", 50)
        self.assertEqual(document["hosts"]["client"]["mtu"], 4096)
        self.assertEqual(document["hosts"]["server"]["mtu"], 1024)
        small, large = document["cases"]
        self.assertEqual((small["status"], large["status"]), ("complete", "skipped"))
        self.assertRegex(
            large["error"],
            rf"^{PEER}'s \S+/1: message size 2048 exceeds the MTU 1024, the limit of a "
            "datagram$",
        )


class Doctor(Wire):
    SECOND = ("on-second",)
    # The destination queue pair in the BTH: 1 is that of rdma_cm.
    MANAGEMENT = ("match", "u32", "0x00000001", "0x00ffffff", "at", "32")

    def examine(self, host=PEER):
        """Returns the findings by code."""
        ended = Ended(Program(VERBMARK, "doctor", "--json", host))
        self.assertEqual(ended.err, "")
        document = json.loads(ended.out)
        spoiling = [row for row in document["findings"] if row["spoils"]]
        self.assertEqual(ended.status, int(bool(spoiling)))
        return {row["code"]: row for row in document["findings"]}

    def test_good_path(self):
        found = self.examine()
        self.assertFalse(found["path"]["spoils"], found)
        self.assertIn("get to softroce2 and back, with an MTU of 4096", found["path"]["what"])
        # Late acknowledgments, as on an emulated machine, must not cause these findings.
        self.assertFalse(set(found) & {"path-blocked", "path-mtu", "path-loss", "connect-cm"})

    def check_blocked(self):
        found = self.examine()
        self.assertNotIn("path", found)
        self.assertIn("from softroce2's", found["path-blocked"]["what"])
        self.assertIn("--add-port=4791/udp", found["path-blocked"]["mend"])

    def test_nothing_arrives(self):
        self.lose(100)
        self.check_blocked()

    def test_no_reply_arrives(self):
        self.lose(100, machine=self.SECOND)
        self.check_blocked()

    def check_mtu(self, passes):
        found = self.examine()
        self.assertNotIn("path", found)
        self.assertNotIn("path-blocked", found)
        self.assertRegex(
            found["path-mtu"]["what"],
            r"the MTU is 4096 on \S+/1 and 4096 on softroce2's \S+/1, .*but not with -m "
            f"{passes}$",
        )
        self.assertIn("ip link set dev", found["path-mtu"]["mend"])

    def test_large_packets_are_lost(self):
        self.lose(100, *self.LONGEST)
        self.match_packets(*self.LONGER)
        self.check_mtu(1024)

    def test_large_replies_are_lost(self):
        self.lose(100, *self.LONGEST, machine=self.SECOND)
        self.check_mtu(2048)

    def test_rdma_cm_is_blocked(self):
        self.lose(100, *self.MANAGEMENT)
        found = self.examine()
        self.assertTrue(found["connect-cm"]["spoils"])
        self.assertIn("(--connect qp works)", found["connect-cm"]["what"])
        self.assertIn("--connect qp", found["connect-cm"]["mend"])
        # The path is still reported as far as it works.
        self.assertRegex(found["path"]["what"], "connected with --connect qp$")

    def test_some_packets_are_lost(self):
        # About 200 packets are sent, so at least one is lost.
        self.lose(5)
        found = self.examine()
        # Both hosts count retransmissions and gaps.
        self.assertTrue(found["lost-packets"]["spoils"], found)

    def test_closed_control_port(self):
        self.lose(100, protocol=6, port=7471)
        ended = Ended(Program(VERBMARK, "doctor", "--json", PEER))
        document = json.loads(ended.out)
        found = {row["code"]: row for row in document["findings"]}
        self.assertTrue(found["firewall"]["spoils"])
        self.assertIn("--add-port=7471/tcp", found["firewall"]["mend"])
        # The local host is examined in any case.
        self.assertIn("software-device", found)
