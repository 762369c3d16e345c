# SPDX-License-Identifier: MIT
"""
The software device as a user of the command sees it: how it is chosen, that all output names it,
and that it needs no privileges.
"""

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

import documents
from cli.machine import NO_DEVICE, has_device
from device.semantics import NEEDS
from verbmark import (
    IS_SANITIZED, PATIENCE, RUN_PATIENCE, VERBMARK, Ended, Program, Server, ready_line, wait_until,
)

SOFTRDMA = os.path.join(os.path.dirname(VERBMARK), "../core/soft/softrdma")
LIBRARY = os.path.join(os.path.dirname(VERBMARK), "../core/soft/libverbmark-soft.so")
SOFT = ("--device", "soft0")
SHORT = ("--op", "send", "-n", 100, "--warmup", "0ms")
HEAD = "SOFTWARE DEVICE"
NOBODY = 65534
ROW = re.compile(r"^(tell|leave|fetch) +(\S+) +(yes|no) +(yes|no) +(\S+)/(\S+) +(\S+)/(\S+)$")


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as found:
        return [int(child) for child in found.read().split()]


def commands(pid):
    """Returns a process's command line; empty if it has ended, even if still a zombie."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as words:
            return words.read().split(b"\0")[:-1]
    except OSError:
        return []


class OnSoft(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="soft")
        self.addCleanup(shutil.rmtree, self.folder)
        directory = f"{self.folder}/device"
        os.mkdir(directory, 0o700)
        self.environment = dict(os.environ, VERBMARK_SOFT_DIR=directory)
        self.environment.pop("LD_PRELOAD", None)
        if IS_SANITIZED:
            # The sanitizer's library is not the first one that is loaded.
            self.environment["ASAN_OPTIONS"] = "verify_asan_link_order=0"

    def run_it(self, *words, before=(), program=VERBMARK, env=None):
        return Ended(
            Program(*before, program, *words, env=env or self.environment, cwd=self.folder),
            RUN_PATIENCE,
        )

    def good(self, *words, **options):
        ended = self.run_it(*words, **options)
        self.assertEqual(ended.status, 0, ended.err + ended.out)
        return ended

    def fails(self, *words, **options):
        ended = self.run_it(*words, **options)
        self.assertEqual((ended.status, ended.out), (1, ""), ended.err)
        return ended.err

    def document(self, *words, **options):
        """Returns the document of a run, which has its own server unless the words name a host."""
        ended = self.good("run", *words, "--json", "-", **options)
        document = documents.parse(ended.out)
        self.assertEqual(document["run"]["status"], "complete")
        for end in document["hosts"].values():
            self.assertEqual((end["device"], end["kind"]), ("soft0", "soft"))
        self.assertEqual(ended.err.splitlines()[0][: len(HEAD)], HEAD)
        return document

    def server(self):
        server = Server(*SOFT, before=("env", *(f"{name}={value}" for name, value in
                                                self.environment.items())))
        self.addCleanup(server.kill)
        return server


class Chosen(OnSoft):
    def test_starts_its_own_server(self):
        document = self.document(*SOFT, *SHORT)
        self.assertEqual(document["run"]["command"][2:4], ["--device", "soft0"])
        self.assertEqual(document["cases"][0]["latency_ns"]["count"], 100)

    def test_own_server_ends_with_client(self):
        program = Program(VERBMARK, "run", *SOFT, "-D", "60s", "--no-save", env=self.environment,
                          cwd=self.folder)
        self.addCleanup(program.kill)
        # Between fork and exec the child still looks like a client.
        (server,) = wait_until(
            lambda: [pid for pid in children(program.pid) if b"serve" in commands(pid)],
            what="the client's own server",
        )
        program.signal(signal.SIGKILL)
        wait_until(lambda: not commands(server), what="the end of the client's own server")

    def test_server_with_token_ends_with_its_input(self):
        server = Program(VERBMARK, "serve", "-p", 0, "--token", *SOFT, stdin=subprocess.PIPE,
                         env=self.environment)
        self.addCleanup(server.kill)
        server.process.stdin.write("a word that nobody else knows\n")
        server.process.stdin.flush()
        wait_until(lambda: ready_line(server.out), what="the ready line")
        self.assertIsNone(server.process.poll())
        server.process.stdin.close()
        self.assertEqual(server.wait(), 0, server.errors)

    def test_faults_from_a_file(self):
        plan = f"{self.folder}/plan"
        with open(plan, "w", encoding="ascii") as file:
            file.write("ibv_alloc_pd#3=ENOMEM\n")
        ended = self.run_it("run", *SOFT, *SHORT, "--no-save",
                            env=dict(self.environment, VERBMARK_SOFT_FAULTS=f"@{plan}"))
        self.assertEqual(ended.status, 1, ended.err)
        self.assertIn("Cannot allocate memory", ended.out)

    def test_device_and_port(self):
        self.document("--device", "soft0/1", *SHORT)

    def test_existing_server(self):
        server = self.server()
        self.assertEqual(server.ready[2:], ["soft0/1"])
        self.assertTrue(server.out[0].startswith(HEAD), server.out)
        self.document("127.0.0.1", "-p", server.port, *SOFT, *SHORT)
        self.document("127.0.0.1", "-p", server.port, *SOFT, *SHORT, "--connect", "qp")

    def test_gid_of_an_address(self):
        """With both ways to connect, the GID is that of the address the user named."""
        (port,) = json.loads(self.good("devices", "--json", *SOFT).out)
        hosts = [known["address"] for known in port["addresses"] if "%" not in known["address"]]
        if len(hosts) < 2:
            self.skipTest("this machine has only one address")
        server = self.server()
        found = {}
        for host in hosts[:4]:
            document = self.document(host, "-p", server.port, *SOFT, *SHORT, "--connect", "cm,qp")
            self.assertEqual({end["address"] for end in document["hosts"].values()}, {host})
            ends = [end for case in document["cases"] for end in case["chosen"].values()]
            (found[host],) = {end["gid_index"] for end in ends}
        self.assertEqual(len(set(found.values())), len(found), found)

    def test_server_with_another_directory(self):
        server = self.server()
        other = f"{self.folder}/other"
        os.mkdir(other, 0o700)
        ended = self.run_it("run", "127.0.0.1", "-p", server.port, *SOFT, *SHORT, "--no-save",
                            env=dict(self.environment, VERBMARK_SOFT_DIR=other))
        self.assertEqual(ended.status, 1)
        self.assertIn("soft0 reaches only processes of the same user", ended.out)

    def launched_with(self, preload):
        """Returns LD_PRELOAD as a program started by --launch sees it, or None."""
        script = f"{self.folder}/launch"
        dump = f"{self.folder}/dump"
        with open(script, "w", encoding="ascii") as file:
            file.write(f'#!/bin/sh\nenv >"{dump}"\nexec "$@"\n')
        os.chmod(script, 0o755)
        environment = dict(self.environment)
        if preload:
            environment["LD_PRELOAD"] = preload
        self.document("127.0.0.1", "--launch", script, *SOFT, *SHORT, env=environment)
        with open(dump, encoding="utf-8", errors="replace") as file:
            names = dict(line.rstrip("\n").split("=", 1) for line in file if "=" in line)
        self.assertNotIn("VERBMARK_PRELOAD_BEFORE", names)
        return names.get("LD_PRELOAD")

    def test_launched_program_inherits_no_preload(self):
        self.assertIsNone(self.launched_with(None))

    def test_launched_program_inherits_other_preloads(self):
        needed = subprocess.run(["ldd", VERBMARK], capture_output=True, text=True, check=True)
        other = re.search(r"=> (\S*/libz\.so\S*)", needed.stdout)[1]
        self.assertEqual(self.launched_with(other), other)

    def test_started_by_softrdma(self):
        self.document(*SHORT, before=(SOFTRDMA,))
        self.document(*SOFT, *SHORT, before=(SOFTRDMA,))

    @unittest.skipIf(has_device(), "this machine has an RDMA device")
    def test_auto_without_other_devices(self):
        self.document("--device", "auto", *SHORT)
        self.assertIn("soft0/1", self.good("devices", "--device", "auto").out)

    def test_unknown_device_beside_soft0(self):
        err = self.fails("devices", "--device", "mlx5_0", before=(SOFTRDMA,))
        self.assertEqual(err, "verbmark: no device 'mlx5_0'; available: soft0")
        err = self.fails("serve", "-p", 0, "--device", "mlx5_0", before=(SOFTRDMA,))
        self.assertEqual(err, "verbmark: no device 'mlx5_0'; available: soft0")

    def test_unknown_port(self):
        for words in (("run", "--no-save", "-d", "soft0/3"), ("devices", "-d", "soft0/3"),
                      ("run", "--no-save", "-d", "soft0", "-i", 3)):
            # The server's output precedes the error.
            self.assertEqual(self.fails(*words).splitlines()[-1],
                             "verbmark: soft0 has no port 3; available: soft0/1", words)

    def test_gate_with_names_that_do_not_resolve(self):
        """Such a name is probably a program in the current directory."""
        name = "nobody.invalid"
        ended = self.run_it("gate", "-d", "soft0", "--base", name, "--head", name)
        self.assertEqual(ended.status, 3, ended.err)
        self.assertIn(f"cannot resolve '{name}': ", ended.out)
        self.assertIn("; a command contains a '/', e.g. ./verbmark\n", ended.out)

    def test_softrdma_prints_usage(self):
        for word in ("--help", "-h"):
            ended = Ended(Program(SOFTRDMA, word))
            self.assertEqual((ended.status, ended.err), (0, ""), word)
            self.assertTrue(ended.out.startswith("usage: softrdma COMMAND"), ended.out)
            self.assertIn("verbmark-soft(7)", ended.out)
        ended = Ended(Program(SOFTRDMA))
        self.assertEqual((ended.status, ended.out), (2, ""), ended.err)


@unittest.skipIf(has_device(), "this machine has an RDMA device")
class Fallback(OnSoft):
    """A missing device is an error, except on a terminal, where the user sees the notice."""

    def on_terminal(self, *words):
        """Returns the exit status and the terminal's contents."""
        controller, terminal = pty.openpty()
        process = subprocess.Popen(
            [VERBMARK, *map(str, words)], stdout=terminal, stderr=terminal, stdin=subprocess.DEVNULL,
            env=self.environment | {"NO_COLOR": "1"}, cwd=self.folder,
        )
        self.addCleanup(process.kill)
        os.close(terminal)
        shown = b""
        while True:
            try:
                read = os.read(controller, 4096)
            except OSError:
                break  # the last writer has closed the terminal
            if not read:
                break
            shown += read
        os.close(controller)
        return process.wait(PATIENCE), shown.decode().replace("\r\n", "\n")

    def test_on_a_terminal(self):
        status, shown = self.on_terminal("run", *SHORT, "--no-save", "--quiet")
        self.assertEqual(status, 0, shown)
        notice, how, heading, *_ = shown.splitlines()
        self.assertTrue(notice.startswith("no RDMA device found: measuring on soft0"), shown)
        self.assertIn("rdma link add rxe0 type rxe netdev eth0", how)
        self.assertTrue(heading.startswith(HEAD), shown)

    def test_no_fallback_with_a_host(self):
        status, shown = self.on_terminal("run", "127.0.0.1", *SHORT, "--no-save")
        self.assertEqual((status, shown), (1, NO_DEVICE + "\n"))

    def test_no_fallback_for_a_named_device(self):
        """Not even on a terminal."""
        missing = NO_DEVICE.replace("verbmark: ", "verbmark: no device 'mlx5_0': ")
        for words in (("run", "--no-save"), ("devices",), ("serve", "-p", 0), ("pool", "n02")):
            self.assertEqual(self.on_terminal(*words, "-d", "mlx5_0"), (1, missing + "\n"), words)

    def test_no_fallback_for_other_commands(self):
        for words in (("devices",), ("serve", "-p", 0)):
            self.assertEqual(self.on_terminal(*words), (1, NO_DEVICE + "\n"))

    def test_without_a_terminal(self):
        self.assertEqual(self.fails("run", *SHORT, "--no-save"), NO_DEVICE)


