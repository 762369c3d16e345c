/* SPDX-License-Identifier: MIT */
#include "reports/stats/sign_test.h"

#include <math.h>

/*
 * Sums terms of the binomial distribution from its thin end, as logarithms: 2^-n underflows a
 * double at about a thousand coins.
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

/* The k-th smallest value is above the median if fewer than k values are below the median. */
size_t sign_test_rank(size_t count, double level)
{
	double log_term = -(double)count;
	double sum = exp2(log_term);
	size_t rank = 0;

	/* sum is sign_test_chance(count - rank, count), updated step by step. */
	while (rank < count && sum <= level) {
		log_term += log2((double)(count - rank) / (double)(rank + 1));
		sum += exp2(log_term);
		rank++;
	}
	return rank;
}
