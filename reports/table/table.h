/* SPDX-License-Identifier: MIT */
/*
 * A result as a table for terminals and logs: microseconds, aligned, a line for
 * each case as it ends.
 */
#ifndef REPORTS_TABLE_TABLE_H
#define REPORTS_TABLE_TABLE_H

#include <stdio.h>

#include "reports/table/cells.h"

#define TABLE_NAMES 3

struct table {
	FILE *out;
	const struct table_unit *unit; /* of bandwidths; NULL: Gb/s */
	const struct result *result;
	const struct result_case *last; /* whose line has figures */
	int width[TABLE_NAMES];         /* of the columns of words */
	bool is_ascii;                  /* a terminal that has no other letters */
	bool is_coloured;               /* false unless the caller knows of a terminal */
};

/* Prints the two ends. All cases have to be there, whether they have been run or not. */
void table_open(struct table *table, FILE *out, const struct table_unit *unit,
		const struct result *result);

/*
 * One of the result's cases, with titles before the first of its metric. Nothing of one
 * that is interrupted: the foot has them together.
 */
void table_line(struct table *table, const struct result_case *line);

/* How many of the cases that could be run are complete. */
struct table_count {
	size_t complete;
	size_t wanted;
};

/*
 * What is below the lines: what operations need, the cases that were never tried or were
 * interrupted, and whether those that were measured had become steady.
 */
struct table_count table_foot(const struct table *table);

/* What of the circumstances spoils it, a line each. */
void table_warnings(const struct table *table);

#endif