class Refused(OnSoft):
    def copied(self, folder, with_library):
        """Returns a copy of the program in its own folder."""
        os.makedirs(f"{folder}/bench")
        os.makedirs(f"{folder}/core/soft")
        if with_library:
            shutil.copy(LIBRARY, f"{folder}/core/soft")
        return shutil.copy(VERBMARK, f"{folder}/bench/verbmark")

    def test_missing_library(self):
        program = self.copied(f"{self.folder}/moved", False)
        ended = self.run_it("devices", *SOFT, program=program)
        if not ended.status:
            self.skipTest("the library is installed on this machine")
        self.assertEqual((ended.status, ended.out), (1, ""))
        self.assertRegex(ended.err, r"^verbmark: soft0: libverbmark-soft\.so is neither in ")

    def test_library_moved_with_the_program(self):
        program = self.copied(f"{self.folder}/moved", True)
        self.assertIn("soft0/1", self.good("devices", *SOFT, program=program).out)

    def test_path_that_cannot_be_preloaded(self):
        for name in ("a b", "a:b"):
            program = self.copied(f"{self.folder}/{name}", True)
            self.assertIn("has a blank or a colon",
                          self.fails("devices", *SOFT, program=program))

    def test_preloads_only_once(self):
        """As after a start in which the loader did not load the library."""
        err = self.fails("devices", *SOFT,
                         env=dict(self.environment, VERBMARK_PRELOAD_BEFORE=""))
        self.assertRegex(err, r"^verbmark: soft0: libverbmark-soft\.so was not loaded")


