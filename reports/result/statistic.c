/* SPDX-License-Identifier: MIT */
#include "reports/result/statistic.h"

#include <math.h>

static bool any(const struct hist *hist, const struct statistic *statistic)
{
	return hist->count > 0;
}

static bool two(const struct hist *hist, const struct statistic *statistic)
{
	return hist->count > 1;
}

static bool has_quantile(const struct hist *hist, const struct statistic *statistic)
{
	return hist_has_quantile(hist, statistic->parts_per_million);
}

static double quantile(const struct hist *hist, const struct statistic *statistic)
{
	return hist_quantile(hist, statistic->parts_per_million);
}

static double least(const struct hist *hist, const struct statistic *statistic)
{
	return (double)hist->min;
}

static double most(const struct hist *hist, const struct statistic *statistic)
{
	return (double)hist->max;
}

static double mean(const struct hist *hist, const struct statistic *statistic)
{
	return hist_mean(hist);
}

static double deviation(const struct hist *hist, const struct statistic *statistic)
{
	return hist_stddev(hist);
}

const struct statistic statistics[STATISTICS] = {
	{"min",    NULL,    any,          least,     0,      false},
	{"mean",   NULL,    any,          mean,      0,      true },
	{"stddev", NULL,    two,          deviation, 0,      false},
	{"p50",    "p50",   has_quantile, quantile,  500000, true },
	{"p90",    NULL,    has_quantile, quantile,  900000, true },
	{"p99",    "p99",   has_quantile, quantile,  990000, true },
	{"p99_9",  "p99.9", has_quantile, quantile,  999000, true },
	{"p99_99", NULL,    has_quantile, quantile,  999900, true },
	{"max",    "max",   any,          most,      0,      false},
};

void statistic_fill(double values[static STATISTICS], const struct hist *hist)
{
	for (size_t i = 0; i < STATISTICS; i++)
		values[i] = statistics[i].is_known(hist, &statistics[i])
				    ? statistics[i].value(hist, &statistics[i])
				    : (double)NAN;
}
