/* SPDX-License-Identifier: MIT */
/* The statistics of a latency, one table for tables and documents alike. */
#ifndef REPORTS_RESULT_STATISTIC_H
#define REPORTS_RESULT_STATISTIC_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/hist.h"

struct statistic {
	const char *key;   /* in documents */
	const char *title; /* in tables; NULL: not shown there */
	bool (*is_known)(const struct hist *hist, const struct statistic *statistic);
	double (*value)(const struct hist *hist, const struct statistic *statistic);
	uint32_t parts_per_million; /* of a quantile; 0: not a quantile */
	bool has_interval;          /* false: extremes, and the deviation of all trials */
};

#define STATISTICS 9

extern const struct statistic statistics[STATISTICS];

/* Sets all statistics; NAN: unknown. */
void statistic_fill(double values[static STATISTICS], const struct hist *hist);

#endif
