/* SPDX-License-Identifier: MIT */
/*
 * Judges each measurement of a fleet on its own: against the floor of its case, against the other
 * measurements of the same rail (robust z-score), and by error counters. Pure functions.
 */
#ifndef REPORTS_FLEET_JUDGE_H
#define REPORTS_FLEET_JUDGE_H

#include "reports/fleet/fleet.h"

/* An outlier has a robust z-score beyond this... */
#define FLEET_OUTLIER_Z 3.5
/* ...and differs from the median by more than this. */
#define FLEET_OUTLIER_SHARE 0.05

/*
 * Sets the faults of all pairs, and the fleet's spreads. May be called again when pairs have been
 * added. Returns 0 or -ENOMEM.
 */
int fleet_judge(struct fleet *fleet, struct error *error);

#endif
