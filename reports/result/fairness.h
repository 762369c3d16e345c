/* SPDX-License-Identifier: MIT */
/*
 * Jain's fairness index of rates: the square of their sum divided by their number times the sum of
 * their squares. 1 means that all rates are equal, 1/n that a single one is not zero.
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

/* Returns NAN if all rates are zero. */
static inline double fairness_index(const struct fairness *fairness)
{
	if (fairness->squares <= 0)
		return (double)NAN;
	return fairness->sum * fairness->sum / (fairness->count * fairness->squares);
}

#endif
