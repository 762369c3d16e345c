# SPDX-License-Identifier: MIT
"""The commands devices and doctor, compared with iproute2 and the kernel."""

import json
import os
import re
import subprocess
import unittest

from verbmark import ADDRESS, DEVICE, Server, client, counter, verbmark, wait_until


def ask(*command):
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def is_rxe(device):
    return os.path.exists(f"/sys/class/infiniband/{device}/parent")


class Devices(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.links = ask("rdma", "-j", "link")

    def test_json_agrees_with_the_kernel(self):
        shown = verbmark("devices", "--json")
        self.assertEqual(shown.status, 0)
        ports = json.loads(shown.out)
        self.assertEqual(
            [(port["device"], port["port"]) for port in ports],
            [(link["ifname"], link["port"]) for link in self.links],
        )
        for port, link in zip(ports, self.links):
            self.assertEqual(port["kind"] == "rxe", is_rxe(link["ifname"]))
            interface = ask("ip", "-j", "addr", "show", link["netdev"])[0]
            self.assertEqual(port["state"], link["state"])
            self.assertEqual(port["link_layer"], "Ethernet")
            addresses = {
                (row["address"].partition("%")[0], row["prefix"], row["interface"])
                for row in port["addresses"]
            }
            wanted = {
                (row["local"], row["prefixlen"], link["netdev"]) for row in interface["addr_info"]
            }
            self.assertEqual(addresses, wanted)
            # The largest RDMA MTU that fits into the interface's, including headers.
            self.assertEqual(port["mtu"], max(m for m in (256, 512, 1024, 2048, 4096)
                                              if m + 80 <= interface["mtu"] or m == 256))

    def test_table(self):
        shown = verbmark("devices")
        self.assertEqual(shown.status, 0)
        head, *lines = shown.out.splitlines()
        self.assertEqual(head.split(), "DEVICE/PORT KIND STATE LINK Gb/s MTU NUMA ADDRESSES".split())
        self.assertEqual(len(lines), len(self.links))
        for line, link in zip(lines, self.links):
            words = line.split()
            self.assertEqual(words[0], f"{link['ifname']}/{link['port']}")
            kind = "rxe" if is_rxe(link["ifname"]) else "hardware"
            self.assertEqual(words[1:4], [kind, link["state"], "Ethernet"])
            interface = ask("ip", "-j", "addr", "show", link["netdev"])[0]
            for row in interface["addr_info"]:
                self.assertRegex(line, rf" {row['local']}(%{link['netdev']})?/{row['prefixlen']}\b")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


class Doctor(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.link = ask("rdma", "-j", "link")[0]
        cls.name = cls.link["ifname"]
        cls.port = cls.link["port"]
        cls.folder = f"/sys/class/infiniband/{cls.name}"

    def examine(self, *words):
        ended = verbmark("doctor", "--json", *words)
        self.assertEqual(ended.err, "")
        document = json.loads(ended.out)
        spoiling = [row for row in document["findings"] if row["spoils"]]
        self.assertEqual(ended.status, int(bool(spoiling)), spoiling)
        self.assertEqual(document["good"], not spoiling)
        return document

    @staticmethod
    def spoiling(document):
        return {row["code"] for row in document["findings"] if row["spoils"]}

    def test_facts_of_the_device(self):
        facts = self.examine("-d", f"{self.name}/{self.port}")["hosts"]["client"]
        netdev = ask("ip", "-j", "link", "show", self.link["netdev"])[0]
        port = facts["port"]
        self.assertEqual(facts["device"]["name"], self.name)
        self.assertEqual(port["number"], self.port)
        self.assertEqual(port["state"], self.link["state"])
        self.assertEqual(
            re.sub("[^a-z]", "", port["phys_state"].lower()),
            re.sub("[^a-z]", "", self.link["physical_state"].lower()),
        )
        self.assertEqual(port["rate"], read(f"{self.folder}/ports/{self.port}/rate"))
        self.assertEqual(facts["netdev"]["name"], self.link["netdev"])
        self.assertEqual(facts["netdev"]["mtu"], netdev["mtu"])
        self.assertIn("RoCE v2", port["gid_types"])
        shown = subprocess.run(
            ("ibv_devinfo", "-v", "-d", self.name), check=True, capture_output=True, text=True
        ).stdout
        wanted = dict(re.findall(r"(?m)^\s*([a-z_]+):\s+(\S+)", shown))
        self.assertEqual(port["active_mtu"], int(wanted["active_mtu"]))
        self.assertEqual(port["max_mtu"], int(wanted["max_mtu"]))
        self.assertEqual(int(facts["device"]["vendor_id"], 16), int(wanted["vendor_id"], 16))
        self.assertEqual(facts["device"]["vendor_part_id"], int(wanted["vendor_part_id"]))
        self.assertEqual(facts["device"]["fw_ver"], wanted["fw_ver"])
        self.assertEqual(facts["device"]["node_guid"], wanted["node_guid"])
        self.assertEqual(
            facts["interrupts"]["completion_vectors"], int(wanted["num_comp_vectors"])
        )

    def test_facts_of_the_host(self):
        facts = self.examine()["hosts"]["client"]
        self.assertEqual(facts["kernel"]["release"], os.uname().release)
        self.assertEqual(facts["kernel"]["cmdline"], read("/proc/cmdline"))
        self.assertEqual(
            facts["clock"]["source"],
            read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        )
        self.assertEqual(facts["cpu"]["count"], os.cpu_count())
        self.assertIn(facts["cpu"]["model"], read("/proc/cpuinfo"))
        self.assertEqual(
            facts["environment"]["softroce_accel"], os.environ["SOFTROCE_ACCEL"]
        )
        for node in facts["access"].values():
            self.assertTrue(os.path.exists(node["path"]), node)
            self.assertTrue(node["opens"], node)
        # rdma-core's version is that in the name of its library.
        library = os.path.basename(os.path.realpath("/usr/lib/x86_64-linux-gnu/libibverbs.so.1"))
        if library != "libibverbs.so.1":
            self.assertEqual(facts["rdma_core"]["library"], library)
            self.assertTrue(library.endswith("." + facts["rdma_core"]["version"]))

    def test_software_device_is_a_note(self):
        if not is_rxe(self.name):
            self.skipTest("this is not a Soft-RoCE device")
        document = self.examine("-d", self.name)
        facts = document["hosts"]["client"]
        self.assertTrue(facts["device"]["software"])
        self.assertEqual(facts["device"]["kind"], "rxe")
        self.assertEqual(facts["device"]["driver"], "rdma_rxe")
        self.assertRegex(facts["rdma_core"]["provider"], "rxe")
        self.assertNotIn("pcie", facts)
        found = [row for row in document["findings"] if row["code"] == "software-device"]
        self.assertEqual([row["spoils"] for row in found], [False])
        self.assertFalse(self.spoiling(document) & {
            "no-device", "device", "rights", "port", "memlock", "clock", "governor", "pcie", "numa",
        })

    def test_local_server(self):
        with Server() as server:
            document = self.examine(ADDRESS, "-p", server.port)
        server_facts = document["hosts"]["server"]
        self.assertEqual(server_facts["host"], document["hosts"]["client"]["host"])
        self.assertEqual(server_facts["port"]["active_mtu"],
                         document["hosts"]["client"]["port"]["active_mtu"])
        self.assertFalse(self.spoiling(document) & {
            "server", "network", "firewall", "unreachable", "mtu", "gid-type", "link-layer",
        })
        self.assertEqual(server.errors, "")

    def test_unknown_device(self):
        ended = verbmark("doctor", "-d", "nothing0")
        self.assertEqual(ended.status, 1)
        self.assertEqual(ended.out, "")
        self.assertTrue(ended.err.startswith("verbmark: no device 'nothing0'; available: "))

    def test_counters(self):
        quiet = self.examine("-d", self.name)["counters"]
        self.assertEqual({name: count for name, count in quiet.items() if count}, {})
        self.assertIn("rcvd_seq_err", quiet)
        before = counter("sent_pkts")
        with Server() as server, client("-n", "10000000", port=server.port) as busy:
            wait_until(lambda: counter("sent_pkts") > before + 200, what="traffic")
            counters = self.examine("-d", self.name)["counters"]
            self.assertIsNone(busy.process.poll())
        self.assertGreater(counters["sent_pkts"], 100)
        self.assertGreater(counters["rcvd_pkts"], 100)


SPARE, SPARE_ADDRESS = "spare0", "10.98.0.1"


def shell(command):
    return subprocess.run(command, shell=True, check=False, capture_output=True, text=True)


class Spare(unittest.TestCase):
    """A pool on a second device, which comes after the first one in every list."""

    @classmethod
    def setUpClass(cls):
        made = shell(
            "modprobe -q veth; ip link add vmspare0 type veth peer name vmspare1 && "
            f"ip address add {SPARE_ADDRESS}/24 dev vmspare0 && "
            "ip link set vmspare0 up && ip link set vmspare1 up && "
            f"rdma link add {SPARE} type rxe netdev vmspare0"
        )
        if made.returncode:
            cls.tearDownClass()
            raise AssertionError(made.stderr)
        wait_until(lambda: "state ACTIVE" in shell(f"rdma link show {SPARE}/1").stdout,
                   what="the second device")

    @classmethod
    def tearDownClass(cls):
        shell(f"rdma link delete {SPARE}; ip link delete vmspare0")

    def test_pool_is_on_the_device_of_its_address(self):
        with Server("--bind", SPARE_ADDRESS, "--pool", "1m") as server:
            wait_until(lambda: "pool: " in "\n".join(server.out), what="the pool")
            self.assertIn(f" on {SPARE}, ", "\n".join(server.out))
            ended = verbmark("pool", SPARE_ADDRESS, "-p", server.port, "-d", SPARE)
        self.assertEqual((ended.status, ended.err), (0, ""))

    def test_address_of_another_device(self):
        ended = verbmark("serve", "-p", "0", "-d", DEVICE, "--bind", SPARE_ADDRESS, "--pool", "1m")
        self.assertEqual(ended.status, 1)
        self.assertIn(
            f"{SPARE_ADDRESS} is an address of device {SPARE}, but the pool is on device {DEVICE}",
            ended.err,
        )
