/* SPDX-License-Identifier: MIT */
/*
 * The median of trials with its confidence interval from order statistics: it assumes no
 * distribution, and its bounds are two of the values. Its actual confidence is rarely exactly 95 %.
 */
#ifndef REPORTS_STATS_INTERVAL_H
#define REPORTS_STATS_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

struct interval {
	double low;
	double high;
	double median;
	double confidence; /* from 0 to 1: at least 0.95 with 6 values or more, 0 with one */
};

/* Whether the confidence is at least 95 %; otherwise the bounds are not shown. */
bool interval_is_sure(const struct interval *interval);

/*
 * Computes the narrowest symmetric interval of ranks that covers the median with 95 % confidence.
 * With fewer than 6 values it has less confidence and covers all of them. -EINVAL: there are no
 * values, or one is not a number.
 */
int interval_median(struct interval *interval, const double *values, size_t n_values,
		    struct error *error);

#endif
