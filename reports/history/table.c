/* SPDX-License-Identifier: MIT */
#include "reports/history/table.h"

#include "reports/history/sentences.h"
#include "reports/table/cells.h"

#define INDENT 2 /* of the lines after the first of a paragraph */

static const char *or_dash(const char *text)
{
	return *text ? text : "-";
}

static void print_runs(const struct terminal *terminal, const struct history_view *view,
		       size_t newest)
{
	static const char *const titles[] = {"RUN",    "setup",  "version",
					     "commit", "status", "started"};
	size_t first = newest && newest < view->n_runs ? view->n_runs - newest : 0;
	struct grid grid;

	grid_open(&grid);
	grid_words(&grid, titles, ARRAY_LENGTH(titles));
	for (size_t i = first; i < view->n_runs; i++) {
		const struct history_run *run = &view->runs[i];

		grid_put(&grid, "%s", run->name);
		grid_put(&grid, "%zu", run->setup + 1);
		grid_put(&grid, "%s", or_dash(run->version));
		grid_put(&grid, "%s", or_dash(run->revision));
		grid_put(&grid, "%s", run->status);
		grid_put(&grid, "%s", run->started);
	}
	grid_text(terminal, &grid);
	grid_close(&grid);
	if (first)
		fprintf(terminal->out, "%zu older runs; --last 0 lists all\n", first);
}

static void print_head(const struct terminal *terminal, const struct history_view *view)
{
	if (history_view_banner(view))
		terminal_wrap(terminal, terminal_yellow, history_view_banner(view), INDENT, "");
}

static void print_setup(const struct terminal *terminal, const struct history_view *view,
			size_t setup)
{
	char text[HISTORY_TEXT];

	history_describe_setup(text, view, setup);
	fprintf(terminal->out, "%s", text);
}

void history_table_list(const struct terminal *terminal, const struct history_view *view,
			size_t newest)
{
	print_head(terminal, view);
	for (size_t i = 0; i < view->n_setups; i++) {
		size_t count = 0;

		for (size_t j = 0; j < view->n_series; j++)
			count += view->series[j].setup == i;
		print_setup(terminal, view, i);
		fprintf(terminal->out, ", %zu series\n", count);
	}
	print_runs(terminal, view, newest);
}

static void put_value(struct grid *grid, const struct history_series *series,
		      const struct history_point *point)
{
	if (!point) {
		grid_put(grid, "-");
		return;
	}
	grid_begin(grid, "%s", history_change_at(series, point->run) ? "* " : "");
	cells_put_amount(grid, point->value / series->figure->unit);
}

static void print_values(const struct terminal *terminal, const struct history_view *view,
			 const struct history_series *series, size_t count)
{
	static const char *const titles[] = {"started", "version", "commit"};
	struct history_walk walk = {.series = series, .count = count};
	struct grid grid;

	grid_open(&grid);
	grid_words(&grid, titles, ARRAY_LENGTH(titles));
	for (size_t i = 0; i < count; i++)
		grid_add_columns(&grid, &(struct grid_column){.title = series[i].figure->title}, 1);
	while (history_walk(&walk)) {
		const struct history_run *run = &view->runs[walk.run];

		grid_put(&grid, "%s", run->started);
		grid_put(&grid, "%s", or_dash(run->version));
		grid_put(&grid, "%s", or_dash(run->revision));
		for (size_t i = 0; i < count; i++)
			put_value(&grid, &series[i], walk.points[i]);
	}
	grid_text(terminal, &grid);
	grid_close(&grid);
}

static void print_changes(const struct terminal *terminal, const struct history_view *view,
			  const struct history_series *series)
{
	char text[HISTORY_TEXT];

	for (size_t i = 0; i < series->n_changes; i++) {
		history_describe_change(text, view, series, &series->changes[i]);
		terminal_wrap(terminal, NULL, "* ", INDENT, text);
	}
}

static void print_group(const struct terminal *terminal, const struct history_view *view,
			const struct history_series *series, size_t count)
{
	char text[HISTORY_TEXT];
	size_t left_out = 0;

	history_describe_case(text, series);
	terminal_wrap(terminal, NULL, "\n", INDENT, text);
	print_values(terminal, view, series, count);
	for (size_t i = 0; i < count; i++)
		left_out = series[i].n_left_out > left_out ? series[i].n_left_out : left_out;
	if (left_out)
		fprintf(terminal->out, "%zu older runs; --last 0 shows all\n", left_out);
	for (size_t i = 0; i < count; i++)
		print_changes(terminal, view, &series[i]);
}

void history_table_show(const struct terminal *terminal, const struct history_view *view)
{
	size_t setup = view->n_setups;
	char text[HISTORY_TEXT];
	size_t count;

	print_head(terminal, view);
	for (size_t i = 0; i < view->n_series; i += count) {
		count = history_view_group(view, i);
		if (view->series[i].setup != setup) {
			fputs(i ? "\n" : "", terminal->out);
			print_setup(terminal, view, view->series[i].setup);
			fputc('\n', terminal->out);
		}
		setup = view->series[i].setup;
		print_group(terminal, view, &view->series[i], count);
	}
	history_describe_rule(text, view);
	terminal_wrap(terminal, NULL, "\n", INDENT, text);
	history_describe_total(text, view);
	terminal_wrap(terminal, NULL, "", INDENT, text);
}

static void print_recent(const struct terminal *terminal, const struct history_view *view,
			 const struct history_series *series, bool with_better)
{
	for (size_t i = 0; i < series->n_changes; i++) {
		const struct history_change *change = &series->changes[i];
		char name[HISTORY_TEXT];
		char text[HISTORY_TEXT];

		if (!history_change_is_recent(view, change) ||
		    (!with_better && history_change_verdict(series, change) != VERDICT_WORSE))
			continue;
		history_describe_case(name, series);
		history_describe_change(text, view, series, change);
		fprintf(terminal->out, "setup %zu: %s: %s\n", series->setup + 1, name, text);
	}
}

void history_table_check(const struct terminal *terminal, const struct history_view *view,
			 bool with_better)
{
	char text[HISTORY_TEXT];

	print_head(terminal, view);
	for (size_t i = 0; i < view->n_setups; i++) {
		if (!view->setups[i].is_current)
			continue;
		print_setup(terminal, view, i);
		fputc('\n', terminal->out);
	}
	for (size_t i = 0; i < view->n_series; i++)
		print_recent(terminal, view, &view->series[i], with_better);
	history_describe_total(text, view);
	terminal_wrap(terminal, NULL, "", INDENT, text);
}
