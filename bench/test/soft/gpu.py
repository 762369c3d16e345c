# SPDX-License-Identifier: MIT
"""
GPU memory on the software device, with stand-ins for the drivers' libraries: the CPU may touch it
through the driver only, or the program crashes.
"""

import concurrent.futures
import ctypes.util
import json
import os
import unittest

import documents
from soft.choice import OnSoft, SOFT

STAND_INS = os.environ["STAND_INS"]
SHORT = ("-n", 30, "--warmup", 0, "--trials", 1)
KINDS = ("cuda:0", "rocm:0")
# Calls of the drivers that a run makes, and that may fail.
CUDA = (
    "cuInit", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceGetPCIBusId",
    "cuDriverGetVersion", "cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent",
    "cuMemAlloc_v2", "cuPointerSetAttribute", "cuMemsetD8_v2", "cuCtxSynchronize",
    "cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2", "cuMemGetHandleForAddressRange",
)  # fmt: skip
ROCM = (
    "hipInit", "hipGetDeviceCount", "hipSetDevice", "hipDeviceGetName", "hipDeviceGetPCIBusId",
    "hipDriverGetVersion", "hipMalloc", "hipMemset", "hipDeviceSynchronize", "hipMemcpy",
    "hsa_init", "hsa_system_get_info", "hsa_amd_portable_export_dmabuf",
)  # fmt: skip
NO_DRIVER = {
    "cuda": "libcuda.so.1: cannot open shared object file: No such file or directory; install the "
    "NVIDIA driver, whose packages have this library",
    "rocm": "libamdhip64.so: cannot open shared object file: No such file or directory; install "
    "ROCm, and let the linker find its libraries (ldconfig)",
}


class Missing(OnSoft):
    def test_no_driver(self):
        for kind, message in NO_DRIVER.items():
            if ctypes.util.find_library({"cuda": "cuda", "rocm": "amdhip64"}[kind]):
                continue
            ended = self.run_it("run", *SOFT, *SHORT, "--memory", kind)
            self.assertEqual((ended.status, ended.out), (2, ""))
            self.assertEqual(
                ended.err.strip(),
                f"verbmark: no case can run: send/lat/64/poll/memory-{kind}: {message}",
            )
            ended = self.run_it("run", *SOFT, *SHORT, "--server-memory", kind, "--json", "-")
            self.assertEqual(ended.status, 1)
            (case,) = documents.parse(ended.out)["cases"]
            self.assertEqual(case["error"], "the server: " + message)
            ended = self.run_it("run", *SOFT, *SHORT, "--server-memory", kind, "--no-save")
            self.assertNotRegex(ended.out, "skipped|complete")
            self.assertEqual(
                ended.err.strip(), f"verbmark: no case can be measured: the server: {message}"
            )


class OnStandIn(OnSoft):
    def setUp(self):
        super().setUp()
        self.environment["LD_LIBRARY_PATH"] = STAND_INS

    def failing(self, call):
        return dict(self.environment, STAND_IN_FAIL=call)


