/* SPDX-License-Identifier: MIT */
#include "reports/history/page.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/history/sentences.h"
#include "reports/page/chart.h"
#include "reports/page/page.h"
#include "reports/page/table.h"

/* Values per chart, which keep a page of all figures below 2 MB. */
#define POINTS_MOST 1000
/* Series to name of those that are not drawn. */
#define NAMED_MOST 200

/* The page has a chart for each of these figures that a series has. */
static const struct {
	const struct compared_figure *figure;
	const char *title;
	const char *axis;
	const char *unit;
} drawn[] = {
	{&compared_figure_median,   "Median latency, run by run",                 "p50",  "us"    },
	{&compared_figure_tail,     "99th percentile of the latency, run by run", "p99",  "us"    },
	{&compared_figure_mean,     "Mean latency, run by run",                   "mean", "us"    },
	{&compared_figure_bytes,    "Bandwidth, run by run",                      "rate", "Gb/s"  },
	{&compared_figure_messages, "Message rate, run by run",                   "rate", "Mmsg/s"},
};

/* Strings that live until the chart is printed: notes on points, or names of undrawn series. */
struct notes {
	char **list;
	size_t count;
};

static char *keep(struct notes *notes, const char *text)
{
	char **grown = reallocarray(notes->list, notes->count + 1, sizeof(*grown));
	char *note = grown ? strdup(text) : NULL;

	if (grown)
		notes->list = grown;
	if (note)
		grown[notes->count++] = note;
	return note;
}

static void finish(struct notes *notes)
{
	for (size_t i = 0; i < notes->count; i++)
		free(notes->list[i]);
	free(notes->list);
	*notes = (struct notes){0};
}

/* Numbers the runs of a setup, from 1. */
static size_t number_of(const struct history_view *view, size_t run)
{
	const struct history_run *it = &view->runs[run];

	return view->setups[it->setup].n_runs - it->newer;
}

_Static_assert(HISTORY_TEXT <= SVG_PANEL_TITLE, "the title of every series must fit");

static int add_point(struct chart *chart, struct notes *notes, const struct history_view *view,
		     const struct history_series *series, const struct history_point *from)
{
	const struct history_change *change = history_change_at(series, from->run);
	struct svg_panel_point point = {.x = (double)number_of(view, from->run),
					.y = from->value,
					.low = (double)NAN,
					.high = (double)NAN,
					.id = series->case_id};
	char panel[HISTORY_TEXT];
	char text[HISTORY_TEXT];

	history_describe_case(panel, series);
	history_describe_run(text, &view->runs[from->run]);
	point.note = keep(notes, text);
	if (!point.note)
		return -ENOMEM;
	chart_add(chart, panel, "runs", &point);
	if (!change)
		return 0;
	history_describe_change(text, view, series, change);
	point.note = keep(notes, text);
	if (!point.note)
		return -ENOMEM;
	chart_add(chart, panel, "change point", &point);
	return 0;
}

/* Counts the marks of a series: one per run and one per change point. */
static size_t count_points(const struct history_series *series)
{
	size_t count = series->n_points;

	for (size_t i = 0; i < series->n_points; i++)
		count += history_change_at(series, series->points[i].run) != NULL;
	return count;
}

/* Adds a whole series or nothing: a truncated one would lack its newest runs. */
static int add_series(struct chart *chart, struct notes *notes, struct notes *undrawn,
		      const struct history_view *view, const struct history_series *series)
{
	char name[HISTORY_TEXT];
	int code = 0;

	history_describe_case(name, series);
	if (!chart_has_room(chart, name, count_points(series)))
		return keep(undrawn, name) ? 0 : -ENOMEM;
	for (size_t i = 0; i < series->n_points && !code; i++)
		code = add_point(chart, notes, view, series, &series->points[i]);
	return code;
}

static void print_undrawn(FILE *out, const char *title, const struct notes *undrawn)
{
	if (!undrawn->count)
		return;
	fprintf(out,
		"<p>%s: %zu series are not shown because a chart has at most %d values and %d "
		"cases. To see them, use <code>--last</code> with fewer runs, or name "
		"them:</p>\n<ul>\n",
		title, undrawn->count, POINTS_MOST, CHART_PANELS);
	for (size_t i = 0; i < undrawn->count && i < NAMED_MOST; i++)
		html_element(out, "li", undrawn->list[i]);
	if (undrawn->count > NAMED_MOST)
		fprintf(out, "<li>and %zu more</li>\n", undrawn->count - NAMED_MOST);
	fputs("</ul>\n", out);
}

