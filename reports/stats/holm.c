/* SPDX-License-Identifier: MIT */
#include "reports/stats/holm.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int order(const void *left, const void *right)
{
	double a = **(double *const *)left;
	double b = **(double *const *)right;

	return (a > b) - (a < b);
}

int holm_correct(double *probabilities, size_t count, struct error *error)
{
	double **sorted = calloc(count + 1, sizeof(*sorted));
	double most = 0;

	if (!sorted)
		return error_set_errno(error, -ENOMEM, "cannot sort %zu probabilities", count);
	for (size_t i = 0; i < count; i++)
		sorted[i] = &probabilities[i];
	qsort(sorted, count, sizeof(*sorted), order);
	/* Multiply each by the number of tests left, but let none be below a smaller one. */
	for (size_t i = 0; i < count; i++) {
		most = fmax(most, fmin(1, *sorted[i] * (double)(count - i)));
		*sorted[i] = most;
	}
	free(sorted);
	return 0;
}
