/* SPDX-License-Identifier: MIT */
/*
 * Steps in a series that grows: from which value on it is another one. A series is gone
 * through in windows that overlap by half, each divided by itself (ediv.h), so that what came
 * long ago is settled and need not be looked at again; what was found is held against the
 * values on both sides of it. What is settled piece by piece is the same as at once.
 */
#ifndef REPORTS_STATS_CHANGE_POINTS_H
#define REPORTS_STATS_CHANGE_POINTS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

/* Of each side at the least: a step is seen when so many values are beyond it. */
#define CHANGE_POINTS_LEAST 4

/* What rule.window may be: as much as the half more that ediv.h takes. */
#define CHANGE_POINTS_WINDOW_LEAST 20
#define CHANGE_POINTS_WINDOW_MOST  200

struct change_points_rule {
	size_t window;    /* values */
	double level;     /* a step is one where p is below it */
	double magnitude; /* and the medians differ by that part of the smaller one at least */
};

extern const struct change_points_rule change_points_usual;

bool change_points_is_usual(const struct change_points_rule *rule);

struct change_point {
	size_t at;        /* the number of the first value that is another, from 0 */
	double statistic; /* of the window that it was found in */
	double before;    /* medians, of a window's length at the most */
	double after;
};

/* Zeroed: nothing was looked at yet. */
struct change_points {
	struct change_point *list;
	size_t count;
	size_t windows; /* that are settled */
};

/* Values by their numbers, all above 0: those from the first one on that is needed. */
struct change_points_values {
	const double *values;
	size_t first;
	size_t end;
};

/* The first one that is needed to go on from there. */
size_t change_points_need(const struct change_points *steps, const struct change_points_rule *rule);

/* The number behind the last value of a settled window; 0: there is none. */
size_t change_points_settled(const struct change_points *steps,
			     const struct change_points_rule *rule);

/* All windows that are full. -EINVAL: values before those that there are would be needed. */
int change_points_settle(struct change_points *steps, const struct change_points_rule *rule,
			 const struct change_points_values *values, struct error *error);

/* What is settled, and what the values behind that tell; found is zeroed before. */
int change_points_find(struct change_points *found, const struct change_points *settled,
		       const struct change_points_rule *rule,
		       const struct change_points_values *values, struct error *error);

/* At its place; it must have none yet. */
int change_points_add(struct change_points *steps, const struct change_point *step,
		      struct error *error);

void change_points_finish(struct change_points *steps);

#endif
