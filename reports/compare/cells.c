/* SPDX-License-Identifier: MIT */
#include "reports/compare/cells.h"

#include <stdio.h>
#include <string.h>

#include "reports/verdict/sentences.h"

enum cells_table compare_cells_table(const struct compare_cell *cell)
{
	if (!strcmp(cell->line->metric, "bw"))
		return CELLS_BANDWIDTH;
	return !strcmp(cell->line->metric, "load") ? CELLS_LOAD : CELLS_LATENCY;
}

void compare_cells_title(struct cells *cells, enum cells_table table)
{
	static const char *const titles[] = {
		[CELLS_LATENCY] = "LATENCY",
		[CELLS_BANDWIDTH] = "BANDWIDTH",
		[CELLS_LOAD] = "LOAD",
	};

	cells->count = 0;
	cells_put_name(cells, titles[table]);
	cells_put_title(cells, "bytes");
	cells_put_name(cells, "cq");
	if (table == CELLS_LATENCY)
		cells_put_name(cells, "kind");
	cells_put_name(cells, "figure");
	cells_put_title(cells, "BASE");
	cells_put_title(cells, "NEW");
	cells_put_title(cells, "ratio");
	cells_put_title(cells, "95 %");
	cells_put_title(cells, "runs");
	cells_put_name(cells, "verdict");
}

static void put_value(struct cells *cells, const struct compared_figure *figure, double unit,
		      double value)
{
	if (!strcmp(figure->measure, "ns"))
		cells_put_us(cells, value / unit);
	else
		cells_put_amount(cells, value / unit);
}

/* Three digits behind the point tell half a thousandth; nobody needs more of what is far off. */
static void put_ratio(struct cells *cells, const struct ratio *ratio)
{
	char text[64];

	snprintf(text, sizeof(text), ratio->ratio < 100 ? "%.3f" : "%.4g", ratio->ratio);
	cells_put_title(cells, text);
	if (ratio_is_known(ratio))
		snprintf(text, sizeof(text), ratio->high < 100 ? "%.3f..%.3f" : "%.4g..%.4g",
			 ratio->low, ratio->high);
	else
		snprintf(text, sizeof(text), "-");
	cells_put_title(cells, text);
}

void compare_cells_fill(struct cells *cells, const struct table_unit *unit,
			const struct compare_cell *cell)
{
	const struct compared_figure *figure = cell->figure;
	double size = figure->unit;
	const char *title =
		figure == &compared_figure_bytes ? cells_unit(unit, &size) : figure->title;
	char text[64];

	cells_names(cells, cell->line);
	if (compare_cells_table(cell) == CELLS_LATENCY)
		cells_put_name(cells, result_kind_name(cell->line->kind));
	cells_put_name(cells, title);
	put_value(cells, figure, size, cell->ratio.base);
	put_value(cells, figure, size, cell->ratio.now);
	put_ratio(cells, &cell->ratio);
	snprintf(text, sizeof(text), "%zu/%zu", cell->n_runs[COMPARE_BASE],
		 cell->n_runs[COMPARE_NEW]);
	cells_put_title(cells, text);
	verdict_cell(text, sizeof(text), &cell->judged);
	cells_put_name(cells, text);
}
