# SPDX-License-Identifier: MIT
"""verbmark devices against what iproute2 says of the same machine."""

import json
import subprocess
import unittest

from verbmark import verbmark


def ask(*command):
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


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
            # The largest MTU of RDMA that fits the interface's, with its headers.
            self.assertEqual(port["mtu"], max(m for m in (256, 512, 1024, 2048, 4096)
                                              if m + 80 <= interface["mtu"] or m == 256))

    def test_table(self):
        shown = verbmark("devices")
        self.assertEqual(shown.status, 0)
        head, *lines = shown.out.splitlines()
        self.assertEqual(head.split(), "DEVICE/PORT STATE LINK Gb/s MTU NUMA ADDRESSES".split())
        self.assertEqual(len(lines), len(self.links))
        for line, link in zip(lines, self.links):
            words = line.split()
            self.assertEqual(words[0], f"{link['ifname']}/{link['port']}")
            self.assertEqual(words[1:3], [link["state"], "Ethernet"])
            interface = ask("ip", "-j", "addr", "show", link["netdev"])[0]
            for row in interface["addr_info"]:
                self.assertRegex(line, rf" {row['local']}(%{link['netdev']})?/{row['prefixlen']}\b")
