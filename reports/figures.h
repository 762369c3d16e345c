/* SPDX-License-Identifier: MIT */
/*
 * The figures of a page: which of them a result has, and what is drawn in them. Latencies
 * of two kinds are never in one panel.
 */
#ifndef REPORTS_FIGURES_H
#define REPORTS_FIGURES_H

#include <stdio.h>

#include "reports/cells.h"

/*
 * Those of that table: before it the ones whose values it has, behind it those that have
 * tables of their own. unit: of bandwidths; NULL: Gb/s.
 */
void figures_print_before(FILE *out, const struct table_unit *unit, const struct result *result,
			  enum cells_table which);
void figures_print_behind(FILE *out, const struct table_unit *unit, const struct result *result,
			  enum cells_table which);

/* Of cases whose trials were run in turn, if there are any. */
void figures_print_ratios(FILE *out, const struct result *result);

#endif
