/* SPDX-License-Identifier: MIT */
/*
 * Finds out from judged measurements whether a node, a rail of it, or the link between two is bad,
 * and which measurements to repeat with other partners to tell them apart. Pure functions.
 */
#ifndef REPORTS_FLEET_BLAME_BLAME_H
#define REPORTS_FLEET_BLAME_BLAME_H

#include "reports/fleet/fleet.h"

/* A measurement to repeat. */
struct fleet_retest {
	uint32_t round; /* from 0; no node occurs twice in a round */
	uint32_t from;
	uint32_t to;
	uint8_t from_rail;
	uint8_t to_rail;
};

/*
 * Chooses the measurements of retest 1 or 2: bad pairs again, first those that no bad node explains,
 * and rails that are good with fewer than three partners with partners that passed, different ones
 * in each retest. Only nodes that are present are chosen. A rail is chosen for at most 8 bad pairs
 * and 2 partners, and there are at most 64 rounds and 1,024 measurements. Call fleet_judge before.
 * The caller frees *wishes; none: NULL, 0. Returns 0 or -ENOMEM.
 */
int fleet_choose_retests(const struct fleet *fleet, unsigned int retest,
			 struct fleet_retest **wishes, size_t *count, struct error *error);

/* Sets the fleet's blames. Call fleet_judge before. Returns 0 or -ENOMEM. */
int fleet_find_blame(struct fleet *fleet, struct error *error);

#endif
