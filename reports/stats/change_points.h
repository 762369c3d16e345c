/* SPDX-License-Identifier: MIT */
/*
 * Change points of a series: the values at which its level changes. The series is divided in
 * windows that overlap by half (e_divisive.h), and each candidate is tested between the values on
 * its two sides.
 */
#ifndef REPORTS_STATS_CHANGE_POINTS_H
#define REPORTS_STATS_CHANGE_POINTS_H

#include <stddef.h>

#include "core/base/error.h"

/* The fewest values on each side of a change point. */
#define CHANGE_POINTS_LEAST 4

/* Bounds of rule.window: e_divisive.h accepts up to half as many values more. */
#define CHANGE_POINTS_WINDOW_LEAST 20
#define CHANGE_POINTS_WINDOW_MOST  200

struct change_points_rule {
	size_t window;    /* values per window */
	double level;     /* p of a change point is below this */
	double magnitude; /* minimum difference of the medians, relative to the smaller one */
};

extern const struct change_points_rule change_points_usual;

struct change_point {
	size_t at;        /* index of the first value after the change */
	double statistic; /* in the window that found it */
	double before;    /* medians of at most a window's values */
	double after;
};

struct change_points {
	struct change_point *list; /* in order */
	size_t count;
};

/* Finds the change points of values, all above 0. The caller calls change_points_finish. */
int change_points_find(struct change_points *found, const struct change_points_rule *rule,
		       const double *values, size_t count, struct error *error);

void change_points_finish(struct change_points *points);

#endif
