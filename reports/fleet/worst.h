/* SPDX-License-Identifier: MIT */
/* The worst measurements of a fleet: pairs that failed, and figures by their share of the median. */
#ifndef REPORTS_FLEET_WORST_H
#define REPORTS_FLEET_WORST_H

#include "reports/fleet/fleet.h"

#define FLEET_WORST 10

struct fleet_worst {
	const struct fleet_pair *pair;
	size_t number;    /* of the case */
	bool is_back;     /* from the pair's "to" to its "from" */
	double goodness;  /* figure / median; of latencies median / figure; 0: failed */
	double figure;    /* NAN: failed */
	double of_median; /* figure / median; NAN: unknown */
};

/*
 * Finds the worst bad measurements of the schedule, the worst first; each pair occurs once, with
 * its worst figure. At most half of them are failures if there are enough others. The median is
 * the one that judges the figure. Returns 0 or -ENOMEM.
 */
int fleet_find_worst(const struct fleet *fleet, struct fleet_worst worst[static FLEET_WORST],
		     size_t *count, struct error *error);

#endif