static int print_figure(FILE *out, const struct history_view *view, size_t setup, size_t which)
{
	struct chart chart = {.title = drawn[which].title,
			      .says = "Medians over the trials of each run, in the order of runs.",
			      .least = 1,
			      .most = POINTS_MOST};
	struct notes undrawn = {0};
	struct notes notes = {0};
	int code = 0;

	axis_open(&chart.x, AXIS_RANGE);
	chart.x.title = "run";
	chart.x.is_counted = true;
	axis_open(&chart.y, AXIS_RANGE);
	chart.y.title = drawn[which].axis;
	chart.y.unit_name = drawn[which].unit;
	chart.y.unit = drawn[which].figure->unit;
	for (size_t i = 0; i < view->n_series && !code; i++) {
		const struct history_series *series = &view->series[i];

		if (series->setup == setup && series->figure == drawn[which].figure)
			code = add_series(&chart, &notes, &undrawn, view, series);
	}
	if (code)
		chart_finish(&chart);
	else
		chart_print(out, &chart);
	if (!code)
		print_undrawn(out, drawn[which].title, &undrawn);
	finish(&undrawn);
	finish(&notes);
	return code;
}

static void put_changes(struct grid *grid, const struct history_view *view,
			const struct history_series *series)
{
	for (size_t i = 0; i < series->n_changes; i++) {
		const struct history_change *change = &series->changes[i];
		char text[HISTORY_TEXT];

		history_describe_case(text, series);
		grid_put(grid, "%s", text);
		grid_put(grid, "%zu", number_of(view, change->run));
		history_describe_change(text, view, series, change);
		grid_put(grid, "%s", text);
	}
}

static void print_changes(FILE *out, const struct history_view *view, size_t setup)
{
	static const char *const titles[] = {"case", "run", "change point"};
	struct grid grid;

	html_element(out, "h3", "Change points");
	grid_open(&grid);
	grid_words(&grid, titles, ARRAY_LENGTH(titles));
	for (size_t i = 0; i < view->n_series; i++)
		if (view->series[i].setup == setup)
			put_changes(&grid, view, &view->series[i]);
	if (grid.n_cells)
		page_table(out, &grid);
	else
		html_element(out, "p", "None.");
	grid_close(&grid);
}

static void print_runs(FILE *out, const struct history_view *view, size_t setup)
{
	static const char *const titles[] = {"run", "started", "version", "commit", "status"};
	size_t most = view->choice.newest;
	size_t left_out = 0;
	struct grid grid;

	html_element(out, "h3", "Runs");
	grid_open(&grid);
	grid_words(&grid, titles, ARRAY_LENGTH(titles));
	for (size_t i = 0; i < view->n_runs; i++) {
		const struct history_run *run = &view->runs[i];

		if (run->setup != setup)
			continue;
		if (most && run->newer >= most) {
			left_out++;
			continue;
		}
		grid_put(&grid, "%zu", number_of(view, i));
		grid_put(&grid, "%s", run->started);
		grid_put(&grid, "%s", run->version);
		grid_put(&grid, "%s", run->revision);
		grid_put(&grid, "%s", run->status);
	}
	page_table(out, &grid);
	grid_close(&grid);
	if (left_out)
		fprintf(out, "<p>%zu older runs; <code>--last 0</code> shows all</p>\n", left_out);
}

static bool has_series(const struct history_view *view, size_t setup)
{
	for (size_t i = 0; i < view->n_series; i++)
		if (view->series[i].setup == setup)
			return true;
	return false;
}

static int print_setup(FILE *out, const struct history_view *view, size_t setup)
{
	char text[HISTORY_TEXT];
	int code = 0;

	fputs("<section>\n", out);
	if (view->setups[setup].banner[0])
		html_element(out, "h2", view->setups[setup].banner);
	history_describe_setup(text, view, setup);
	html_element(out, "h2", text);
	print_changes(out, view, setup);
	html_element(out, "h3", "Figures");
	for (size_t i = 0; i < ARRAY_LENGTH(drawn) && !code; i++)
		code = print_figure(out, view, setup, i);
	print_runs(out, view, setup);
	fputs("</section>\n", out);
	return code;
}

int history_page(FILE *out, const struct history_view *view)
{
	char text[HISTORY_TEXT];
	struct page page;
	int code = page_open(&page);

	if (code)
		return code;
	history_describe_total(text, view);
	html_element(page.body, "p", text);
	history_describe_rule(text, view);
	html_element(page.body, "p", text);
	for (size_t i = 0; i < view->n_setups && !code; i++)
		if (has_series(view, i))
			code = print_setup(page.body, view, i);
	if (!code)
		return page_print(&page, out, "history");
	page_close(&page);
	return code;
}
