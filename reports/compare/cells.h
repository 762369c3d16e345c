/* SPDX-License-Identifier: MIT */
/* What of a comparison tables show, as texts. */
#ifndef REPORTS_COMPARE_CELLS_H
#define REPORTS_COMPARE_CELLS_H

#include "reports/compare/compare.h"
#include "reports/table/cells.h"

/* In which table the cell is, in their order. */
enum cells_table compare_cells_table(const struct compare_cell *cell);

void compare_cells_title(struct cells *cells, enum cells_table table);
void compare_cells_fill(struct cells *cells, const struct table_unit *unit,
			const struct compare_cell *cell);

#endif
