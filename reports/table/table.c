/* SPDX-License-Identifier: MIT */
#include "reports/table/table.h"

#include <inttypes.h>
#include <string.h>

#include "reports/finding/paired_trials.h"
#include "reports/finding/precision.h"
#include "reports/finding/semantics.h"
#include "reports/finding/summary.h"
#include "reports/io/json_member.h"
#include "reports/result/banner.h"
#include "reports/table/sentences.h"

/* Minimum widths of the columns of words, which are as wide as their contents. */
enum {
	NAME_LEAST = 16,
	CQ_LEAST = 5,
	KIND_LEAST = 4,
};

/* Up to this many cases that are skipped for the same reason are listed individually. */
#define SKIPPED_MOST 4

void table_open(struct table *table, FILE *out, const struct table_unit *unit,
		const struct result *result)
{
	static const struct grid_column names[] = {
		{"", GRID_WORDS,   NAME_LEAST},
		{"", GRID_FIGURES, 0         },
		{"", GRID_WORDS,   CQ_LEAST  },
		{"", GRID_WORDS,   KIND_LEAST},
	};
	char head[CELLS_HEAD];
	struct grid grid;

	grid_open(&grid);
	grid_add_columns(&grid, names, ARRAY_LENGTH(names));
	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];
		bool has_kind = strcmp(line->metric, "bw") != 0;

		if (line->status == RESULT_SKIPPED)
			continue;
		cells_names(&grid, line);
		grid_put(&grid, "%s", has_kind ? result_kind_name(line->kind) : "");
	}
	grid_fit(&grid);
	*table = (struct table){
		.out = out,
		.unit = unit,
		.result = result,
		.width = {grid.columns[0].width, grid.columns[2].width, grid.columns[3].width},
	};
	grid_close(&grid);
	if (banner_of(result))
		fprintf(out, "%s\n", banner_of(result));
	cells_head(head, result);
	fprintf(out, "%s\n", head);
}

/* Opens a grid with the column widths of the whole table. */
static void open_line(struct grid *grid, const struct table *table, const struct result_case *line)
{
	size_t n_names = 0;

	cells_open(grid, table->unit, table->result, cells_table(line));
	for (size_t i = 0; i < grid->n_columns; i++) {
		struct grid_column *column = &grid->columns[i];

		if (column->align == GRID_WORDS && n_names < TABLE_NAMES)
			column->width = table->width[n_names++];
	}
}

static const char bold[] = "1";
static const char red[] = "31";
static const char yellow[] = "33";

static void start_color(const struct table *table, const char *code)
{
	if (table->is_colored)
		fprintf(table->out, "\033[%sm", code);
}

/* Resets the color and ends the line. */
static void end_color(const struct table *table)
{
	start_color(table, "");
	fputc('\n', table->out);
}

static void print_shares(const struct table *table, const struct result_case *line)
{
	char text[160];

	if (cells_evenness(text, table->unit, line))
		fprintf(table->out, "  %s", text);
}

static void print_mean(const struct table *table, const struct result_case *line)
{
	char text[64];

	if (cells_lone_mean(line, text))
		fprintf(table->out, "  %s", text);
}

void table_line(struct table *table, const struct result_case *line)
{
	struct grid grid;

	if (line->status == RESULT_INTERRUPTED || line->status == RESULT_SKIPPED)
		return;
	if (!cells_has_figures(line)) {
		start_color(table, red);
		fprintf(table->out, "%s: %s", line->id,
			line->error[0] ? line->error : result_status_name(line->status));
		end_color(table);
		return;
	}
	if (!banner_allows_times(table->result))
		return;
	open_line(&grid, table, line);
	if (!table->last || cells_table(table->last) != cells_table(line)) {
		start_color(table, bold);
		grid_text_row(table->out, &grid, NULL);
		end_color(table);
	}
	table->last = line;
	cells_add(&grid, table->unit, table->result, line);
	grid_text_row(table->out, &grid, grid_cells(&grid));
	grid_close(&grid);
	if (line->lost)
		fprintf(table->out, "  lost %" PRIu64 " of %" PRIu64, line->lost, line->sent);
	print_shares(table, line);
	print_mean(table, line);
	fputc('\n', table->out);
}

