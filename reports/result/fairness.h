/* SPDX-License-Identifier: MIT */
/*
 * How even rates are, by Jain's index: the square of their sum over their number times the
 * sum of their squares, 1 where all are alike, 1/n where one has all of it.
 */
#ifndef REPORTS_RESULT_FAIRNESS_H
#define REPORTS_RESULT_FAIRNESS_H

#include <math.h>

struct fairness {
	double sum;
	double squares;
	double count;
};

static inline void fairness_take(struct fairness *fairness, double rate)
{
	fairness->sum += rate;
	fairness->squares += rate * rate;
	fairness->count++;
}

/* NAN where nothing was done. */
static inline double fairness_index(const struct fairness *fairness)
{
	if (fairness->squares <= 0)
		return (double)NAN;
	return fairness->sum * fairness->sum / (fairness->count * fairness->squares);
}

#endif
