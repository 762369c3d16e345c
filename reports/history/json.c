/* SPDX-License-Identifier: MIT */
#include "reports/history/json.h"

#include <math.h>

#include "reports/table/grid.h"

static void put_point(struct grid *grid, const struct history_view *view,
		      const struct history_series *series, const struct history_point *point)
{
	const struct history_run *run = &view->runs[point->run];
	const struct history_change *change = history_change_at(series, point->run);

	grid_put(grid, "%zu", series->setup + 1);
	grid_put(grid, "%s", series->case_id);
	grid_put(grid, "%s", series->kind);
	grid_put(grid, "%s", series->figure->key);
	grid_put(grid, "%s", series->figure->measure);
	grid_put(grid, "%s", run->name);
	grid_put(grid, "%s", run->started);
	grid_put(grid, "%s", run->version);
	grid_put(grid, "%s", run->revision);
	grid_put_exact(grid, point->value);
	grid_put_exact(grid, change ? change->value_before : (double)NAN);
	grid_put_exact(grid, change ? change->value_after : (double)NAN);
	grid_put(grid, "%s", view->setups[series->setup].banner);
	grid_put(grid, "%s", series->variant);
}

void history_csv(FILE *out, const struct history_view *view)
{
	static const char *const titles[] = {
		"setup",   "case",   "kind",  "figure",        "unit",         "run",    "started",
		"version", "commit", "value", "change_before", "change_after", "banner", "variant"};
	struct grid grid;

	grid_open(&grid);
	grid_words(&grid, titles, ARRAY_LENGTH(titles));
	for (size_t i = 0; i < view->n_series; i++)
		for (size_t j = 0; j < view->series[i].n_points; j++)
			put_point(&grid, view, &view->series[i], &view->series[i].points[j]);
	grid_csv(out, &grid);
	grid_close(&grid);
}

static json_t *count_of(size_t count)
{
	return json_integer((json_int_t)count);
}

/* Returns NULL for an empty text, so that json_pack omits the member. */
static json_t *text_of(const char *text)
{
	return *text ? json_string(text) : NULL;
}

static json_t *make_change(const struct history_view *view, const struct history_series *series,
			   const struct history_change *change)
{
	return json_pack("{s:s, s:s, s:f, s:f, s:f, s:b, s:b}", "run", view->runs[change->run].name,
			 "run_before", view->runs[change->before].name, "before",
			 change->value_before, "after", change->value_after, "ratio",
			 change->value_after / change->value_before, "worse",
			 history_change_verdict(series, change) == VERDICT_WORSE, "recent",
			 history_change_is_recent(view, change));
}

static json_t *make_series(const struct history_view *view, const struct history_series *series)
{
	json_t *points = json_array();
	json_t *changes = json_array();

	for (size_t i = 0; i < series->n_points; i++)
		json_array_append_new(points, json_pack("{s:s, s:f}", "run",
							view->runs[series->points[i].run].name,
							"value", series->points[i].value));
	for (size_t i = 0; i < series->n_changes; i++)
		json_array_append_new(changes, make_change(view, series, &series->changes[i]));
	return json_pack("{s:o, s:s, s:o*, s:o*, s:s, s:s, s:o, s:o, s:o}", "setup",
			 count_of(series->setup + 1), "case", series->case_id, "kind",
			 text_of(series->kind), "variant", text_of(series->variant), "figure",
			 series->figure->key, "unit", series->figure->measure, "left_out",
			 count_of(series->n_left_out), "points", points, "change_points", changes);
}

static json_t *make_run(const struct history_run *run)
{
	return json_pack("{s:s, s:o, s:s, s:s, s:o*, s:o*}", "run", run->name, "setup",
			 count_of(run->setup + 1), "started", run->started, "status", run->status,
			 "version", text_of(run->version), "commit", text_of(run->revision));
}

static json_t *make_setup(const struct history_view *view, size_t number)
{
	const struct history_setup *setup = &view->setups[number];

	return json_pack("{s:o, s:s, s:o*, s:o}", "setup", count_of(number + 1), "title",
			 setup->title, "banner", text_of(setup->banner), "runs",
			 count_of(setup->n_runs));
}

static json_t *make_rule(const struct history_view *view)
{
	const struct change_points_rule *rule = view->choice.rule;

	return json_pack("{s:o, s:f, s:f, s:o, s:o}", "window", count_of(rule->window),
			 "significance", rule->level, "magnitude", rule->magnitude, "least",
			 count_of(CHANGE_POINTS_LEAST), "last", count_of(view->choice.recent));
}

json_t *history_make(const struct history_view *view, const char *tool)
{
	json_t *setups = json_array();
	json_t *runs = json_array();
	json_t *series = json_array();

	for (size_t i = 0; i < view->n_setups; i++)
		json_array_append_new(setups, make_setup(view, i));
	for (size_t i = 0; i < view->n_runs; i++)
		json_array_append_new(runs, make_run(&view->runs[i]));
	for (size_t i = 0; i < view->n_series; i++)
		json_array_append_new(series, make_series(view, &view->series[i]));
	return json_pack("{s:s, s:{s:s, s:s}, s:o, s:o, s:o, s:o}", "schema", HISTORY_SCHEMA,
			 "tool", "name", "verbmark", "version", tool, "rule", make_rule(view),
			 "setups", setups, "runs", runs, "series", series);
}
