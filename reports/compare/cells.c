/* SPDX-License-Identifier: MIT */
#include "reports/compare/cells.h"

#include <string.h>

#include "reports/verdict/sentences.h"

enum cells_table compare_cells_table(const struct compare_cell *cell)
{
	if (!strcmp(cell->line->metric, "bw"))
		return CELLS_BANDWIDTH;
	return !strcmp(cell->line->metric, "load") ? CELLS_LOAD : CELLS_LATENCY;
}

void compare_cells_open(struct grid *grid, enum cells_table which)
{
	static const char *const titles[] = {
		[CELLS_LATENCY] = "LATENCY",
		[CELLS_BANDWIDTH] = "BANDWIDTH",
		[CELLS_LOAD] = "LOAD",
	};
	const struct grid_column names[] = {
		{titles[which], GRID_WORDS,   0},
		{"size",        GRID_FIGURES, 0},
		{"mode",        GRID_WORDS,   0},
		{"kind",        GRID_WORDS,   0},
	};
	static const struct grid_column figures[] = {
		{"figure",  GRID_WORDS,   0},
                {"BASE",    GRID_FIGURES, 0},
                {"NEW",     GRID_FIGURES, 0},
		{"ratio",   GRID_FIGURES, 0},
                {"95 %",    GRID_FIGURES, 0},
                {"runs",    GRID_FIGURES, 0},
		{"verdict", GRID_WORDS,   0},
	};

	grid_open(grid);
	grid_add_columns(grid, names, which == CELLS_LATENCY ? 4 : 3);
	grid_add_columns(grid, figures, ARRAY_LENGTH(figures));
}

static void put_value(struct grid *grid, const struct compared_figure *figure, double unit,
		      double value)
{
	if (!strcmp(figure->measure, "ns"))
		cells_put_us(grid, value / unit);
	else
		cells_put_amount(grid, value / unit);
}

/* Three decimals resolve 0.1 %; ratios of 100 and more need fewer. */
static void put_ratio(struct grid *grid, const struct ratio *ratio)
{
	grid_put(grid, ratio->ratio < 100 ? "%.3f" : "%.4g", ratio->ratio);
	if (ratio_is_known(ratio))
		grid_put(grid, ratio->high < 100 ? "%.3f..%.3f" : "%.4g..%.4g", ratio->low,
			 ratio->high);
	else
		grid_put(grid, "-");
}

void compare_cells_add(struct grid *grid, const struct table_unit *unit,
		       const struct compare_cell *cell)
{
	const struct compared_figure *figure = cell->figure;
	bool is_rate = figure == &compared_figure_bytes;
	double size = is_rate ? table_unit_bytes(unit) : figure->unit;
	char text[64];

	cells_names(grid, cell->line, cells_extras(cell->line));
	if (compare_cells_table(cell) == CELLS_LATENCY)
		grid_put(grid, "%s", result_kind_name(cell->line->kind));
	grid_put(grid, "%s", is_rate ? table_unit_name(unit) : figure->title);
	put_value(grid, figure, size, cell->ratio.base);
	put_value(grid, figure, size, cell->ratio.now);
	put_ratio(grid, &cell->ratio);
	grid_put(grid, "%zu/%zu", cell->n_runs[COMPARE_BASE], cell->n_runs[COMPARE_NEW]);
	verdict_cell(text, sizeof(text), &cell->judged);
	grid_put(grid, "%s", text);
}

void compare_cells_grid(struct grid *grid, const struct table_unit *unit,
			const struct comparison *comparison, enum cells_table which)
{
	compare_cells_open(grid, which);
	for (size_t i = 0; i < comparison->n_cells; i++)
		if (compare_cells_table(&comparison->cells[i]) == which)
			compare_cells_add(grid, unit, &comparison->cells[i]);
}