class Shown(OnSoft):
    def test_plan_from_a_pipe(self):
        """The program executes itself again and must not lose its input."""
        words = "cat - | exec \"$@\""
        plan = json.dumps([{"size": 8, "iterations": 50}, {"size": 16, "iterations": 50}])
        path = f"{self.folder}/r.json"
        ended = subprocess.run(
            ["sh", "-c", words, "sh", VERBMARK, "run", *SOFT, "--plan", "/dev/stdin", "--json",
             path, "--trials", "1", "--warmup", "0ms"],
            input=plan, env=self.environment, cwd=self.folder, capture_output=True, text=True,
            timeout=RUN_PATIENCE, check=False,
        )
        self.assertEqual(ended.returncode, 0, ended.stderr)
        with open(path, encoding="utf-8") as file:
            self.assertEqual([case["size"] for case in json.load(file)["cases"]], [8, 16])

    def test_several_runs_at_once(self):
        """Each run saves to its own file, even when they start at the same time."""
        programs = [
            Program(VERBMARK, "run", *SOFT, *SHORT, "-s", size, env=self.environment,
                    cwd=self.folder)
            for size in (8, 16, 24)
        ]
        for program in programs:
            self.assertEqual(program.wait(RUN_PATIENCE), 0, program.errors)
        sizes = []
        for path in sorted(os.listdir(self.folder)):
            if path.startswith("verbmark-local-"):
                with open(f"{self.folder}/{path}", encoding="utf-8") as file:
                    sizes.append(json.load(file)["cases"][0]["size"])
        self.assertEqual(sorted(sizes), [8, 16, 24])

    def test_devices(self):
        ended = self.good("devices", *SOFT)
        self.assertTrue(ended.out.startswith(HEAD), ended.out)
        self.assertRegex(ended.out.splitlines()[2], r"^soft0/1 +soft +ACTIVE +Ethernet ")
        (port,) = json.loads(self.good("devices", *SOFT, "--json").out)
        self.assertEqual((port["device"], port["kind"]), ("soft0", "soft"))

    def test_reports(self):
        path = f"{self.folder}/result.json"
        ended = self.good("run", *SOFT, *SHORT, "--json", path)
        self.assertTrue(ended.out.startswith(HEAD), ended.out)
        self.assertTrue(self.good("report", path).out.startswith(HEAD))
        page = self.good("report", "--format", "html", path).out
        self.assertIn(f"<b>{HEAD}", page)
        self.good("report", "--redact", "--json", f"{self.folder}/redacted.json", path)
        redacted = documents.read(f"{self.folder}/redacted.json")
        self.assertEqual(redacted["hosts"]["server"]["kind"], "soft")
        self.assertTrue(self.good("report", f"{self.folder}/redacted.json").out.startswith(HEAD))

    def test_real_and_soft_are_not_merged(self):
        paths = [f"{self.folder}/{name}.json" for name in ("soft", "again", "real")]
        for path in paths[:2]:
            self.good("run", *SOFT, *SHORT, "--json", path)
        document = documents.read(paths[0])
        for end in document["hosts"].values():
            end["kind"] = "hardware"
        with open(paths[2], "w", encoding="utf-8") as file:
            json.dump(document, file)
        self.assertTrue(self.good("report", "--merge", *paths[:2]).out.startswith(HEAD))
        self.assertIn("kind is hardware, but was soft before",
                      self.fails("report", "--merge", paths[0], paths[2]))

    def test_facts(self):
        document = self.document(*SOFT, *SHORT)
        for end in document["hosts"].values():
            facts = end["facts"]
            device = facts["device"]
            self.assertEqual((device["kind"], device["software"]), ("soft", True))
            self.assertEqual((device["fw_ver"], device["vendor_id"]), ("soft", "0x2766d"))
            self.assertEqual(facts["rdma_core"]["provider"], "libverbmark-soft.so")
            self.assertNotIn("access", facts)
        codes = {warning["code"] for warning in document["warnings"]}
        self.assertIn("software-device", codes)
        self.assertFalse(codes & {"rights", "device", "no-device", "module", "memlock", "port"})

    def test_doctor(self):
        before = ("prlimit", "--memlock=65536")
        if not os.getuid():
            before += ("setpriv", "--bounding-set", "-ipc_lock", "--inh-caps", "-ipc_lock")
        ended = self.run_it("doctor", *SOFT, "--json", before=before)
        document = json.loads(ended.out)
        findings = {row["code"]: row for row in document["findings"]}
        self.assertIn("SOFTWARE DEVICE soft0", findings["software-device"]["what"])
        self.assertFalse(findings["software-device"]["spoils"])
        self.assertFalse(
            set(findings) & {"rights", "device", "no-device", "module", "memlock", "port"}
        )
        facts = document["hosts"]["client"]
        self.assertEqual(facts["limits"]["memlock"], 65536)
        self.assertEqual((facts["port"]["state"], facts["port"]["link_layer"]),
                         ("ACTIVE", "Ethernet"))
        self.assertTrue(self.run_it("doctor", *SOFT).out.startswith(HEAD))

    def test_doctor_tests_the_path(self):
        server = self.server()
        ended = self.run_it("doctor", "127.0.0.1", "-p", server.port, *SOFT, "--json")
        codes = {row["code"] for row in json.loads(ended.out)["findings"]}
        self.assertIn("path", codes)
        self.assertFalse({code for code in codes if code.startswith(("path-", "connect-"))})

    def test_semantics_has_counts_and_no_times(self):
        path = f"{self.folder}/result.json"
        ended = self.good("run", *SOFT, "--preset", "semantics", "-D", "20ms", "--trials", 1,
                          "--json", path)
        page = self.good("report", "--format", "html", path).out
        for shown in (ended.out, self.good("report", path).out):
            self.assertTrue(shown.startswith(HEAD))
            self.assertNotRegex(shown, r"LATENCY|BANDWIDTH|p50|p99|Gb/s  |\bus\b")
            rows = [match for match in map(ROW.match, shown.splitlines()) if match]
            self.assertEqual(len(rows), 9, shown)
            for row in rows:
                op = {"write+poll": "write", "send+reply": "send"}.get(row[2], row[2])
                self.assertEqual(tuple(word == "yes" for word in row.group(3, 4)), NEEDS[op])
        self.assertNotRegex(page, "<h3[^>]*>(Latency|Bandwidth)")
        self.assertIn(">Operation requirements", page)


class Rights(OnSoft):
    def test_nobody_with_little_memory_to_lock(self):
        if os.getuid():
            self.skipTest("only root can become nobody")
        before = ("setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups",
                  "--no-new-privs", "prlimit", "--memlock=65536")
        os.chown(self.folder, NOBODY, NOBODY)
        os.chown(self.environment["VERBMARK_SOFT_DIR"], NOBODY, NOBODY)
        reached = subprocess.run([*map(str, before), "test", "-x", VERBMARK], check=False)
        if reached.returncode:
            self.skipTest("nobody cannot reach the build folder")
        device = ("--device", "soft0" if has_device() else "auto")
        document = self.document(*device, "--preset", "quick", "-D", "20ms", "--trials", 2,
                                 before=before)
        self.assertEqual(len(document["cases"]), 30)
        self.assertEqual(document["hosts"]["client"]["facts"]["limits"]["memlock"], 65536)
