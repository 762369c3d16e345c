/* SPDX-License-Identifier: MIT */
/*
 * A result as a table for terminals and logs: microseconds, aligned, a line for
 * each case as it ends.
 */
#ifndef REPORTS_TABLE_H
#define REPORTS_TABLE_H

#include <stdio.h>

#include "reports/result.h"

/* What a bandwidth is shown in, such as Gb/s. */
struct table_unit;

/* An option's parser: a const struct table_unit *, which is NULL for Gb/s as well. */
const char *table_parse_unit(const char *text, void *unit);

/* The two ends. */
void table_head(FILE *out, const struct result *result);

/*
 * One of the result's cases, with titles before the first of its metric. unit: of its
 * bandwidth; NULL: Gb/s.
 */
void table_line(FILE *out, const struct table_unit *unit, const struct result *result,
		const struct result_case *line);

/* How many of the cases that could be run are complete. */
struct table_count {
	size_t complete;
	size_t wanted;
};

/* What is below the lines: what operations need, and the cases that were never tried. */
struct table_count table_foot(FILE *out, const struct result *result);

/* What of the circumstances spoils it, a line each. */
void table_warnings(FILE *out, const struct result *result);

#endif
