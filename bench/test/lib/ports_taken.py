# SPDX-License-Identifier: MIT
"""
ports_taken.py VERBMARK DEVICE FIRST LAST TAKEN...: limits the kernel's local ports to FIRST..LAST,
binds the TAKEN ones in rdma_cm, starts a server with a pool on any port, and prints the server's
output until it is ready. Changes the port range of the current network namespace.
"""

import ctypes
import os
import socket
import struct
import subprocess
import sys

RANGE = "/proc/sys/net/ipv4/ip_local_port_range"
RDMA_PS_TCP = 0x0106


def give(text):
    with open(RANGE, "w", encoding="ascii") as file:
        file.write(text)


def take(port):
    """Binds a port in rdma_cm until this process ends."""
    # Resolve symbols in load order: under softrdma, they are not this library's.
    ctypes.CDLL("librdmacm.so.1", ctypes.RTLD_GLOBAL)
    library = ctypes.CDLL(None, use_errno=True)
    identifier = ctypes.c_void_p()
    made = library.rdma_create_id(None, ctypes.byref(identifier), None, RDMA_PS_TCP)
    any_address = struct.pack("=H", socket.AF_INET) + struct.pack(">H12x", port)
    if made or library.rdma_bind_addr(identifier, any_address):
        sys.exit(f"cannot take port {port}: {os.strerror(ctypes.get_errno())}")


def main():
    verbmark, device, first, last, *taken = sys.argv[1:]
    for port in taken:
        take(int(port))
    with open(RANGE, encoding="ascii") as file:
        usual = file.read()
    give(f"{first} {last}")
    try:
        with subprocess.Popen(
            [verbmark, "serve", "--port", "0", "--device", device, "--pool", "1MiB"],
            stdout=subprocess.PIPE, text=True,
        ) as server:
            for line in server.stdout:
                print(line, end="")
                if line.startswith("pool: "):
                    break
            server.terminate()
    finally:
        give(usual)


if __name__ == "__main__":
    main()
