/* SPDX-License-Identifier: MIT */
/*
 * The sign test for the median of differences: counts how many are above a bound, and computes the
 * chance of that many heads of fair coins. It assumes no distribution and is not affected by
 * outliers.
 */
#ifndef REPORTS_STATS_SIGN_TEST_H
#define REPORTS_STATS_SIGN_TEST_H

#include <stddef.h>

/* Returns the chance that at least that many of count coins show heads. */
double sign_test_chance(size_t heads, size_t count);

/*
 * Returns the rank, from 1, of the sorted value that exceeds the median with a chance of at most
 * level; counted from the other end, the value that is below it. 0: there are too few values.
 */
size_t sign_test_rank(size_t count, double level);

#endif
