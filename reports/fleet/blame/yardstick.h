/* SPDX-License-Identifier: MIT */
/*
 * The figures to expect of a fleet: by case, sender's rail and kind of pair, the median of the
 * schedule's measurements and their spread. Retests are left out, because they favor bad pairs.
 * Judges single figures by them. Read-only after yardsticks_open.
 */
#ifndef REPORTS_FLEET_BLAME_YARDSTICK_H
#define REPORTS_FLEET_BLAME_YARDSTICK_H

#include "reports/fleet/fleet.h"

enum yardstick_kind {
	YARDSTICK_WITHIN,  /* pairs within a group, or there are no groups */
	YARDSTICK_BETWEEN, /* pairs between groups */
	YARDSTICK_SELF,    /* loopback */
	YARDSTICK_COMMON,  /* within and between, for kinds with too few figures */
	YARDSTICK_KINDS,
};

struct yardstick {
	size_t count;
	double median;
	double mad;
	double least;
	double most;
};

struct yardsticks {
	const struct fleet *fleet;
	struct yardstick *all; /* yardstick_at finds one */
	size_t n_rails;
	size_t n_figures; /* compared */
};

/* Returns 0 or -ENOMEM. The fleet must outlive the yardsticks. */
int yardsticks_open(struct yardsticks *yardsticks, const struct fleet *fleet, struct error *error);
void yardsticks_close(struct yardsticks *yardsticks);

const struct yardstick *yardstick_at(const struct yardsticks *yardsticks, size_t number,
				     size_t rail, enum yardstick_kind kind);

/* Returns the one by which a figure is judged. direction: 0: from -> to, 1: to -> from. */
const struct yardstick *yardstick_of(const struct yardsticks *yardsticks,
				     const struct fleet_pair *pair, size_t number, int direction);

/* Returns the worst good figure of a case between two rails. NAN: no floor. */
double yardstick_floor(const struct fleet *fleet, const struct fleet_pair *pair, size_t number);

struct judged_figure {
	uint8_t faults; /* FLEET_FAULT_FLOOR, FLEET_FAULT_OUTLIER; 0: good */
	bool is_low;    /* worse than the median by more than FLEET_OUTLIER_SHARE */
	double z; /* robust z-score, positive if worse than the median; beyond the floor: INFINITY */
};

/* Judges a figure that was measured. */
struct judged_figure yardstick_judge(const struct yardsticks *yardsticks,
				     const struct fleet_pair *pair, size_t number, int direction);

#endif
