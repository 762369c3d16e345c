# SPDX-License-Identifier: MIT
"""64 ranks of Open MPI on the software device, one of them slow."""

import unittest

from fleet import launchers

RANKS = 64
ROUNDS = 10
SLOW = 37
# 32 pairs share the CPUs: few messages, a queue that lasts for half a second, and patience.
LINK = "bandwidth=4mbit"
SLOW_LINK = "bandwidth=800kbit"
OPTIONS = ("-D", "2s", "--rounds", ROUNDS, "--time-limit", "120s", "--join", "300s")
PATIENCE = 1200


class Size(launchers.OfFleet):
    case = (*launchers.WRITES, "-t", "64", "-Q", "4")

    def setUp(self):
        if reason := launchers.reason_to_skip_openmpi():
            raise unittest.SkipTest(reason)
        super().setUp()
        self.variables["VERBMARK_SOFT"] = LINK

    def test_slow_rank(self):
        command = self.fleet(*OPTIONS)
        ended, document = self.run_ranks(
            "-np", SLOW, *command, ":", "-np", 1, "-x", f"VERBMARK_SOFT={SLOW_LINK}", *command,
            ":", "-np", RANKS - SLOW - 1, *command, patience=PATIENCE,
        )
        self.assertEqual(ended.status, 1, ended.err)
        self.check_blamed(document, SLOW)
        self.check_rounds(document, RANKS, ROUNDS)
