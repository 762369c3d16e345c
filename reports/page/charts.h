/* SPDX-License-Identifier: MIT */
/*
 * The figures of a page: which of them a result has, and what is drawn in them. Latencies
 * of two kinds are never in one panel.
 */
#ifndef REPORTS_PAGE_CHARTS_H
#define REPORTS_PAGE_CHARTS_H

#include <stdio.h>

#include "reports/table/cells.h"

/* What is drawn. */
struct charts {
	const struct result *result;
	const struct table_unit *unit; /* of bandwidths; NULL: Gb/s */
	size_t section;                /* which one of the page, for ids that no other one has */
};

/* Those of that table: before it the ones of what it has, behind it those that go further. */
void charts_print_before(FILE *out, const struct charts *figures, enum cells_table which);
void charts_print_behind(FILE *out, const struct charts *figures, enum cells_table which);

/* Of cases whose trials were run in turn, if there are any. */
void charts_print_ratios(FILE *out, const struct charts *figures);

#endif
