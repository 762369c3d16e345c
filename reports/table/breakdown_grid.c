/* SPDX-License-Identifier: MIT */
#include "reports/table/breakdown_grid.h"

#include <string.h>

#include "core/base/clock.h"
#include "reports/table/cells.h"

static bool has_breakdown(const struct result_case *line)
{
	return line->breakdown && line->n_trials;
}

static void add_row(struct grid *grid, const struct result_case *line)
{
	const struct hist *parts = line->breakdown->parts;
	double whole_ns = 0;

	const char *extras = cells_extras(line);

	cells_names(grid, line, strcmp(extras, "/breakdown") ? extras : "");
	grid_put(grid, "%s", line->kind == RESULT_HALF ? "round trip" : "operation");
	for (size_t i = 0; i < BREAKDOWN_PARTS; i++) {
		double mean_ns = hist_mean(&parts[i]);

		whole_ns += mean_ns;
		cells_put_us(grid, mean_ns / NS_PER_US);
	}
	cells_put_us(grid, whole_ns / NS_PER_US);
}

bool breakdown_grid(struct grid *grid, const struct result *result)
{
	static const struct grid_column columns[] = {
		{"size",    GRID_FIGURES, 5 },
                {"mode",    GRID_WORDS,   5 },
		{"of",      GRID_WORDS,   10},
                {"post",    GRID_FIGURES, 7 },
		{"device",  GRID_FIGURES, 7 },
                {"wake-up", GRID_FIGURES, 7 },
		{"poll",    GRID_FIGURES, 7 },
                {"whole",   GRID_FIGURES, 7 },
	};
	bool has_rows = false;

	grid_open(grid);
	grid_words(grid, (const char *const[]){"operation"}, 1);
	grid_add_columns(grid, columns, ARRAY_LENGTH(columns));
	for (size_t i = 0; i < result->n_cases; i++) {
		if (!has_breakdown(&result->cases[i]))
			continue;
		add_row(grid, &result->cases[i]);
		has_rows = true;
	}
	return has_rows;
}

void breakdown_grid_note(char note[static BREAKDOWN_GRID_NOTE], const struct result *result)
{
	double error_ns = 0;

	for (size_t i = 0; i < result->n_cases; i++)
		if (has_breakdown(&result->cases[i]) &&
		    result->cases[i].breakdown->clock_error_ns > error_ns)
			error_ns = result->cases[i].breakdown->clock_error_ns;
	snprintf(
		note, BREAKDOWN_GRID_NOTE,
		"BREAKDOWN in us, as means, which add up; device is from the end of the post to the "
		"timestamp of the completion, in a round trip with the network in both directions "
		"and the peer's reply; the error of converted timestamps is at most %.0f ns",
		error_ns);
}
