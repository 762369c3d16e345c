/* SPDX-License-Identifier: MIT */
#include "reports/compare/csv.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "reports/compare/sentences.h"
#include "reports/table/grid.h"

static void put_case(struct grid *grid, const struct result_case *line)
{
	grid_put(grid, "%s", line->id);
	grid_put(grid, "%s", line->op);
	grid_put(grid, "%s", line->metric);
	grid_put(grid, "%" PRIu64, line->size);
	grid_put(grid, "%s", line->cq);
	grid_put(grid, "%s", line->server_cq);
	grid_put(grid, "%s", line->transport);
}

/* Puts kind, figure and unit; empty cells for a whole case (NULL). */
static void put_figure(struct grid *grid, const struct result_case *line,
		       const struct compared_figure *figure)
{
	bool has_kind = figure && strcmp(line->metric, "bw") != 0;

	grid_put(grid, "%s", has_kind ? result_kind_name(line->kind) : "");
	grid_put(grid, "%s", figure ? figure->key : "");
	grid_put(grid, "%s", figure ? figure->measure : "");
}

/* Puts the reason for missing values, if any, and the notices that apply to all rows. */
static void put_end(struct grid *grid, const struct comparison *comparison, const char *why)
{
	const char *banner = compare_banner(comparison);
	char text[COMPARE_TEXT];

	compare_forced(comparison, text);
	grid_put(grid, "%s", why);
	grid_put(grid, "%s", banner ? banner : "");
	grid_put(grid, "%s", text);
}

static void put_cell(struct grid *grid, const struct comparison *comparison,
		     const struct compare_cell *cell)
{
	const struct ratio *ratio = &cell->ratio;
	const double values[] = {ratio->base, ratio->now,   ratio->ratio,   ratio->low,
				 ratio->high, cell->chance, cell->corrected};
	bool is_unclear = cell->judged.verdict == VERDICT_UNCLEAR;

	put_case(grid, cell->line);
	put_figure(grid, cell->line, cell->figure);
	for (size_t i = 0; i < ARRAY_LENGTH(values); i++)
		grid_put_exact(grid, values[i]);
	grid_put(grid, "%zu", cell->n_runs[COMPARE_BASE]);
	grid_put(grid, "%zu", cell->n_runs[COMPARE_NEW]);
	grid_put(grid, "%s", verdict_name(cell->judged.verdict));
	grid_put_exact(grid, is_unclear ? verdict_detectable(&cell->judged) : (double)NAN);
	put_end(grid, comparison, "");
}

static void put_gap(struct grid *grid, const struct comparison *comparison,
		    const struct result_case *line, const struct compared_figure *figure,
		    const char *why)
{
	put_case(grid, line);
	put_figure(grid, line, figure);
	for (int i = 0; i < 11; i++)
		grid_put(grid, "%s", "");
	put_end(grid, comparison, why);
}

void compare_csv(FILE *out, const struct comparison *comparison)
{
	static const char *const titles[] = {
		"case",      "op",      "metric",     "bytes",  "cq",          "server_cq",
		"transport", "kind",    "figure",     "unit",   "base",        "new",
		"ratio",     "low",     "high",       "p",      "p_corrected", "base_runs",
		"new_runs",  "verdict", "detectable", "reason", "banner",      "forced"};
	struct grid grid;

	grid_open(&grid);
	grid_words(&grid, titles, ARRAY_LENGTH(titles));
	for (size_t i = 0; i < comparison->n_cells; i++)
		put_cell(&grid, comparison, &comparison->cells[i]);
	for (size_t i = 0; i < comparison->n_gaps; i++)
		put_gap(&grid, comparison, comparison->gaps[i].line, NULL, comparison->gaps[i].why);
	for (size_t i = 0; i < comparison->n_unknown; i++) {
		const struct compare_unknown *unknown = &comparison->unknown[i];

		put_gap(&grid, comparison, unknown->line, compare_figure(unknown->number),
			unknown->why);
	}
	grid_csv(out, &grid);
	grid_close(&grid);
}
