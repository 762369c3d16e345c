/* SPDX-License-Identifier: MIT */
/*
 * The verdict on a figure: whether its ratio new / base shows a difference of at least a threshold,
 * rules one out, or cannot decide. compare, gate and tips all judge here. Thresholds apply in both
 * directions: with a threshold of 0.05, a figure is the same within 1 / 1.05..1.05. Plain data,
 * owned by the caller; usable from any thread.
 */
#ifndef REPORTS_VERDICT_VERDICT_H
#define REPORTS_VERDICT_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

/* The chance of a false `better` in a family of figures, and likewise of a false `worse`. */
#define VERDICT_LEVEL 0.05

/* From best to worst: the headline of several verdicts is the worst. */
enum verdict {
	VERDICT_BETTER,
	VERDICT_SAME,
	VERDICT_UNCLEAR,
	VERDICT_INVALID,
	VERDICT_WORSE,
	VERDICTS,
};

struct judged_ratio {
	double ratio; /* new / base */
	double low;   /* confidence interval of the ratio; NAN: unknown */
	double high;
	double threshold;  /* 0.05: 5 % */
	double resolution; /* relative step of the values; smaller changes are no difference */
	double reach;      /* how far beyond the threshold the log ratio must be; NAN: unknown */
	bool more_is_good; /* else less is good */
	bool is_invalid;   /* the sides must not be compared; the caller knows why */
	/*
	 * The chance of a ratio this far beyond the threshold if the true ratio is exactly at it.
	 * 0: only the interval decides. verdict_judge corrects them for the family.
	 */
	double better;
	double worse;
	enum verdict verdict; /* set by verdict_judge */
};

/* Judges one figure. */
enum verdict verdict_of(const struct judged_ratio *judged);

/* Judges a family of figures, corrected for their number (Holm). -ENOMEM. */
int verdict_judge(struct judged_ratio *const *family, size_t count, struct error *error);

/* Returns the distance to show: the threshold, or one step of the values if larger. */
double verdict_distance(const struct judged_ratio *judged);

/*
 * Returns the smallest relative difference that the data could have shown (0.2: a ratio beyond 1.2
 * or 1 / 1.2). NAN: no difference could have been shown.
 */
double verdict_detectable(const struct judged_ratio *judged);

/* Returns the headline for these counts of verdicts; invalid if all are 0. */
enum verdict verdict_worst(const size_t counts[static VERDICTS]);

const char *verdict_name(enum verdict verdict);

#endif
