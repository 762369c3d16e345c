/* SPDX-License-Identifier: MIT */
/*
 * The sign test, of the median of differences: it counts how many lie above a bound, and
 * asks how often so many of fair coins show heads. Whatever the distribution, and however
 * far away a few of them lie.
 */
#ifndef REPORTS_STATS_SIGN_TEST_H
#define REPORTS_STATS_SIGN_TEST_H

#include <stddef.h>

/* That at least so many of count coins show heads. */
double sign_test_chance(size_t heads, size_t count);

/*
 * The rank, from 1, of the sorted value that is no larger than the median, but for one time
 * in 1 / level; from the other end, the one that is no smaller. 0: there are too few for that.
 */
size_t sign_test_rank(size_t count, double level);

#endif
