/* SPDX-License-Identifier: MIT */
/* A result as an aligned table for terminals and logs, one line for each case as it ends. */
#ifndef REPORTS_TABLE_TABLE_H
#define REPORTS_TABLE_TABLE_H

#include <stdio.h>

#include "reports/table/cells.h"

#define TABLE_NAMES 3

struct table {
	FILE *out;
	const struct table_unit *unit; /* of bandwidths; NULL: Gb/s */
	const struct result *result;
	const struct result_case *last; /* last line with figures */
	int width[TABLE_NAMES];         /* of the columns of words */
	bool is_colored;                /* the caller sets it for terminals */
};

/* Prints the heading. All cases must be in the result, including those that have not run yet. */
void table_open(struct table *table, FILE *out, const struct table_unit *unit,
		const struct result *result);

/*
 * Prints one case, with column titles where the table changes. Prints nothing for interrupted and
 * skipped cases, which table_foot lists.
 */
void table_line(struct table *table, const struct result_case *line);

/* The number of cases that completed, and of those that could be run. */
struct table_count {
	size_t complete;
	size_t wanted;
};

/*
 * Prints what follows the lines: findings about the cases together, the cases that were skipped or
 * interrupted, and a warning about those that did not stabilize during warm-up.
 */
struct table_count table_foot(const struct table *table);

/* Prints one line for each finding that invalidates the measurement. */
void table_warnings(const struct table *table);

#endif
