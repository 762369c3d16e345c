/* SPDX-License-Identifier: MIT */
/*
 * The knee of a curve of latency over load: of cases that differ in nothing but their
 * rate, the highest one before the first whose schedule was not kept, or whose p99, the
 * median of its trials', is more than twice that of the lowest rate. Where the schedule of
 * the lowest rate was not kept, it is below that. Below three rates there is no curve. A rate
 * of which nothing is known, as its case has failed or has too few messages for a p99, is no
 * point of it, and told beside it.
 */
#ifndef REPORTS_FINDING_LOAD_KNEE_H
#define REPORTS_FINDING_LOAD_KNEE_H

#include "reports/result/result.h"

#define LOAD_KNEE_TIMES 2
#define LOAD_KNEE_LEAST 3

struct load_knee_point {
	double rate;
	double p99_ns;  /* the median over trials */
	bool is_pooled; /* not that: no trial alone has enough messages, all together do */
	bool is_saturated;
	const struct result_case *line;
};

struct load_knee {
	struct load_knee_point lowest;
	bool is_below;             /* it is below the lowest rate, which is beyond, too */
	struct load_knee_point at; /* zeroed where it is below */
	bool has_beyond;           /* else it is not reached by the highest rate, which at is */
	struct load_knee_point beyond;
	json_t *left_out; /* cases that are no points, and why */
};

struct load_knees {
	struct load_knee *knee;
	size_t count;
};

/* Of points in the order of their rates: how many lie before the knee, it included. */
size_t load_knee_count(const struct load_knee_point *points, size_t n_points);

/* Of all the curves in a result; none where there is no memory for them. */
void load_knees_open(struct load_knees *knees, const struct result *result);
void load_knees_close(struct load_knees *knees);

/* For tables. */
void load_knee_tell(const struct load_knee *knee, char text[static 512]);

/* What such cases are, behind a sentence: some, of an array of {"case", "reason"}. */
void load_knee_tell_left_out(const json_t *left_out, char *text, size_t size);

/* For documents; NULL: there is none. */
json_t *load_knees_make(const struct result *result);

#endif
