# SPDX-License-Identifier: MIT
"""
verbmark fleet under the launchers that start it, on the software device: ranks of Open MPI and
nodes of a Slurm cluster. One rank is made slow, or loses its device, or is killed or stopped.
"""

import base64
import csv
import json
import os
import re
import shutil
import signal
import struct
import tempfile
import unittest
import xml.etree.ElementTree
import zlib

import documents
import junit
import slurm
from verbmark import VERBMARK, Ended, Program, read, verbmark, wait_until

MPIRUN = ("mpirun", "--allow-run-as-root", "--oversubscribe")
SRUN = ("srun", "--mpi=pmix", "--ntasks-per-node=1", "--kill-on-bad-exit=0")
# A link so slow that every CPU keeps up with it: figures hardly differ between pairs.
LINK = "bandwidth=100mbit"
SLOW_LINK = "bandwidth=20mbit"
# Bidirectional: VERBMARK_SOFT slows only what a rank sends. Ranks that poll would take the CPUs
# from one another.
WRITES = (
    "--devices", "soft0", "--op", "write", "--metric", "bw", "-s", "4k", "-b", "--cq", "event",
)
# Its queue lasts for longer than a rank waits for a CPU.
CASE = (*WRITES, "-t", "512", "-Q", "16")
SHORT = ("-D", "500ms")
# Rounds that last until a test has found the rank that it disturbs.
LONG = ("-D", "3s", "--time-limit", "10s")
DEAD = "rdma_connect#1+=EIO; rdma_accept#1+=EIO"
# A result of one pair of hosts.
SAMPLE = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../../../reports/test/lib/sample.json"
)
NO_PMIX = "this build has no PMIx"
FLEET_PATIENCE = 180


def reason_to_skip():
    """Returns why this build cannot take part in a job, or None."""
    return NO_PMIX if NO_PMIX in verbmark("fleet", "--devices", "soft0").err else None


def reason_to_skip_openmpi():
    return reason_to_skip() if shutil.which("mpirun") else "mpirun is not installed"


def plain_environment():
    """Returns the variables of this process without those of a job and of the device."""
    return {name: value for name, value in os.environ.items()
            if not name.startswith(("SLURM", "PMIX", "OMPI", "VERBMARK_SOFT"))}


def numbers_of(nodes):
    """Returns the numbers of the nodes, which are the suffixes of their names under mpirun."""
    return [int(name.rpartition(".")[2]) for name in nodes]