/* Prints a single line, since a sweep that was stopped early has many interrupted cases. */
static void print_interrupted(const struct table *table)
{
	const struct result_case *first = NULL;
	const struct result_case *last = NULL;
	size_t n = 0;

	for (size_t i = 0; i < table->result->n_cases; i++) {
		if (table->result->cases[i].status != RESULT_INTERRUPTED)
			continue;
		last = &table->result->cases[i];
		first = n++ ? first : last;
	}
	if (!n)
		return;
	if (n > 1)
		fprintf(table->out, "%zu cases interrupted or not run, from %s to %s", n, first->id,
			last->id);
	else
		fprintf(table->out, "%s: interrupted", first->id);
	/* Only the first may have been running. A user who interrupted it needs no reason. */
	if (first->error[0] && strcmp(first->error, result_status_name(RESULT_INTERRUPTED)) != 0)
		fprintf(table->out, ": %s", first->error);
	fputc('\n', table->out);
}

/* Returns the number of skipped cases by reason, or NULL if memory runs out. */
static json_t *count_skipped(const struct result *result)
{
	json_t *reasons = json_object();

	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];
		json_int_t n;

		if (line->status != RESULT_SKIPPED)
			continue;
		n = json_integer_value(json_object_get(reasons, line->error));
		json_object_set_new_nocheck(reasons, line->error, json_integer(n + 1));
	}
	return reasons;
}

/* Prints skipped cases, many with the same reason as one line; documents list all of them. */
static void print_skipped(const struct table *table)
{
	json_t *reasons = count_skipped(table->result);

	for (size_t i = 0; i < table->result->n_cases; i++) {
		const struct result_case *line = &table->result->cases[i];
		json_int_t n;

		if (line->status != RESULT_SKIPPED)
			continue;
		n = json_integer_value(json_object_get(reasons, line->error));
		if (n > SKIPPED_MOST)
			fprintf(table->out, "%s and %lld more: skipped: %s\n", line->id, n - 1,
				line->error);
		else if (n >= 0)
			fprintf(table->out, "%s: skipped: %s\n", line->id, line->error);
		/* Mark the reason as printed. */
		if (n > SKIPPED_MOST)
			json_object_set_new_nocheck(reasons, line->error, json_integer(-1));
	}
	json_decref(reasons);
}

static void print_unsteady(const struct table *table)
{
	char text[256];

	if (!banner_allows_times(table->result) || !cells_unsteady(text, table->result))
		return;
	start_color(table, yellow);
	fprintf(table->out, "! %s; use a longer --warmup", text);
	end_color(table);
}

static void say(void *owner, const char *text)
{
	const struct table *table = owner;

	fprintf(table->out, "%s\n", text);
}

struct table_count table_foot(const struct table *table)
{
	const struct result *result = table->result;
	struct table_count found = {0};

	said_knees(result, say, (void *)(uintptr_t)table);
	semantics_print(table->out, result);
	paired_trials_print(table->out, result);
	precision_print(table->out, result);
	summary_print(table->out, result);
	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];

		found.complete += line->status == RESULT_COMPLETE;
		found.wanted += line->status != RESULT_SKIPPED;
	}
	print_skipped(table);
	print_interrupted(table);
	print_unsteady(table);
	return found;
}

void table_warnings(const struct table *table)
{
	const json_t *warning;
	size_t i;

	json_array_foreach(table->result->warnings, i, warning)
	{
		const char *mend = json_member_or_empty(warning, "mend");

		if (!json_is_true(json_object_get(warning, "spoils")))
			continue;
		start_color(table, yellow);
		fprintf(table->out, "! %s: %s%s%s", json_member_or_empty(warning, "host"),
			json_member_or_empty(warning, "what"), *mend ? "; fix: " : "", mend);
		end_color(table);
	}
}
