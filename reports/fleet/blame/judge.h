/* SPDX-License-Identifier: MIT */
/*
 * Judges each measurement of a fleet on its own: against the floor of its case, against the other
 * measurements of the same rail (robust z-score), and by error counters. Pure functions.
 */
#ifndef REPORTS_FLEET_BLAME_JUDGE_H
#define REPORTS_FLEET_BLAME_JUDGE_H

#include "reports/fleet/fleet.h"
#include "reports/verdict/verdict.h"

/* An outlier has a robust z-score beyond this... */
#define FLEET_OUTLIER_Z 3.5
/* ...and differs from the median by more than this. */
#define FLEET_OUTLIER_SHARE 0.05
/* Fewer figures of a case and rail show no outliers. */
#define FLEET_OUTLIER_LEAST 8

/*
 * With groups, pairs within a group and pairs between groups are each compared with their own
 * median if there are FLEET_OUTLIER_LEAST figures of the kind, else with the common one. Loopback
 * is a kind of its own. Figures count for the sender's rail. Retests are judged, but do not move the
 * median.
 *
 * Sets the faults of all pairs, and the fleet's spreads. May be called again when pairs have been
 * added. Returns 0 or -ENOMEM.
 */
int fleet_judge(struct fleet *fleet, struct error *error);

/* Returns whether error counters rose at either node. */
bool fleet_counters_rose(const struct fleet_pair *pair);

/*
 * Returns the verdict on a measurement that fleet_judge has seen: worse for a fault, same for a good
 * one, unclear if there is neither a floor nor enough to compare with, invalid if not measured.
 */
enum verdict fleet_pair_verdict(const struct fleet *fleet, const struct fleet_pair *pair);

#endif
