/* SPDX-License-Identifier: MIT */
#include "reports/history/table.h"

#include <string.h>

#include "reports/history/sentences.h"
#include "reports/table/aligned.h"

/* Printed twice: to see how wide the columns are, and then in earnest. */
struct table {
	FILE *out; /* NULL: it is measured */
	int width[CELLS_MAX];
};

static void put(struct table *table, const struct cells *cells)
{
	for (size_t i = 0; i < cells->count; i++) {
		int needed = aligned_columns(cells->cell[i].text);

		if (table->out)
			aligned_print(table->out, cells, i, table->width[i]);
		else if (needed > table->width[i])
			table->width[i] = needed;
	}
	if (table->out)
		fputc('\n', table->out);
}

static void put_words(struct table *table, const char *const *words, size_t count)
{
	struct cells cells = {0};

	for (size_t i = 0; i < count; i++)
		cells_put_name(&cells, *words[i] ? words[i] : "-");
	put(table, &cells);
}

static void put_runs(struct table *table, const struct history_view *view, size_t newest)
{
	static const char *const titles[] = {"RUN",    "setup",  "version",
					     "commit", "status", "started"};
	size_t first = newest && newest < view->n_runs ? view->n_runs - newest : 0;

	put_words(table, titles, ARRAY_LENGTH(titles));
	for (size_t i = first; i < view->n_runs; i++) {
		const struct history_run *run = &view->runs[i];
		char setup[24];
		const char *const words[] = {run->name,     setup,       run->version,
					     run->revision, run->status, run->started};

		snprintf(setup, sizeof(setup), "%zu", run->setup + 1);
		put_words(table, words, ARRAY_LENGTH(words));
	}
	if (table->out && first)
		fprintf(table->out, "%zu older runs; --last 0 lists all\n", first);
}

static void print_head(FILE *out, const struct history_view *view)
{
	if (history_view_banner(view))
		fprintf(out, "%s\n", history_view_banner(view));
}

static void print_setup(FILE *out, const struct history_view *view, size_t setup)
{
	char text[HISTORY_TEXT];

	history_describe_setup(text, view, setup);
	fprintf(out, "%s", text);
}

void history_table_list(FILE *out, const struct history_view *view, size_t newest)
{
	struct table table = {0};

	print_head(out, view);
	for (size_t i = 0; i < view->n_setups; i++) {
		size_t count = 0;

		for (size_t j = 0; j < view->n_series; j++)
			count += view->series[j].setup == i;
		print_setup(out, view, i);
		fprintf(out, ", %zu series\n", count);
	}
	put_runs(&table, view, newest);
	table.out = out;
	put_runs(&table, view, newest);
}

static void put_title(struct table *table, const struct history_series *series, size_t count)
{
	struct cells cells = {0};

	cells_put_name(&cells, "started");
	cells_put_name(&cells, "version");
	cells_put_name(&cells, "commit");
	for (size_t i = 0; i < count; i++)
		cells_put_title(&cells, series[i].figure->title);
	put(table, &cells);
}

static void put_value(struct cells *cells, const struct history_series *series,
		      const struct history_point *point)
{
	char text[sizeof(cells->cell[0].text)];

	if (!point) {
		cells_put_title(cells, "-");
		return;
	}
	cells_put_amount(cells, point->value / series->figure->unit);
	if (!history_change_at(series, point->run))
		return;
	snprintf(text, sizeof(text), "* %.100s", cells->cell[cells->count - 1].text);
	memcpy(cells->cell[cells->count - 1].text, text, sizeof(text));
}

static void put_group(struct table *table, const struct history_view *view,
		      const struct history_series *series, size_t count)
{
	struct history_walk walk = {.series = series, .count = count};

	put_title(table, series, count);
	while (history_walk(&walk)) {
		const struct history_run *run = &view->runs[walk.run];
		struct cells cells = {0};

		cells_put_name(&cells, run->started);
		cells_put_name(&cells, *run->version ? run->version : "-");
		cells_put_name(&cells, *run->revision ? run->revision : "-");
		for (size_t i = 0; i < count; i++)
			put_value(&cells, &series[i], walk.points[i]);
		put(table, &cells);
	}
}

static void print_changes(FILE *out, const struct history_view *view,
			  const struct history_series *series)
{
	char text[HISTORY_TEXT];

	for (size_t i = 0; i < series->n_changes; i++) {
		history_describe_change(text, view, series, &series->changes[i]);
		fprintf(out, "* %s\n", text);
	}
}

static void print_group(FILE *out, const struct history_view *view,
			const struct history_series *series, size_t count)
{
	struct table table = {0};
	char text[HISTORY_TEXT];
	size_t left_out = 0;

	history_describe_case(text, series);
	fprintf(out, "\n%s\n", text);
	put_group(&table, view, series, count);
	table.out = out;
	put_group(&table, view, series, count);
	for (size_t i = 0; i < count; i++)
		left_out = series[i].n_left_out > left_out ? series[i].n_left_out : left_out;
	if (left_out)
		fprintf(out, "%zu older runs; --last 0 shows all\n", left_out);
	for (size_t i = 0; i < count; i++)
		print_changes(out, view, &series[i]);
}

void history_table_show(FILE *out, const struct history_view *view)
{
	size_t setup = view->n_setups;
	char text[HISTORY_TEXT];
	size_t count;

	print_head(out, view);
	for (size_t i = 0; i < view->n_series; i += count) {
		count = history_view_group(view, i);
		if (view->series[i].setup != setup) {
			fputs(i ? "\n" : "", out);
			print_setup(out, view, view->series[i].setup);
			fputc('\n', out);
		}
		setup = view->series[i].setup;
		print_group(out, view, &view->series[i], count);
	}
	history_describe_rule(text, view);
	fprintf(out, "\n%s\n", text);
	history_describe_total(text, view);
	fprintf(out, "%s\n", text);
}

static void print_recent(FILE *out, const struct history_view *view,
			 const struct history_series *series, bool with_better)
{
	for (size_t i = 0; i < series->n_changes; i++) {
		const struct history_change *change = &series->changes[i];
		char name[HISTORY_TEXT];
		char text[HISTORY_TEXT];

		if (!history_change_is_recent(view, change) ||
		    (!with_better && !history_change_is_worse(series, change)))
			continue;
		history_describe_case(name, series);
		history_describe_change(text, view, series, change);
		fprintf(out, "setup %zu: %s: %s\n", series->setup + 1, name, text);
	}
}

void history_table_check(FILE *out, const struct history_view *view, bool with_better)
{
	char text[HISTORY_TEXT];

	print_head(out, view);
	for (size_t i = 0; i < view->n_setups; i++) {
		if (!view->setups[i].is_current)
			continue;
		print_setup(out, view, i);
		fputc('\n', out);
	}
	for (size_t i = 0; i < view->n_series; i++)
		print_recent(out, view, &view->series[i], with_better);
	history_describe_total(text, view);
	fprintf(out, "%s\n", text);
}