def is_rank_on(pid, folder, node):
    """Returns whether the process is the rank on that node of the cluster in the folder."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            variables = file.read().split(b"\0")
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            program = file.read().split(b"\0")[0].decode()
    except OSError:
        return False
    wanted = {f"SLURMD_NODENAME={node}".encode(), f"{slurm.MARK}={folder}".encode()}
    return wanted <= set(variables) and program == VERBMARK


def has_peer(pid):
    """Returns whether the process has mapped another process of soft0 besides its own image."""
    return read(f"/proc/{pid}/maps").count("/memfd:verbmark-soft (") > 1


def hdr_counts(text):
    """Decodes HdrHistogram's V2 string: the number of samples by the lowest value of their bin."""
    cookie, length = struct.unpack(">II", base64.b64decode(text)[:8])
    payload = zlib.decompress(base64.b64decode(text)[8:])
    assert (cookie, length) == (0x1C849314, len(base64.b64decode(text)) - 8)
    counts, place, at = {}, 0, 40
    while at < len(payload):
        word, shift = 0, 0
        while True:
            byte = payload[at]
            at += 1
            word |= (byte if shift == 56 else byte & 127) << shift
            shift += 7
            if byte < 128 or shift > 56:
                break
        count = (word >> 1) ^ -(word & 1)
        if count > 0:
            half = max(place // 1024 - 1, 0)
            counts[(place - 1024 * half) << half] = count
        place += max(-count, 1)
    return counts


def hdr_median(counts):
    left = sum(counts.values()) / 2
    for value, count in sorted(counts.items()):
        left -= count
        if left <= 0:
            return value
    return None


class OfFleet(unittest.TestCase):
    """A folder for the files of a run, and what their content must be."""

    case = CASE

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="fleet")
        self.addCleanup(shutil.rmtree, self.folder)
        os.mkdir(f"{self.folder}/device", 0o700)
        self.variables = {
            "VERBMARK_SOFT_DIR": f"{self.folder}/device", "VERBMARK_SOFT": LINK,
        }

    def path(self, name):
        return f"{self.folder}/{name}"

    def fleet(self, *options, case=None, name="f"):
        """Returns a command with all output files, which begin with the name."""
        return (
            VERBMARK, "fleet", *(case or self.case), *options, "--json", self.path(f"{name}.json"),
            "--csv", self.path(f"{name}.csv"), "--junit", self.path(f"{name}.xml"),
            "--bad-nodes", self.path(f"{name}.bad"),
        )

    def wrapped(self, rank, name, value, *options):
        """Returns a command that sets a variable for one rank of Slurm."""
        return (
            "sh", "-c", f'[ "$SLURM_PROCID" != {rank} ] || export {name}="$0"; exec "$@"', value,
            *self.fleet(*options),
        )

    def document(self, name="f"):
        with open(self.path(f"{name}.json"), encoding="utf-8") as file:
            document = documents.parse(file.read(), "verbmark.fleet-1")
        return document | {"pairs": [dict(zip(document["columns"], row))
                                     for row in document["pairs"]]}

    def bad_nodes(self, name="f"):
        with open(self.path(f"{name}.bad"), encoding="ascii") as file:
            return file.read().split()

    def run_ranks(self, *ranks, patience=FLEET_PATIENCE):
        """Runs a command line of mpirun; returns the ended program and its document."""
        ended = Ended(Program(*MPIRUN, *ranks, env=plain_environment() | self.variables), patience)
        self.assertIn(ended.status, (0, 1), ended.err)
        document = self.document()
        self.assertEqual(document["run"]["exit_status"], ended.status)
        return ended, document

    def check_rounds(self, document, size, rounds):
        """Checks that no pair was measured twice, and each node once in each round."""
        pairs = [pair for pair in document["pairs"] if not pair["retest"]]
        links = {frozenset((pair["from"], pair["to"])) for pair in pairs}
        self.assertEqual((len(pairs), len(links)), (size // 2 * rounds,) * 2)
        self.assertTrue(all(len(link) == 2 for link in links))
        for number in {pair["round"] for pair in pairs}:
            nodes = [pair[end] for pair in pairs if pair["round"] == number
                     for end in ("from", "to")]
            self.assertEqual(sorted(nodes), list(range(size)))
        self.assertEqual(document["run"]["rounds"], rounds)

    def check_blamed(self, document, node):
        """Checks that exactly this node is to blame as a node or rail."""
        blamed = {blame["node"] for blame in document["blames"]
                  if blame["culprit"] in ("node", "rail")}
        self.assertEqual(blamed, {node}, document["blames"])


class UnderOpenMpi(OfFleet):
    @classmethod
    def setUpClass(cls):
        if reason := reason_to_skip_openmpi():
            raise unittest.SkipTest(reason)

    def one_differs(self, name, value):
        """Runs six ranks, of which rank 4 has another value of the variable."""
        command = self.fleet(*SHORT)
        return self.run_ranks(
            "-np", 4, *command, ":", "-np", 1, "-x", f"{name}={value}", *command,
            ":", "-np", 1, *command,
        )

    def test_healthy(self):
        ended, document = self.run_ranks("-np", 8, *self.fleet(*SHORT))
        self.assertRegex(ended.out, r"\b8 nodes on 1 host, 1 rail; \d+ pairs measured; 7 rounds,")
        self.check_rounds(document, 8, 7)
        self.assertEqual(numbers_of(node["name"] for node in document["nodes"]), list(range(8)))
        self.assertEqual({node["presence"] for node in document["nodes"]}, {"present"})
        self.assertEqual(document["run"]["launcher"], "openmpi")
        self.assertFalse(document["run"]["interrupted"])
        self.assertFalse([pair for pair in document["pairs"] if not isinstance(
            pair["figures_or_error"], list)])
        with open(self.path("f.csv"), encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["retest"] == "0"]
        self.assertEqual({row["status"] for row in rows}, {"measured"})
        directions = {(row["from"], row["to"]) for row in rows}
        self.assertEqual((len(rows), len(directions)), (56, 56))
        self.assertEqual(junit.faults(read(self.path("f.xml"))), [])
        suite = xml.etree.ElementTree.parse(self.path("f.xml")).getroot()[0]
        self.assertEqual(int(suite.get("tests")), len(suite.findall("testcase")))
        self.assertGreaterEqual(int(suite.get("tests")), 8)
        self.assertEqual(" ".join(self.bad_nodes()), document["bad_nodes"])

    def test_histograms(self):
        """Those of latencies have all samples, and the figure is their median."""
        case = ("--devices", "soft0", "--op", "write", "--metric", "lat,bw", "-s", "16k",
                "--cq", "event")
        ended, document = self.run_ranks("-np", 3, *self.fleet(
            "-n", 200, "--trials", 2, "--time-limit", "60s", "--floor", "0.01%",
            "--histograms", case=case))
        lat = [case["metric"] for case in document["cases"]].index("lat")
        bw = 1 - lat
        pairs = document["pairs"]
        self.assertGreaterEqual(len({pair["from"] for pair in pairs}), 2)
        for pair in pairs:
            counts = hdr_counts(pair["histograms"][2 * lat])
            self.assertEqual(sum(counts.values()), 400)
            self.assertAlmostEqual(hdr_median(counts) / pair["figures_or_error"][2 * lat], 1,
                                   delta=0.002)
            # The link needs at least 52 ms for the messages of a trial: five windows.
            self.assertTrue(hdr_counts(pair["histograms"][2 * bw]))
            self.assertEqual([pair["histograms"][2 * case + 1] for case in (0, 1)], [None, None])
        again = verbmark("report", "--format", "json", self.path("f.json"))
        with open(self.path("f.json"), encoding="utf-8") as file:
            self.assertEqual(json.loads(again.out)["pairs"], json.load(file)["pairs"], ended.err)

    def test_slow_rank(self):
        ended, document = self.one_differs("VERBMARK_SOFT", SLOW_LINK)
        self.check_blamed(document, 4)
        self.assertEqual(ended.status, 1)
        self.assertEqual(self.bad_nodes(), [document["nodes"][4]["host"]])

    def test_dead_rail(self):
        ended, document = self.one_differs("VERBMARK_SOFT_FAULTS", DEAD)
        self.check_blamed(document, 4)
        self.assertEqual(ended.status, 1)
        failed = [pair for pair in document["pairs"]
                  if not pair["retest"] and isinstance(pair["figures_or_error"], str)]
        self.assertEqual(len(failed), 5)
        self.assertTrue(all(4 in (pair["from"], pair["to"]) for pair in failed), failed)


class UnderSlurm(OfFleet):
    @classmethod
    def setUpClass(cls):
        if reason := slurm.reason_to_skip() or reason_to_skip():
            raise unittest.SkipTest(reason)
        cls.cluster = slurm.Cluster(8)

    @classmethod
    def tearDownClass(cls):
        cls.cluster.close()

    def setUp(self):
        super().setUp()
        self.cluster.wait_idle()

    def start(self, *command, nodes="n[0-3]", count=4):
        """Starts a step on these nodes; the end of the test kills it."""
        step = Program(*SRUN, "-N", count, "-w", nodes, *command,
                       env=self.cluster.environment | self.variables)
        self.addCleanup(step.kill)
        return step

    def rank_on(self, step, node):
        """Returns the process on a node once it is measuring; fails if the step ends before."""
        def find():
            self.assertIsNone(step.process.poll(), step.err)
            pids = (name for name in os.listdir("/proc") if name.isdigit())
            return next((int(pid) for pid in pids
                         if is_rank_on(pid, self.cluster.folder, node) and has_peer(pid)), None)

        return wait_until(find, what=f"the rank on {node} to measure")

    def test_names_and_slow_node(self):
        step = self.start(*self.wrapped(2, "VERBMARK_SOFT", SLOW_LINK, *SHORT))
        self.assertEqual(step.wait(FLEET_PATIENCE), 1, step.err)
        document = self.document()
        self.check_rounds(document, 4, 3)
        self.assertEqual([node["name"] for node in document["nodes"]], ["n0", "n1", "n2", "n3"])
        self.assertEqual(document["run"]["launcher"], "slurm")
        self.check_blamed(document, 2)
        self.assertEqual(self.bad_nodes(), ["n2"])

    def test_unwritable_result(self):
        """Rank 0 says so, and no rank waits for it."""
        step = self.start(VERBMARK, "fleet", *CASE, *SHORT, "--join", "1h",
                          "--json", self.path("missing/f.json"))
        self.assertEqual(step.wait(FLEET_PATIENCE), 3, step.err)
        said = [line for line in step.err if line.startswith("verbmark: ")]
        self.assertEqual(said, [f"verbmark: cannot write {self.path('missing/f.json')}: No such "
                                "file or directory"])

    def check_lost(self, step, name, node):
        """Checks that the step reports the third of its nodes as lost, and the other pairs."""
        self.assertIn(step.wait(FLEET_PATIENCE), (1, 137), step.err)
        document = self.document(name)
        presence = [node["presence"] for node in document["nodes"]]
        self.assertEqual(presence, ["present", "present", "lost", "present"])
        self.assertEqual(document["run"]["exit_status"], 1)
        self.assertEqual(self.bad_nodes(name), [node])
        others = {frozenset((pair["from"], pair["to"])) for pair in document["pairs"]
                  if 2 not in (pair["from"], pair["to"])
                  and isinstance(pair["figures_or_error"], list)}
        self.assertEqual(len(others), 3, document["pairs"])

    def test_killed_and_stopped(self):
        """Two steps at once: both mostly wait for the lost rank."""
        killed = self.start(*self.fleet(*LONG, name="killed"))
        stopped = self.start(*self.fleet(*LONG, name="stopped"), nodes="n[4-7]")
        os.kill(self.rank_on(killed, "n2"), signal.SIGKILL)
        os.kill(self.rank_on(stopped, "n6"), signal.SIGSTOP)
        self.check_lost(killed, "killed", "n2")
        self.check_lost(stopped, "stopped", "n6")

    def test_first_killed(self):
        """Nobody writes the report then: the others end, and one of them says why."""
        step = self.start(*self.fleet(*LONG))
        os.kill(self.rank_on(step, "n0"), signal.SIGKILL)
        self.assertNotEqual(step.wait(FLEET_PATIENCE), 0)
        self.assertIn("rank 0 (n0), which writes the report, ended", "\n".join(step.err))

    def test_terminated(self):
        """The scheduler ends a job: what all ranks have measured until then is reported."""
        self.variables["SLURM_KILL_BAD_EXIT"] = "1"
        step = self.start(*self.fleet("-D", "2s"), nodes="n[0-7]", count=8)

        def begun():
            """Returns the round in progress once it is the third or later."""
            self.assertIsNone(step.process.poll(), step.err)
            rounds = [int(word) for word in re.findall(r"^round (\d+) of 7", step.errors, re.M)]
            return max(rounds, default=0) > 2 and max(rounds)

        # All ranks have passed the barrier of the round before.
        n_complete = wait_until(begun, what="the third round") - 2
        jobs = self.cluster.run("squeue", "-h", "-o", "%i").stdout.split()
        self.assertEqual(len(jobs), 1)
        self.cluster.run("scancel", "--signal=TERM", jobs[0])
        step.wait(FLEET_PATIENCE)
        document = self.document()
        self.assertTrue(document["run"]["interrupted"])
        self.assertIn("SLURM_KILL_BAD_EXIT", document["run"]["interruption"])
        self.assertEqual(len(document["nodes"]), 8)
        measured = [pair["round"] for pair in document["pairs"]
                    if isinstance(pair["figures_or_error"], list)]
        counts = [measured.count(number) for number in range(n_complete)]
        self.assertEqual(counts, [4] * n_complete)


class Alone(OfFleet):
    """Without a launcher."""

    def run_alone(self, *options):
        return verbmark("fleet", *options, env=plain_environment() | self.variables)

    def setUp(self):
        if reason := reason_to_skip():
            self.skipTest(reason)
        super().setUp()

    def test_needs_a_second_rank(self):
        ended = self.run_alone(*CASE)
        self.assertEqual((ended.status, ended.out), (2, ""))
        self.assertIn("this job has one rank", ended.err)

    def test_measures_itself(self):
        # A single figure can be judged only by a floor.
        ended = self.run_alone(*CASE, *SHORT, "--self", "--floor", "1Mb/s", "--json",
                               self.path("f.json"))
        self.assertEqual(ended.status, 0, ended.err)
        (pair,) = self.document()["pairs"]
        self.assertEqual((pair["from"], pair["to"]), (0, 0))
        self.assertIsInstance(pair["figures_or_error"], list)

    def test_unknown_device(self):
        ended = self.run_alone("--devices", "nosuch", "--self", "--json", self.path("f.json"))
        self.assertNotEqual(ended.status, 0)
        self.assertEqual(self.document()["run"]["exit_status"], ended.status)
        self.assertRegex(self.document()["nodes"][0]["error"], "nosuch|no RDMA device")


class Simulated(OfFleet):
    """Needs no launcher."""

    def simulate(self, *options, name="f.json"):
        ended = verbmark("fleet", "--simulate", 64, *options, "--json", self.path(name),
                         "--bad-nodes", self.path("f.bad"))
        self.assertIn(ended.status, (0, 1), ended.err)
        return ended

    def test_healthy(self):
        self.assertEqual(self.simulate().status, 0)
        document = self.document()
        self.assertTrue(document["run"]["simulated"])
        self.assertEqual((document["blames"], self.bad_nodes()), ([], []))

    def test_slow_node(self):
        self.assertEqual(self.simulate("--plant", "slow-node:17").status, 1)
        self.check_blamed(self.document(), 17)
        self.assertEqual(self.bad_nodes(), ["n017"])

    def test_reports(self):
        self.simulate("--plant", "slow-node:17")
        table, rows, page = (
            verbmark("report", "--format", form, self.path("f.json"))
            for form in ("table", "csv", "html")
        )
        self.assertEqual([one.status for one in (table, rows, page)], [0, 0, 0])
        self.assertIn("n017", table.out)
        self.assertIn("n017", rows.out)
        self.assertTrue(page.out.lower().startswith("<!doctype html>"))

    def test_units(self):
        self.simulate("--plant", "slow-node:17")
        tables = [verbmark("report", self.path("f.json"), *units).out
                  for units in ((), ("--units", "GB/s"))]
        rows = [re.search(r"^write/\S+ +0 .*", table, re.M)[0].split() for table in tables]
        self.assertEqual([row[6] for row in rows], ["Gb/s", "GB/s"], rows)
        self.assertAlmostEqual(float(rows[0][3]), 8 * float(rows[1][3]), delta=0.5)

    def test_lines_of_several(self):
        """A fleet's lines have other titles than a result's, and do not name the file."""
        self.simulate()
        self.simulate(name="g.json")
        alone = verbmark("report", "--format", "csv", self.path("f.json"))
        self.assertEqual(alone.out.count("round,"), 1)
        ended = verbmark("report", "--format", "csv", *map(self.path, ("f.json", "g.json")))
        self.assertNotEqual(ended.status, 0)
        self.assertEqual(ended.out, "")
        self.assertIn("give this file alone", ended.err)

    def test_too_large(self):
        ended = verbmark("fleet", "--simulate", 8000, "--json", self.path("f.json"))
        self.assertEqual((ended.status, ended.out), (3, ""))
        self.assertIn("--json: 31996000 measurements may need more than 4 GiB", ended.err)
        self.assertFalse(os.path.exists(self.path("f.json")))

    def test_compared_with_itself(self):
        self.simulate()
        ended = verbmark("compare", self.path("f.json"), self.path("f.json"))
        self.assertEqual(ended.status, 0, ended.err)

    def test_compared_as_json(self):
        """A link slowed down and a rail died: the document matches its schema."""
        self.simulate("--plant", "slow-link:5-9,slow-node:17")
        self.simulate("--plant", "slow-node:17,dead-rail:3/0", name="g.json")
        ended = verbmark("compare", "--format", "json", *map(self.path, ("f.json", "g.json")))
        document = documents.parse(ended.out, "verbmark.fleet-comparison-1")
        self.assertEqual(document["verdict"], "worse")
        figures = document["figures"]
        self.assertEqual(document["counts"], {
            verdict: sum(one["verdict"] == verdict for one in figures)
            for verdict in document["counts"]})
        failed = [one for one in figures if "new" not in one]
        self.assertEqual(len(failed), 63 * 3)
        self.assertEqual({one["reason"] for one in failed}, {"connection timed out"})
        self.assertTrue(all("n003" in (one["from"], one["to"]) for one in failed))
        better = {(one["from"], one["to"]) for one in figures if one["verdict"] == "better"}
        self.assertLessEqual({("n005", "n009"), ("n009", "n005")}, better)

    def test_only_two_of_a_kind_are_compared(self):
        self.simulate()
        for pair in ((self.path("f.json"), SAMPLE), (SAMPLE, self.path("f.json"))):
            ended = verbmark("compare", *pair)
            self.assertEqual((ended.status, ended.out), (3, ""))
            self.assertIn("compare two of a kind", ended.err)
