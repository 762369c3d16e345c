/* SPDX-License-Identifier: MIT */
/* The figures of a comparison in tables. */
#ifndef REPORTS_COMPARE_CELLS_H
#define REPORTS_COMPARE_CELLS_H

#include "reports/compare/compare.h"
#include "reports/table/cells.h"

/* Returns the table that the cell belongs to. */
enum cells_table compare_cells_table(const struct compare_cell *cell);

/* Opens a table of this kind without rows. */
void compare_cells_open(struct grid *grid, enum cells_table which);
void compare_cells_add(struct grid *grid, const struct table_unit *unit,
		       const struct compare_cell *cell);

/* Fills a table with all its cells. */
void compare_cells_grid(struct grid *grid, const struct table_unit *unit,
			const struct comparison *comparison, enum cells_table which);

#endif
