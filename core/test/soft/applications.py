# SPDX-License-Identifier: MIT
"""
Packaged programs on soft0, or on the device of ci/softroce, that have more between them and verbs
than those of programs.py: rsockets, libfabric, UCX, Open MPI, qperf, fio. Those that are not
installed are skipped.
"""

import os
import re
import shutil
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
import programs
from programs import ADDRESS, DEVICE, IS_SOFT, PATIENCE, has_connection_listener, has_listener

RING = os.path.join(os.path.dirname(__file__), "mpi_ring.py")


# Reasons why Soft-RoCE does not run a test, by the first word of its command.
NOT_ON_RXE = {
    "verbs;ofi_rxm": "ofi_rxm wants more entries in a CQ than Soft-RoCE has (max_cqe)",
    "ud_v": "UCX takes the kind of a datagram from wc.sl, which Soft-RoCE leaves at 0",
    "rc_v": "UCX connects by datagrams: see ud_v",
}


class Application(programs.OnDevice):
    """Programs that check their data themselves, or whose data nobody checks."""

    port = 23000

    def setUp(self):
        super().setUp()
        Application.port += 2
        self.port = Application.port

    def require(self, program):
        if not shutil.which(program):
            self.skipTest(f"{program} is not installed")

    def skip_on_rxe(self, command):
        reason = NOT_ON_RXE.get(command.split()[0])
        if reason and not IS_SOFT:
            self.skipTest(reason)

    def has_server(self):
        return has_connection_listener(self.directory)

    def has_tcp_server(self):
        return has_listener(self.port)

    def await_server(self, server, is_ready):
        deadline = time.monotonic() + PATIENCE
        while not is_ready():
            self.assertIsNone(server.poll(), "the server ended early")
            self.assertLess(time.monotonic(), deadline, "the server does not listen")
            time.sleep(0.01)

    def run_clients(self, server_words, is_ready, *clients):
        """Runs clients in turn, and then ends the server. Returns what the clients printed."""
        server = self.start(*server_words)
        self.await_server(server, is_ready)
        return [self.run_alone(*client) for client in clients]


class Rsockets(Application):
    def check(self, command):
        self.require(command.split()[0])
        words = [*command.split(), "-p", str(self.port), "-C", "20", "-I", "5"]
        printed = self.run_both(
            words, [*words, "-s", ADDRESS], self.has_server, is_seen=False
        )
        for output in printed:
            self.assertRegex(output, r"(?m)^\S+ +\S+ +20 +5 +\S+ +[\d.]+s", output)

    def test_rcopy(self):
        self.require("rcopy")
        source, copy = (os.path.join(self.seen, name) for name in ("source", "copy"))
        with open(source, "wb") as file:
            file.write(os.urandom(3_000_001))
        port = ["-p", str(self.port)]
        self.run_clients(
            ["rcopy", *port], self.has_server, ["rcopy", source, f"{ADDRESS}:{copy}", *port]
        )
        with open(source, "rb") as wanted, open(copy, "rb") as found:
            self.assertEqual(wanted.read(), found.read())


class Libfabric(Application):
    def check(self, command):
        self.require("fi_pingpong")
        self.skip_on_rxe(command)
        provider, kind = command.split()
        words = ["fi_pingpong", "-p", provider, "-e", kind, "-I", "50", "-c"]
        printed = self.run_both(
            [*words, "-B", str(self.port)],
            [*words, "-P", str(self.port), ADDRESS],
            self.has_tcp_server,
            is_seen=False,
        )
        for output in printed:
            self.assertRegex(output, r"(?m)^64 +50 +=50 ")


class Ucx(Application):
    def check(self, command):
        self.require("ucx_perftest")
        self.skip_on_rxe(command)
        transport, test = command.split()
        self.environment |= {
            "UCX_TLS": f"{transport},self",
            "UCX_NET_DEVICES": f"{DEVICE}:1",
            "UCX_WARN_UNUSED_ENV_VARS": "n",
        }
        words = ["ucx_perftest", "-p", str(self.port), "-t", test, "-n", "500", "-s", "5000"]
        printed = self.run_both(
            words, [*words, ADDRESS], self.has_tcp_server, is_seen=False
        )
        self.assertRegex(printed[0], r"(?m)^Final: +500 ")

    def test_finds_the_device(self):
        self.require("ucx_info")
        printed = self.run_alone("ucx_info", "-d")
        for transport in ("rc_verbs", "ud_verbs"):
            self.assertRegex(printed, rf"Transport: {transport}\n#\s+Device: {DEVICE}:1\n")


class Mpi(Application):
    def check(self, options):
        self.require("mpirun")
        self.environment |= {
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "UCX_TLS": "rc_v,ud_v,self",
            "UCX_NET_DEVICES": f"{DEVICE}:1",
        }
        mpirun = f"mpirun --oversubscribe -n 2 --mca btl ^openib {options}"
        printed = self.run_alone(*mpirun.split(), sys.executable, RING)
        if "no MPI library" in printed:
            self.skipTest("libmpi.so.40 is not installed")
        self.assertEqual(printed.count("all received"), 2, printed)

    def test_over_libfabric(self):
        self.skip_on_rxe("verbs;ofi_rxm")
        self.check("--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include verbs;ofi_rxm")

    def test_over_ucx(self):
        self.skip_on_rxe("rc_v")
        self.check("--mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any")


class Others(Application):
    def test_qperf(self):
        self.require("qperf")
        port = ["-lp", str(self.port)]
        # Its tests need at least a second each, or more if an emulated machine must read a message
        # in that time; only those of rdma_cm support Ethernet.
        tests = "rc_lat rc_rdma_read_bw ver_rc_fetch_add".split()
        client = ["qperf", *port, ADDRESS, "-cm", "1", "-t", "1" if IS_SOFT else "5", *tests]
        (printed,) = self.run_clients(["qperf", *port], self.has_tcp_server, client)
        for test in tests:
            found = re.search(rf"{test}:\n +\w+ += +([\d.]+)", printed)
            self.assertIsNotNone(found, printed)
            self.assertGreater(float(found.group(1)), 0)

    def test_fio(self):
        self.require("fio")
        words = "fio --name=job --ioengine=rdma --bs=16k --size=1m --iodepth=4".split()
        words += [f"--port={self.port}"]
        server = self.start(*words, "--rw=read")
        self.await_server(server, self.has_server)
        printed = self.run_alone(*words, f"--hostname={ADDRESS}", "--verb=write", "--rw=write")
        self.assertIn("io=1024KiB", printed)
        output, _ = server.communicate(timeout=PATIENCE)
        self.assertEqual(server.returncode, 0, output)
        for output in (printed, output):
            self.assertIn("err= 0", output)

    def test_cmtime(self):
        self.require("cmtime")
        words = ["cmtime", "-p", str(self.port), "-c", "20"]
        (printed,) = self.run_clients(
            words, self.has_server, [*words, "-s", ADDRESS]
        )
        self.assertRegex(printed, r"(?m)^connect +: +[\d.]+")


programs.add(Rsockets, ("rstream -S 4096", "rstream -T v -T b -S 1000", "riostream -T v -S 4096"))
programs.add(Libfabric, ("verbs msg", "verbs;ofi_rxm rdm", "verbs dgram", "verbs;ofi_rxd rdm"))
programs.add(
    Ucx,
    ("rc_v tag_lat", "rc_v tag_bw", "rc_v ucp_put_lat", "rc_v ucp_get", "rc_v ucp_am_lat",
     "ud_v tag_lat"),
)  # fmt: skip
