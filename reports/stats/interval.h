/* SPDX-License-Identifier: MIT */
/*
 * The median of some trials with its confidence interval, from order statistics alone:
 * whatever the distribution, the ends are two of the values themselves. With them
 * comes the confidence that they really have, which is rarely 95 % to the point.
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
	double confidence; /* of 1: at least 0.95 for 6 values and more, 0 for one */
};

/* Whether that is 95 % at least: what has less of it is not shown as bounds. */
bool interval_is_sure(const struct interval *interval);

/*
 * The narrowest interval of ranks, as far from one end as from the other, that covers
 * the median with 95 % confidence. Fewer than 6 values have none: it is then all of
 * them, from the least to the largest. values stay as they are; at least one is
 * needed, and all have to be numbers, else -EINVAL.
 */
int interval_median(struct interval *interval, const double *values, size_t n_values,
		    struct error *error);

#endif
