/* SPDX-License-Identifier: MIT */
/* A result as an aligned table for terminals and logs, one line for each case as it ends. */
#ifndef REPORTS_TABLE_TABLE_H
#define REPORTS_TABLE_TABLE_H

#include "reports/table/layout.h"

struct table {
	struct terminal terminal;
	const struct table_unit *unit; /* of bandwidths; NULL: Gb/s */
	const struct result *result;
	const struct result_case *last; /* last line with figures */
	struct table_layout layouts[CELLS_TABLES];
};

/* Prints the heading. All cases must be in the result, including those that have not run yet. */
void table_open(struct table *table, const struct terminal *terminal, const struct table_unit *unit,
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
 * Prints what follows the lines: how to read them, findings about the cases together, cases that
 * were skipped or interrupted, and warnings about what invalidates the measurement. The caller adds
 * the last line.
 */
struct table_count table_foot(const struct table *table);

#endif
