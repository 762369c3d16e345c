/* SPDX-License-Identifier: MIT */
/*
 * The verdict on a figure: whether its ratio new / base shows a difference of at least a threshold,
 * rules one out, or cannot decide. compare, gate and tips all judge here. A ratio and its
 * bounds count both ways: with a threshold of 0.05, a figure is the same within 1 / 1.05..1.05.
 * Plain data, owned by the caller; any thread.
 */
#ifndef REPORTS_VERDICT_VERDICT_H
#define REPORTS_VERDICT_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

/* How often a family of figures has a false `better`, and how often a false `worse`. */
#define VERDICT_LEVEL 0.05

/* From the best to the worst: the headline of several is the last of them. */
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
	double low;   /* its confidence interval; NAN: unknown */
	double high;
	double threshold;  /* 0.05: 5 % */
	double resolution; /* of the values, as a part of them: less is no difference */
	double reach;      /* how far beyond the threshold its logarithm has to be; NAN: unknown */
	bool more_is_good; /* else less is */
	bool is_invalid;   /* the sides must not be compared: the caller knows why */
	/*
	 * Chances of a ratio this far beyond the threshold, if the true ratio were at the threshold.
	 * 0: the interval decides alone. verdict_judge corrects them for the family.
	 */
	double better;
	double worse;
	enum verdict verdict; /* set by verdict_judge */
};

/* Judges one figure. */
enum verdict verdict_of(const struct judged_ratio *judged);

/* Judges a family of figures, corrected for their number (Holm). -ENOMEM. */
int verdict_judge(struct judged_ratio *const *family, size_t count, struct error *error);

/* Returns the distance that counts: the threshold, or one step of the values if that is more. */
double verdict_distance(const struct judged_ratio *judged);

/*
 * Returns the smallest difference that the data could have shown, as a part (0.2: a ratio beyond
 * 1.2 or 1 / 1.2). NAN: none.
 */
double verdict_detectable(const struct judged_ratio *judged);

/* Returns the headline for these counts of verdicts; invalid if all are 0. */
enum verdict verdict_worst(const size_t counts[static VERDICTS]);

const char *verdict_name(enum verdict verdict);

#endif
