# SPDX-License-Identifier: MIT
"""Options of a case that the wire between two machines can tell: what is in its packets."""

import ipaddress
import os
import socket
import struct
import threading
import time

import verbmark
from verbmark import ADDRESS, ServedRemotely, counter

PEER = os.environ["SOFTROCE_PEER_ADDRESS"]
NETDEV = os.environ["SOFTROCE_NETDEV"]
DEVICE = os.environ["SOFTROCE_DEVICE"]
GIDS = f"/sys/class/infiniband/{DEVICE}/ports/1/gids/"

ROCE = 4791
# Headers of the transport, and the checksum behind the payload.
BTH, DETH, RETH, ICRC = 12, 8, 16, 4
# Operations by their number in the header, of RC.
WRITE_IMM, READ, READ_ENDS, COMPARE_SWAP, FETCH_ADD = 0x0B, 0x0C, (0x0F, 0x10), 0x13, 0x14
MANAGEMENT = 1  # the queue pair of rdma_cm


class Packet:
    """A packet of RoCE v2 in a frame of Ethernet; None of any other."""

    def __init__(self, source, tos, udp):
        self.source = source
        self.tos = tos
        self.length = len(udp)
        self.op = udp[0]
        self.pair = int.from_bytes(udp[5:8], "big")
        self.number = int.from_bytes(udp[9:12], "big")

    @classmethod
    def parse(cls, frame):
        (kind,) = struct.unpack("!H", frame[12:14])
        if kind == 0x0800 and frame[23] == socket.IPPROTO_UDP:
            source, tos = ipaddress.ip_address(frame[26:30]), frame[15]
            udp = frame[14 + 4 * (frame[14] & 15) :]
        elif kind == 0x86DD and frame[20] == socket.IPPROTO_UDP:
            source, tos = ipaddress.ip_address(frame[22:38]), frame[14] << 4 & 0xFF | frame[15] >> 4
            udp = frame[54:]
        else:
            return None
        port, length = struct.unpack("!HH", udp[2:6])
        return cls(source, tos, udp[8:length]) if port == ROCE else None

    @property
    def is_near(self):
        return self.source in NEAR


def gids():
    """The addresses of this machine's device, in the order of its table."""
    found = []
    while True:
        with open(f"{GIDS}{len(found)}", encoding="ascii") as file:
            address = ipaddress.ip_address(file.read().strip())
        if not int(address):
            return found
        found.append(address.ipv4_mapped or address)


NEAR = gids()


class Capture:
    """The packets of RDMA that pass an interface meanwhile."""

    def __init__(self):
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.sock.setsockopt(socket.SOL_SOCKET, 33, 1 << 26)  # SO_RCVBUFFORCE
        self.sock.bind((NETDEV, 0))
        self.sock.settimeout(0.2)
        self.packets = []
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        while True:
            try:
                packet = Packet.parse(self.sock.recv(65536))
            except TimeoutError:
                if self.over.is_set():
                    return
                continue
            if packet:
                self.packets.append(packet)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *unused):
        self.over.set()
        self.thread.join()
        self.sock.close()


class Wire(ServedRemotely):
    def packets(self, *options, n=20):
        """Those of all cases; each case is complete."""
        with Capture() as capture:
            document = verbmark.measure(
                None, "-n", n, "--warmup", "0ms", *options, host=PEER
            ).document
        for case in document["cases"]:
            self.assertEqual(case["status"], "complete", case)
        return [packet for packet in capture.packets if packet.pair != MANAGEMENT]

    def test_mtu(self):
        for mtu in (256, 1024, 4096):
            near = [
                packet.length for packet in self.packets("-m", mtu, "-s", "8k") if packet.is_near
            ]
            # All of a message but its acknowledgements.
            self.assertEqual(max(near), BTH + mtu + ICRC)
            self.assertGreaterEqual(near.count(max(near)), 20 * 8192 // mtu)

    def test_datagrams_of_a_whole_mtu(self):
        for options in (("--metric", "lat"), ("--metric", "bw", "-t", 4)):
            found = self.packets("-c", "ud", "-s", 4096, "--verify", *options)
            near = [packet.length for packet in found if packet.is_near]
            self.assertEqual(set(near), {BTH + DETH + 4096 + ICRC})
            self.assertGreaterEqual(len(near), 20)

    def test_type_of_service(self):
        for tos in (32, 184):
            self.assertEqual({packet.tos for packet in self.packets("-T", tos)}, {tos})

    def test_gid_index(self):
        for index, address in enumerate(NEAR):
            found = self.packets("-x", index)
            self.assertEqual({packet.source for packet in found if packet.is_near}, {address})
            self.assertEqual({packet.source.version for packet in found}, {address.version})
            self.assertEqual(len({packet.source for packet in found}), 2)
        self.assertGreater(len(NEAR), 1)

    def test_gid_index_of_each_end(self):
        """A row that only this end's table has: an address that it alone is given."""
        (plain,) = [address for address in NEAR if address.version == 4]
        more = plain + 100
        verbmark.run("ip", "address", "add", f"{more}/24", "dev", NETDEV)
        self.addCleanup(verbmark.run, "ip", "address", "del", f"{more}/24", "dev", NETDEV)
        verbmark.wait_until(lambda: more in gids(), what="the row of the address")
        row = gids().index(more)
        self.assertGreaterEqual(row, len(NEAR))
        far = NEAR.index(plain)  # the tables were alike
        found = self.packets("-x", row, "--server-gid-index", far)
        self.assertEqual({packet.source for packet in found},
                         {more, ipaddress.ip_address(PEER)})

    def test_outstanding_reads(self):
        for most in (1, 4):
            under_way, seen = set(), 0
            for packet in self.packets("--op", "read", "--metric", "bw", "-o", most, n=200):
                if packet.is_near and packet.op == READ:
                    under_way.add(packet.number)
                elif not packet.is_near and packet.op in READ_ENDS:
                    under_way.discard(packet.number)
                seen = max(seen, len(under_way))
            self.assertLessEqual(seen, most)
            self.assertEqual(seen > 1, most > 1)

    def test_operations_of_pairs_that_are_connected_by_hand(self):
        for op, wanted in (
            ("fetch-add", FETCH_ADD), ("compare-swap", COMPARE_SWAP), ("write-imm", WRITE_IMM),
        ):
            for metric in ("lat", "bw"):
                found = self.packets("--connect", "qp", "--op", op, "--metric", metric)
                ops = [packet.op for packet in found if packet.is_near]
                self.assertGreaterEqual(ops.count(wanted), 20)

    def again(self, *options):
        """How often an unanswered message was sent again, and the time that took."""
        before = counter("completer_retry_err")
        start = time.monotonic()
        with verbmark.client(
            "--connect", "qp", "-n", 5, "--warmup", "0ms", *options, host=PEER
        ) as program:
            self.assertEqual(program.wait(), 1)
        self.assertIn("transport retry counter exceeded", "\n".join(program.out))
        # The counter is read from a cache, which lasts 10 ms.
        time.sleep(0.05)
        return counter("completer_retry_err") - before, time.monotonic() - start

    def test_timeout_and_retries(self):
        """Nothing arrives."""
        verbmark.lose(self, NETDEV, 100)
        for retries in (1, 5):
            self.assertEqual(self.again("-u", 12, "--retries", retries)[0], retries)
        # Three waits of half a second, each to a tick of the kernel's clock.
        again, seconds = self.again("-u", 17, "--retries", 2)
        self.assertEqual(again, 2)
        self.assertGreater(seconds, 3 * (4.096e-6 * 2**17 - 0.01))
