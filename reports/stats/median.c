/* SPDX-License-Identifier: MIT */
#include "reports/stats/median.h"

#include <stdlib.h>

static int order(const void *left, const void *right)
{
	const double *a = left;
	const double *b = right;

	return (*a > *b) - (*a < *b);
}

void median_sort(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), order);
}

double median_of_sorted(const double *sorted, size_t count)
{
	return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}
