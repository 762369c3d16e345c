# SPDX-License-Identifier: MIT
"""
A rank of verbmark fleet that dies or stops at each stage of the check: before it joins, between
barriers, and while it reports. The others must end, and report their pairs.
"""

import os
import signal

import slurm
from fleet import launchers
from verbmark import Program

PROGRAM = os.environ["DYING_PROGRAM"]
OPTIONS = (*launchers.SHORT, "--time-limit", "5s", "--join", "10s")
BEFORE_JOINING = "meet#1"
STAGES = (BEFORE_JOINING, "meet#2", "meet#3", "report#1")
NEIGHBORS = {0, 1, 3}


class OfStages(launchers.OfFleet):
    """The third of four ranks gets the signal."""

    def command(self, stage):
        return (PROGRAM, *self.fleet(*OPTIONS, name=stage)[1:])

    def check_lost(self, stage):
        """Checks that the rank is reported as lost, and that the other pairs were measured."""
        document = self.document(stage)
        presence = [node["presence"] for node in document["nodes"]]
        self.assertEqual(presence, ["present", "present", "lost", "present"])
        self.assertEqual(document["run"]["exit_status"], 1)
        self.check_blamed(document, 2)
        others = {frozenset((pair["from"], pair["to"])) for pair in document["pairs"]
                  if {pair["from"], pair["to"]} <= NEIGHBORS
                  and isinstance(pair["figures_or_error"], list)}
        self.assertEqual(len(others), 3, document["pairs"])


class UnderOpenMpi(OfStages):
    """Stopped ranks are not tested: mpirun waits for them."""

    def test_killed(self):
        if reason := launchers.reason_to_skip_openmpi():
            self.skipTest(reason)
        jobs = {}
        for stage in STAGES:
            command = self.command(stage)
            jobs[stage] = Program(
                *launchers.MPIRUN, "--enable-recovery", "-np", 2, *command,
                ":", "-np", 1, "-x", f"DYING={stage}:{signal.SIGKILL:d}", *command,
                ":", "-np", 1, *command, env=launchers.plain_environment() | self.variables,
            )
            self.addCleanup(jobs[stage].kill)
        for stage, job in jobs.items():
            with self.subTest(stage):
                job.wait(launchers.FLEET_PATIENCE)
                self.check_lost(stage)


class UnderSlurm(OfStages):
    def check_all(self, number):
        """Starts a step for each stage at once: all mostly wait."""
        if reason := slurm.reason_to_skip() or launchers.reason_to_skip():
            self.skipTest(reason)
        cluster = slurm.Cluster(4 * len(STAGES))
        self.addCleanup(cluster.close)
        steps = {}
        for stage in STAGES:
            steps[stage] = Program(
                *launchers.SRUN, "-N", 4, "sh", "-c",
                '[ "$SLURM_PROCID" != 2 ] || export DYING="$0"; exec "$@"', f"{stage}:{number:d}",
                *self.command(stage), env=cluster.environment | self.variables,
            )
            self.addCleanup(steps[stage].kill)
        for stage, step in steps.items():
            with self.subTest(stage):
                status = step.wait(launchers.FLEET_PATIENCE)
                if stage == BEFORE_JOINING:
                    self.assertIn(status, (3, 137), step.errors)
                    self.assertIn("joining the fleet: not all ranks came", step.errors)
                else:
                    self.assertIn(status, (1, 137), step.errors)
                    self.check_lost(stage)

    def test_killed(self):
        self.check_all(signal.SIGKILL)

    def test_stopped(self):
        self.check_all(signal.SIGSTOP)
