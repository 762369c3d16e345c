/* SPDX-License-Identifier: MIT */
#include "reports/stats/sign_test.h"

#include <math.h>

/*
 * Sums terms of the binomial distribution from its thin end on, as logarithms: 2^-n leaves
 * a double's range at a thousand coins.
 */
double sign_test_chance(size_t heads, size_t count)
{
	double log_term = -(double)count;
	double sum = 0;

	if (!heads)
		return 1;
	for (size_t tails = 0; tails + heads <= count; tails++) {
		sum += exp2(log_term);
		log_term += log2((double)(count - tails) / (double)(tails + 1));
	}
	return fmin(sum, 1);
}

/* The k-th smallest is above the median where fewer than k of all are below it. */
size_t sign_test_rank(size_t count, double level)
{
	double log_term = -(double)count;
	double sum = exp2(log_term);
	size_t rank = 0;

	/* sum: sign_test_chance(count - rank, count), from one to the next. */
	while (rank < count && sum <= level) {
		log_term += log2((double)(count - rank) / (double)(rank + 1));
		sum += exp2(log_term);
		rank++;
	}
	return rank;
}
