/* SPDX-License-Identifier: MIT */
/*
 * The figures of a latency: one row of a table each, which text and documents walk
 * alike.
 */
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
	uint32_t parts_per_million; /* of a quantile */
};

#define STATISTICS 9

extern const struct statistic statistics[STATISTICS];

/* All of them; NAN for what is not known. */
void statistic_fill(double values[static STATISTICS], const struct hist *hist);

#endif
