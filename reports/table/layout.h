/* SPDX-License-Identifier: MIT */
/*
 * How the cases of one kind of table are shown on a terminal, decided before the cases have run:
 * the widths of columns, which of them are hidden, and the heading. Columns with the same cell in
 * every row move to the heading. Plain data, owned by the caller.
 */
#ifndef REPORTS_TABLE_LAYOUT_H
#define REPORTS_TABLE_LAYOUT_H

#include "reports/table/cells.h"

struct table_layout {
	int column_width[GRID_COLUMNS];
	bool is_hidden[GRID_COLUMNS];
	bool has_extras;   /* names include the parameters that differ from the default */
	char heading[224]; /* what is measured, and what all cases have in common */
	char dropped[64];  /* titles of columns that do not fit */
};

/* Lays out all cases of that table for a width; 0: unlimited. */
void layout_make(struct table_layout *layout, const struct table_unit *unit,
		 const struct result *result, enum cells_table which, int width);

/* Opens a grid with that layout, without rows. */
void layout_open(const struct table_layout *layout, struct grid *grid,
		 const struct table_unit *unit, const struct result *result,
		 enum cells_table which);

/* Returns what a kind of latency measures. */
const char *layout_explain_kind(enum result_kind kind);

#endif
