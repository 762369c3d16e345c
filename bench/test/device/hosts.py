# SPDX-License-Identifier: MIT
"""Two machines: servers that are started over there, and what the doctor finds between them."""

import json
import os
import subprocess
import tempfile
import unittest

import verbmark
from verbmark import (
    ADDRESS, PATIENCE, VERBMARK, Ended, Program, ServedThere, client, run, wait_until,
)

PEER = os.environ["SOFTROCE_PEER_ADDRESS"]
NETDEV = os.environ["SOFTROCE_NETDEV"]


def over_there(*command):
    return subprocess.run(["on-second", *command], capture_output=True, text=True, check=False)


def serving(machine=()):
    """The process ids of the servers there."""
    found = subprocess.run(
        [*machine, "pgrep", "-f", "verbmark serve"], capture_output=True, text=True, check=False
    )
    return found.stdout.split()


def measure(*options):
    return verbmark.measure(None, *options, host=PEER).document


class Launch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not os.path.exists("/usr/sbin/sshd"):
            raise unittest.SkipTest("no sshd")
        # A folder that both machines have.
        cls.folder = tempfile.mkdtemp(dir=os.environ["OUT"])
        for name in ("host", "user"):
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{cls.folder}/{name}")
        with open(f"{cls.folder}/config", "w", encoding="ascii") as config:
            config.write(
                f"HostKey {cls.folder}/host\nAuthorizedKeysFile {cls.folder}/user.pub\n"
                "StrictModes no\nPidFile none\nUsePAM no\nPermitRootLogin yes\n"
            )
        cls.sshd = Program(
            "on-second", "sh", "-c",
            f"mkdir -p /run/sshd && exec /usr/sbin/sshd -D -e -f {cls.folder}/config",
        )
        wait_until(lambda: "listening" in cls.sshd.errors, what="sshd")
        # The key is copied: on the shared folder it may look as if others could read it.
        cls.key = tempfile.NamedTemporaryFile()
        with open(f"{cls.folder}/user", "rb") as key:
            cls.key.write(key.read())
        cls.key.flush()
        cls.ssh = (
            f"ssh -i {cls.key.name} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null "
            "-o LogLevel=ERROR -o ControlPath=none -o BatchMode=yes %h"
        )

    @classmethod
    def tearDownClass(cls):
        cls.sshd.kill()
        cls.key.close()
        subprocess.run(["rm", "-rf", cls.folder], check=True)

    def nobody_serves(self):
        wait_until(lambda: not serving(("on-second",)), what="the end of the server over there")

    def test_ssh(self):
        document = measure("--launch", self.ssh, "-n", 100, "--op", "send,write,read")
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

    def test_the_run_is_killed(self):
        with client("--launch", self.ssh, "-D", "60s", "--json", os.devnull, host=PEER) as run_here:
            wait_until(lambda: serving(("on-second",)), what="the server over there")
            run_here.kill()
        self.nobody_serves()

    def test_no_such_program(self):
        program = Program(VERBMARK, "run", PEER, "--no-save", "--launch", f"{self.ssh} exec not-there")
        ended = Ended(program)
        self.assertEqual(ended.status, 1)
        self.assertRegex(
            ended.err, "not-there.*\nverbmark: the server that --launch started has ended: see above$"
        )

    def test_no_such_key(self):
        words = self.ssh.replace(self.key.name, "/dev/null")
        ended = Ended(client("--launch", words, host=PEER))
        self.assertEqual(ended.status, 1)
        self.assertIn("verbmark: the server that --launch started has ended: see above", ended.err)


class Here(unittest.TestCase):
    def test_a_namespace(self):
        # The device is in this one, which is given a name.
        run("ip", "netns", "attach", "here", str(os.getpid()))
        self.addCleanup(run, "ip", "netns", "delete", "here")
        ended = Ended(
            client("--launch", "ip netns exec %h", "-n", 50, host="here", before=("env",)), PATIENCE
        )
        # The name of the namespace is no host, and is told so after the server was there.
        self.assertIn("cannot resolve 'here'", ended.err)
        run("sh", "-c", f"echo {ADDRESS} here >>/etc/hosts")
        ended = Ended(client("--launch", "ip netns exec %h", "-n", 50, host="here"), PATIENCE)
        self.assertEqual(ended.status, 0, ended.err)
        self.assertFalse(serving())


