/* SPDX-License-Identifier: MIT */
/*
 * How doubles are sorted, and their median: of an even number the mean of both in the middle.
 * None of them is NAN.
 */
#ifndef REPORTS_STATS_MEDIAN_H
#define REPORTS_STATS_MEDIAN_H

#include <stddef.h>

/* Sorts them, the least first. */
void median_sort(double *values, size_t count);

/* count: at least 1. */
double median_of_sorted(const double *sorted, size_t count);

#endif
