/* SPDX-License-Identifier: MIT */
#include "reports/stats/interval.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/stats/median.h"

#define CONFIDENCE 0.95

/*
 * Returns the number of values to exclude at either end. The median is below the (k+1)-th value if
 * at most k of n values are below it, like heads of a coin. Computed with logarithms, because 2^-n
 * underflows a double at about a thousand values.
 */
static size_t find_margin(size_t n, double *confidence)
{
	double log_term = -(double)n;
	double tail = exp2(log_term);
	size_t margin = 0;

	while (margin + 1 < n - margin - 1) {
		double next;

		log_term += log2((double)(n - margin) / (double)(margin + 1));
		next = tail + exp2(log_term);
		if (1 - 2 * next < CONFIDENCE)
			break;
		tail = next;
		margin++;
	}
	*confidence = 1 - 2 * tail;
	return margin;
}

bool interval_is_sure(const struct interval *interval)
{
	return interval->confidence >= CONFIDENCE;
}

static int interval_check(const double *values, size_t n_values, struct error *error)
{
	if (!n_values)
		return error_set(error, -EINVAL, "no values");
	for (size_t i = 0; i < n_values; i++)
		if (isnan(values[i]))
			return error_set(error, -EINVAL, "value %zu of %zu is not a number", i + 1,
					 n_values);
	return 0;
}

int interval_median(struct interval *interval, const double *values, size_t n_values,
		    struct error *error)
{
	int code = interval_check(values, n_values, error);
	double *sorted;
	size_t margin;

	*interval = (struct interval){0};
	if (code)
		return code;
	sorted = calloc(n_values, sizeof(*sorted));
	if (!sorted)
		return error_set_errno(error, -ENOMEM, "cannot sort %zu values", n_values);
	memcpy(sorted, values, n_values * sizeof(*sorted));
	median_sort(sorted, n_values);
	margin = find_margin(n_values, &interval->confidence);
	interval->low = sorted[margin];
	interval->high = sorted[n_values - margin - 1];
	interval->median = median_of_sorted(sorted, n_values);
	free(sorted);
	return 0;
}
