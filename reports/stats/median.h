/* SPDX-License-Identifier: MIT */
/* Sorts doubles and computes their median: for an even number the mean of the two in the middle. */
#ifndef REPORTS_STATS_MEDIAN_H
#define REPORTS_STATS_MEDIAN_H

#include <stddef.h>

/* Sorts values in ascending order; NAN is not allowed. */
void median_sort(double *values, size_t count);

/* Returns the median; count is at least 1. */
double median_of_sorted(const double *sorted, size_t count);

#endif
