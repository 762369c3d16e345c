/* SPDX-License-Identifier: MIT */
/*
 * The figures of a page: which ones a result has, and what each shows. Latencies of different
 * kinds are never in the same panel.
 */
#ifndef REPORTS_PAGE_CHARTS_H
#define REPORTS_PAGE_CHARTS_H

#include <stdio.h>

#include "reports/table/cells.h"

struct charts {
	const struct result *result;
	const struct table_unit *unit; /* of bandwidths; NULL: Gb/s */
};

/* Print the figures before a table, which show its values, and after it, which show details. */
void charts_print_before(FILE *out, const struct charts *figures, enum cells_table which);
void charts_print_behind(FILE *out, const struct charts *figures, enum cells_table which);

/* Prints the ratios of cases whose trials were interleaved, if any. */
void charts_print_ratios(FILE *out, const struct charts *figures);

#endif
