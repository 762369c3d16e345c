/* SPDX-License-Identifier: MIT */
/*
 * The reason of a blame, in words: "41.2 Gb/s as receiver, median 97.5 Gb/s". Writes at most
 * REASON_MOST bytes into the blame's reason, so that a count can follow.
 */
#ifndef REPORTS_FLEET_BLAME_REASON_H
#define REPORTS_FLEET_BLAME_REASON_H

#include "reports/fleet/blame/suspects.h"

#define REASON_MOST 200

/* The measurements that show that a rail, or its link with another, is bad. */
struct reason {
	const struct suspects *suspects;
	uint32_t rail;
	size_t channel;
	const uint64_t *meets; /* measurements of the rail */
	size_t count;
	bool with_side; /* name the direction if only one is bad */
	double *values; /* room for a figure of each measurement */
};

void reason_print(const struct reason *reason, struct fleet_blame *blame);

/* The same for a bad measurement between two rails of a node. */
void reason_print_loopback(const struct suspects *suspects, const struct fleet_pair *pair,
			   struct fleet_blame *blame);

#endif
