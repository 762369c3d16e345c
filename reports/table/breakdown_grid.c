/* SPDX-License-Identifier: MIT */
#include "reports/table/breakdown_grid.h"

#include <string.h>

#include "core/base/clock.h"
#include "reports/table/cells.h"

/* Means of at least this many times the median are worth a note. */
#define OUTLIERS_LEAST 2

static bool has_breakdown(const struct result_case *line)
{
	return line->breakdown && line->n_trials;
}

/* Returns the mean of an operation, or of a round trip. */
static double whole_ns(const struct result_case *line)
{
	double sum = 0;

	for (size_t i = 0; i < BREAKDOWN_PARTS; i++)
		sum += hist_mean(&line->breakdown->parts[i]);
	return sum;
}

/* Every row has a breakdown, so their names omit it. */
static void add_names(struct grid *grid, const struct result_case *line)
{
	static const char word[] = "/breakdown";
	const char *extras = cells_extras(line);
	const char *found = strstr(extras, word);
	char others[CASE_ID];
	int before = found ? (int)(found - extras) : (int)strlen(extras);

	snprintf(others, sizeof(others), "%.*s%s", before, extras,
		 found ? found + strlen(word) : "");
	cells_names(grid, line, others);
}

static void add_row(struct grid *grid, const struct result_case *line)
{
	const struct hist *parts = line->breakdown->parts;
	bool can_sleep = strcmp(line->cq, "poll") != 0;

	add_names(grid, line);
	grid_put(grid, "%s", line->kind == RESULT_HALF ? "round trip" : "operation");
	for (size_t i = 0; i < BREAKDOWN_PARTS; i++)
		if (i != BREAKDOWN_WAKEUP || can_sleep)
			cells_put_us(grid, hist_mean(&parts[i]) / NS_PER_US);
		else
			grid_put(grid, "%s", "-");
	cells_put_us(grid, whole_ns(line) / NS_PER_US);
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

static double worst_error_ns(const struct result *result)
{
	double error_ns = 0;

	for (size_t i = 0; i < result->n_cases; i++)
		if (has_breakdown(&result->cases[i]) &&
		    result->cases[i].breakdown->clock_error_ns > error_ns)
			error_ns = result->cases[i].breakdown->clock_error_ns;
	return error_ns;
}

static bool has_outliers(const struct result_case *line)
{
	double median_ns;

	if (!has_breakdown(line) || !line->latency)
		return false;
	median_ns = hist_quantile(line->latency, 500000) * (line->kind == RESULT_HALF ? 2 : 1);
	return whole_ns(line) > OUTLIERS_LEAST * median_ns;
}

void breakdown_grid_notes(const struct result *result, const char *title, said *say, void *owner)
{
	bool is_skewed = false;
	char note[128];

	for (size_t i = 0; i < result->n_cases; i++)
		is_skewed |= has_outliers(&result->cases[i]);
	snprintf(note, sizeof(note),
		 "%sus: means, which add up to whole; timestamps are within %.0f ns", title,
		 worst_error_ns(result));
	say(owner, note);
	say(owner, "device: from the end of the post to the completion's timestamp; for a round "
		   "trip, includes the network in both directions and the peer");
	if (is_skewed)
		say(owner, "means are dominated by outliers; the result has medians and "
			   "histograms");
}
