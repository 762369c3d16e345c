/* SPDX-License-Identifier: MIT */
/* The median of doubles, none of which is NAN: of an even number the mean of both in the middle. */
#ifndef REPORTS_MEDIAN_H
#define REPORTS_MEDIAN_H

#include <stddef.h>

/* Sorts them, the least first. */
void median_sort(double *values, size_t count);

/* count: at least 1. */
double median_of_sorted(const double *sorted, size_t count);

#endif