class Memory(OnStandIn):
    def test_list_of_gpus(self):
        shown = self.good("devices", "--memory", "--json")
        gpus = [gpu for gpu in json.loads(shown.out) if "memory" in gpu]
        self.assertEqual([gpu["memory"] for gpu in gpus], ["cuda:0", "rocm:0"])
        for gpu in gpus:
            self.assertEqual((gpu["name"], gpu["pci"]), ("stand-in GPU", "0000:fe:00.0"))
        lines = self.good("devices", "--memory").out.splitlines()
        self.assertEqual(lines[0].split(), "MEMORY PCI NAME NUMA NEAREST SHARED IOMMU".split())
        self.assertIn("cuda:0 0000:fe:00.0 stand-in GPU", lines[1])

    def test_no_gpu(self):
        """A host without GPUs cannot run the case, at either end."""
        environment = dict(self.environment, STAND_IN_GPUS="0")
        for kind in KINDS:
            for options in (("--memory", f"host,{kind}"), ("--server-memory", f"host,{kind}")):
                ended = self.run_it("run", *SOFT, *SHORT, *options, "--json", "-", env=environment)
                cases = documents.parse(ended.out)["cases"]
                self.assertEqual([case["status"] for case in cases], ["complete", "skipped"])
                self.assertIn("the driver sees no GPU", cases[1]["error"])

    def check(self, kind, ops="send,write,write-imm,read", both=True):
        ends = f"host,{kind}" if both else kind
        ended = self.good(
            "run", *SOFT, *SHORT, "--op", ops, "--metric", "lat,bw", "-s", "64,64k", "--memory",
            ends, "--server-memory", ends, "--verify", "--json", "-",
        )
        document = documents.parse(ended.out)
        self.assertEqual(document["run"]["status"], "complete")
        for case in document["cases"]:
            if case["status"] == "skipped":
                self.assertRegex(case["error"], "^--verify (with bw|of write latency)")
            else:
                self.assertEqual(case["status"], "complete")
        # Nothing of the GPUs is left.
        self.assertNotIn("stand-in", ended.err)
        return document

    def test_all_pairs_of_memory(self):
        for kind in KINDS:
            cases = self.check(kind)["cases"]
            pairs = {(c.get("memory", "host"), c.get("server_memory", "host"))
                     for c in cases}
            self.assertEqual(pairs, {(a, b) for a in ("host", kind) for b in ("host", kind)})

    def test_a_wrong_byte_is_found(self):
        """One end puts it into its GPU."""
        environment = dict(self.environment, STAND_IN_WRONG="9")
        for kind in KINDS:
            for options, finder in (
                (("--memory", kind), "the server: "),
                (("--server-memory", kind), ""),
                (("--memory", kind, "--server-memory", kind), "(the server: )?"),
            ):
                with self.subTest(options):
                    ended = self.run_it(
                        "run", *SOFT, *SHORT, "--op", "send", "-s", 64, *options, "--verify",
                        "--json", "-", env=environment,
                    )
                    self.assertEqual(ended.status, 1)
                    (case,) = documents.parse(ended.out)["cases"]
                    self.assertRegex(
                        case["error"],
                        f"^{finder}byte 63 of message [0-9]+ is 0x.., expected 0x..",
                    )

    def test_other_kinds(self):
        for kind in ("cuda:0,path=host-mapped", "rocm:path=host-mapped", "cuda-managed",
                     "cuda-pinned:0", "cuda:0,path=dmabuf"):
            self.check(kind, ops="send,write", both=False)


class Failures(OnStandIn):
    """Each call of a driver fails once, at each end: a message, nothing left, no crash."""

    def check(self, kind, call, option):
        ended = self.run_it(
            "run", *SOFT, *SHORT, "--op", "send", "-s", 64, option, kind, "--verify",
            "--json", "-", env=self.failing(f"{call}:1"),
        )
        self.assertIn(f"stand-in: {call} fails\n", ended.err, option)
        self.assertIn(ended.status, (1, 2), ended.err)
        self.assertNotIn("is left", ended.err, call)
        self.assertNotIn("Sanitizer", ended.err, call)
        # The client refuses what its driver rules out before it measures.
        (case,) = documents.parse(ended.out)["cases"] if ended.status == 1 else (None,)
        # The other end may notice the bytes that were not copied first.
        said = "GPU 0|^byte" if "emcpy" in call else "GPU 0"
        self.assertRegex(case["error"] if case else ended.err, said)

    def test_each_call(self):
        rows = [
            (kind, call, option)
            for kind, calls in (("cuda:0", CUDA), ("rocm:0", ROCM))
            for call in calls
            for option in ("--memory", "--server-memory")
        ]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for tried in [pool.submit(self.check, *row) for row in rows]:
                tried.result()


if __name__ == "__main__":
    unittest.main()
