# SPDX-License-Identifier: MIT
"""Options of a case that are visible in the packets between two machines."""

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
# Lengths of transport headers, and of the checksum behind the payload.
BTH, DETH, RETH, ICRC = 12, 8, 16, 4
# Opcodes of RC in the BTH.
WRITE_IMM, READ, READ_ENDS, COMPARE_SWAP, FETCH_ADD = 0x0B, 0x0C, (0x0F, 0x10), 0x13, 0x14
MANAGEMENT = 1  # the queue pair of rdma_cm


class Packet:
    """A packet of RoCE v2; parse() returns None for other Ethernet frames."""

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
    def is_local(self):
        return self.source in LOCAL


def gids():
    """Returns the addresses in the GID table of this machine's device."""
    found = []
    while True:
        with open(f"{GIDS}{len(found)}", encoding="ascii") as file:
            address = ipaddress.ip_address(file.read().strip())
        if not int(address):
            return found
        found.append(address.ipv4_mapped or address)


LOCAL = gids()


class Capture:
    """Captures the RDMA packets on an interface."""

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
        """Returns the packets of a run, whose cases must be complete."""
        with Capture() as capture:
            document = verbmark.measure(
                None, "-n", n, "--warmup", "0ms", *options, host=PEER
            ).document
        for case in document["cases"]:
            self.assertEqual(case["status"], "complete", case)
        return [packet for packet in capture.packets if packet.pair != MANAGEMENT]

    def test_mtu(self):
        for mtu in (256, 1024, 4096):
            lengths = [
                packet.length for packet in self.packets("-m", mtu, "-s", "8k") if packet.is_local
            ]
            # Acknowledgments are smaller.
            self.assertEqual(max(lengths), BTH + mtu + ICRC)
            self.assertGreaterEqual(lengths.count(max(lengths)), 20 * 8192 // mtu)

    def test_datagrams_of_a_whole_mtu(self):
        for options in (("--metric", "lat"), ("--metric", "bw", "-t", 4)):
            found = self.packets("-c", "ud", "-s", 4096, "--verify", *options)
            lengths = [packet.length for packet in found if packet.is_local]
            self.assertEqual(set(lengths), {BTH + DETH + 4096 + ICRC})
            self.assertGreaterEqual(len(lengths), 20)

    def test_type_of_service(self):
        for tos in (32, 184):
            self.assertEqual({packet.tos for packet in self.packets("-T", tos)}, {tos})

    def test_gid_index(self):
        for index, address in enumerate(LOCAL):
            found = self.packets("-x", index)
            self.assertEqual({packet.source for packet in found if packet.is_local}, {address})
            self.assertEqual({packet.source.version for packet in found}, {address.version})
            self.assertEqual(len({packet.source for packet in found}), 2)
        self.assertGreater(len(LOCAL), 1)

    def test_gid_index_of_client_and_server(self):
        """Uses a GID that only the client's table has, from an additional address."""
        (plain,) = [address for address in LOCAL if address.version == 4]
        more = plain + 100
        verbmark.run("ip", "address", "add", f"{more}/24", "dev", NETDEV)
        self.addCleanup(verbmark.run, "ip", "address", "del", f"{more}/24", "dev", NETDEV)
        verbmark.wait_until(lambda: more in gids(), what="the row of the address")
        row = gids().index(more)
        self.assertGreaterEqual(row, len(LOCAL))
        server_row = LOCAL.index(plain)  # both tables were equal
        found = self.packets("-x", row, "--server-gid-index", server_row)
        self.assertEqual({packet.source for packet in found},
                         {more, ipaddress.ip_address(PEER)})

    def test_outstanding_reads(self):
        for most in (1, 4):
            outstanding, seen = set(), 0
            for packet in self.packets("--op", "read", "--metric", "bw", "-o", most, n=200):
                if packet.is_local and packet.op == READ:
                    outstanding.add(packet.number)
                elif not packet.is_local and packet.op in READ_ENDS:
                    outstanding.discard(packet.number)
                seen = max(seen, len(outstanding))
            self.assertLessEqual(seen, most)
            self.assertEqual(seen > 1, most > 1)

    def test_opcodes_without_rdma_cm(self):
        for op, wanted in (
            ("fetch-add", FETCH_ADD), ("compare-swap", COMPARE_SWAP), ("write-imm", WRITE_IMM),
        ):
            for metric in ("lat", "bw"):
                found = self.packets("--connect", "qp", "--op", op, "--metric", metric)
                ops = [packet.op for packet in found if packet.is_local]
                self.assertGreaterEqual(ops.count(wanted), 20)

    def retried(self, *options):
        """Returns the number of retries of an unanswered message, and their duration."""
        before = counter("completer_retry_err")
        start = time.monotonic()
        with verbmark.client(
            "--connect", "qp", "-n", 5, "--warmup", "0ms", *options, host=PEER
        ) as program:
            self.assertEqual(program.wait(), 1)
        self.assertIn("transport retry counter exceeded", "\n".join(program.out))
        # The counter is cached for 10 ms.
        time.sleep(0.05)
        return counter("completer_retry_err") - before, time.monotonic() - start

    def test_timeout_and_retries(self):
        """No packet arrives."""
        verbmark.lose(self, NETDEV, 100)
        for retries in (1, 5):
            self.assertEqual(self.retried("-u", 12, "--retries", retries)[0], retries)
        # Three timeouts of half a second, each accurate to a tick of the kernel's clock.
        retries, seconds = self.retried("-u", 17, "--retries", 2)
        self.assertEqual(retries, 2)
        self.assertGreater(seconds, 3 * (4.096e-6 * 2**17 - 0.01))