class Wire(ServedThere):
    """A server over there, and packets of RDMA that are dropped on their way."""
    # The length in the IP header: more than 4095, more than 2047.
    LONGEST = ("match", "u16", "0x1000", "0x1000", "at", "2")
    LONGER = ("match", "u16", "0x0800", "0x0800", "at", "2")

    def lose(self, percent, *match, **kind):
        verbmark.lose(self, NETDEV, percent, *match, **kind)

    @staticmethod
    def sort(*match, **kind):
        verbmark.sort(NETDEV, *match, **kind)


class Limits(Wire):
    def test_the_smaller_of_both_mtus(self):
        """What the other end's port cannot carry is left out before anything is sent."""
        # The network card's, with room for headers: that of RDMA is 1024 then.
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
            rf"^{PEER}'s \S+/1: message size 2048 exceeds the MTU 1024, which is all that a "
            "datagram carries$",
        )


class Doctor(Wire):
    THERE = ("on-second",)
    # The queue pair in the transport's header: 1 is that of rdma_cm.
    MANAGEMENT = ("match", "u32", "0x00000001", "0x00ffffff", "at", "32")

    def examine(self, host=PEER):
        """Findings by their codes, within the time that they may take."""
        ended = Ended(Program(VERBMARK, "doctor", "--json", host))
        self.assertEqual(ended.err, "")
        document = json.loads(ended.out)
        spoiling = [row for row in document["findings"] if row["spoils"]]
        self.assertEqual(ended.status, int(bool(spoiling)))
        return {row["code"]: row for row in document["findings"]}

    def test_a_good_path(self):
        found = self.examine()
        self.assertFalse(found["path"]["spoils"], found)
        self.assertIn("get to softroce2 and back, with an MTU of 4096", found["path"]["what"])
        # An emulated machine may be too slow for an acknowledgement in time: that is no such.
        self.assertFalse(set(found) & {"path-blocked", "path-mtu", "path-loss", "connect-cm"})

    def check_blocked(self):
        found = self.examine()
        self.assertNotIn("path", found)
        self.assertIn("from softroce2's", found["path-blocked"]["what"])
        self.assertIn("--add-port=4791/udp", found["path-blocked"]["mend"])

    def test_nothing_arrives(self):
        self.lose(100)
        self.check_blocked()

    def test_nothing_comes_back(self):
        self.lose(100, machine=self.THERE)
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
        self.sort(*self.LONGER)
        self.check_mtu(1024)

    def test_large_packets_are_lost_on_their_way_back(self):
        self.lose(100, *self.LONGEST, machine=self.THERE)
        self.check_mtu(2048)

    def test_rdma_cm_is_blocked(self):
        self.lose(100, *self.MANAGEMENT)
        found = self.examine()
        self.assertTrue(found["connect-cm"]["spoils"])
        self.assertIn("(--connect qp works)", found["connect-cm"]["what"])
        self.assertIn("--connect qp", found["connect-cm"]["mend"])
        # What is proven is said besides.
        self.assertRegex(found["path"]["what"], "connected with --connect qp$")

    def test_some_packets_are_lost(self):
        # Of some 200 packets: with a twentieth, none is spared by chance.
        self.lose(5)
        found = self.examine()
        # Both ends count what they send again, or miss.
        self.assertTrue(found["lost-packets"]["spoils"], found)

    def test_the_control_port_is_closed(self):
        self.lose(100, protocol=6, port=7471)
        ended = Ended(Program(VERBMARK, "doctor", "--json", PEER))
        document = json.loads(ended.out)
        found = {row["code"]: row for row in document["findings"]}
        self.assertTrue(found["firewall"]["spoils"])
        self.assertIn("--add-port=7471/tcp", found["firewall"]["mend"])
        # This end was examined all the same.
        self.assertIn("software-device", found)
