# SPDX-License-Identifier: MIT
"""
The scripts of ci/slurm on a Slurm cluster whose nodes share the software device: the batch job, and
the checks before and after jobs, which drain a node.
"""

import os
import re
import shutil
import tempfile
import unittest

import slurm
from fleet import launchers
from verbmark import VERBMARK, wait_until

SCRIPTS = os.path.abspath(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../ci/slurm")
)
# The script that slurm.conf names. Slurm passes only its own variables.
AROUND = """\
#!/bin/bash
. "{folder}/$SLURM_SCRIPT_CONTEXT.$SLURMD_NODENAME"
exec "{scripts}/${{SLURM_SCRIPT_CONTEXT%_slurmd}}"
"""
BEFORE, AFTER = "prolog_slurmd", "epilog_slurmd"
LATENCY = "--devices soft0 --op send --metric lat --cq event"
GOOD = f"{LATENCY} --floor 60s"
BAD = f"{LATENCY} --floor 1ns"


def written(path, text, mode=0o644):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    os.chmod(path, mode)


class OnCluster(launchers.OfFleet):
    @classmethod
    def setUpClass(cls):
        if reason := slurm.reason_to_skip() or launchers.reason_to_skip():
            raise unittest.SkipTest(reason)

    def start_cluster(self, *settings):
        cluster = slurm.Cluster(4, settings=settings)
        self.addCleanup(cluster.close)
        return cluster


class Batch(OnCluster):
    """ci/slurm/check.sbatch"""

    def submit(self, cluster, program):
        """Runs the script to its end; returns the exit status of the job and its log."""
        options = (*launchers.CASE, *launchers.SHORT)
        queued = cluster.run(
            "sbatch", "--parsable", "-N", 4, f"{SCRIPTS}/check.sbatch", *options,
            env=self.variables | {"VERBMARK": program}, cwd=self.folder,
        )
        self.job = queued.stdout.strip()

        def ended():
            job = cluster.run("scontrol", "show", "job", self.job).stdout
            return re.search(r"JobState=(?:COMPLETED|FAILED) .*ExitCode=(\d+):0", job, re.S)

        found = wait_until(ended, launchers.FLEET_PATIENCE, f"job {self.job} to end")
        status = int(found[1])
        with open(self.path(f"fleet-{self.job}.log"), encoding="utf-8") as file:
            log = file.read()
        document = self.document(f"fleet-{self.job}")
        self.assertEqual(document["run"]["exit_status"], status, log)
        self.check_rounds(document, 4, 3)
        return status, log

    def test_check(self):
        cluster = self.start_cluster()
        status, log = self.submit(cluster, VERBMARK)
        self.assertIn(status, (0, 1), log)
        self.assertEqual("scontrol" in log, bool(self.bad_nodes(f"fleet-{self.job}")), log)

        lame = self.path("lame")
        written(lame, f"#!/bin/sh\n[ $SLURM_PROCID != 2 ] || "
                      f"export VERBMARK_SOFT_FAULTS='{launchers.DEAD}'\n"
                      f"exec {VERBMARK} \"$@\"\n", 0o755)
        status, log = self.submit(cluster, lame)
        self.assertEqual(status, 1, log)
        self.assertEqual(self.bad_nodes(f"fleet-{self.job}"), ["n2"])
        command = log.splitlines()[-1]
        self.assertEqual(cluster.run("bash", "-c", command).returncode, 0, command)
        drained = cluster.run("sinfo", "-h", "-N", "-t", "drain", "-o", "%N %E").stdout
        self.assertEqual(drained, f"n2 fleet job {self.job}\n")


class AroundJobs(OnCluster):
    """ci/slurm/prolog and ci/slurm/epilog"""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shared = tempfile.mkdtemp(prefix="fleet")
        script = f"{cls.shared}/around"
        written(script, AROUND.format(folder=cls.shared, scripts=SCRIPTS), 0o755)
        cls.set_nodes()
        cls.cluster = slurm.Cluster(2, settings=[
            f"Prolog={script}", f"Epilog={script}", "PrologFlags=Alloc"])

    @classmethod
    def set_node(cls, context, node, options, **variables):
        """Sets what the check before or after jobs uses on a node."""
        values = {
            "VERBMARK": VERBMARK, "VERBMARK_OPTIONS": options,
            "VERBMARK_SOFT_DIR": f"{cls.shared}/device",
        } | variables
        written(f"{cls.shared}/{context}.{node}",
                "".join(f"export {name}='{value}'\n" for name, value in values.items()))

    @classmethod
    def set_nodes(cls):
        for context in (BEFORE, AFTER):
            for node in ("n0", "n1"):
                cls.set_node(context, node, f"{GOOD} --json {cls.shared}/{context}.{node}.json")

    @classmethod
    def tearDownClass(cls):
        cls.cluster.close()

        # An epilog may still be ending its check.
        def is_removed():
            shutil.rmtree(cls.shared, ignore_errors=True)
            return not os.path.exists(cls.shared)

        wait_until(is_removed, what="the last check to end")

    def setUp(self):
        super().setUp()
        self.cluster.wait_idle()
        self.addCleanup(self.cluster.run, "scontrol", "update", "nodename=ALL", "state=resume")
        self.addCleanup(self.set_nodes)

    def run_job(self):
        """
        Runs a job on both nodes; returns the output of its tasks, or nothing if it fails: the task
        of a good node may have run before Slurm aborted the step.
        """
        ended = self.cluster.run("srun", "-N", 2, "sh", "-c", "echo $SLURMD_NODENAME")
        return sorted(ended.stdout.split()) if ended.returncode == 0 else []

    def check_drained(self, reason):
        """Waits until n1 alone is drained."""
        def drained():
            rows = self.cluster.run("sinfo", "-h", "-N", "-o", "%N %T %E").stdout.splitlines()
            return rows == ["n0 idle none", f"n1 drained {reason}"]

        wait_until(drained, what="n1 to be drained")

    def test_good(self):
        self.assertEqual(self.run_job(), ["n0", "n1"])
        self.cluster.wait_idle()
        for context in (BEFORE, AFTER):
            for node in ("n0", "n1"):
                self.folder = self.shared
                self.assertEqual(self.document(f"{context}.{node}")["run"]["exit_status"], 0)

    def test_bad_before(self):
        self.set_node(BEFORE, "n1", BAD)
        self.assertEqual(self.run_job(), [])
        self.check_drained("Prolog error")
        self.assertIn("prolog: check failed (status 1)", self.cluster.logs())

    def test_bad_after(self):
        self.set_node(AFTER, "n1", BAD)
        self.assertEqual(self.run_job(), ["n0", "n1"])
        self.check_drained("Epilog error")

    def test_no_adapter(self):
        self.set_node(BEFORE, "n1", f"{GOOD} --exclude soft0")
        self.assertEqual(self.run_job(), [])
        self.check_drained("Prolog error")

    def test_hung(self):
        written(f"{self.shared}/hung", "#!/bin/sh\nexec sleep infinity\n", 0o755)
        self.set_node(BEFORE, "n1", "", VERBMARK=f"{self.shared}/hung", VERBMARK_SECONDS="1")
        self.assertEqual(self.run_job(), [])
        self.check_drained("Prolog error")

    def test_no_verdict(self):
        self.set_node(BEFORE, "n0", "--nosuch")
        self.set_node(BEFORE, "n1", "", VERBMARK="/nosuch")
        self.assertEqual(self.run_job(), ["n0", "n1"])
