/* SPDX-License-Identifier: MIT */
#include "reports/table/table.h"

#include <inttypes.h>
#include <string.h>

#include "reports/finding/coverage.h"
#include "reports/finding/paired_trials.h"
#include "reports/finding/precision.h"
#include "reports/finding/semantics.h"
#include "reports/finding/summary.h"
#include "reports/result/banner.h"
#include "reports/table/breakdown_grid.h"
#include "reports/table/memory_matrix.h"
#include "reports/table/sentences.h"

/* Up to this many cases that are skipped for the same reason are listed individually. */
#define SKIPPED_MOST 4

/* Up to this many matrices are shown; pages have all. */
#define MATRICES_MOST 4

/* Indentation of the lines after the first. */
#define INDENT 2

/* Fewer capitals are a name such as UD, and no title. */
#define TITLE_LEAST 5

void table_open(struct table *table, const struct terminal *terminal, const struct table_unit *unit,
		const struct result *result)
{
	char head[CELLS_HEAD];

	*table = (struct table){.terminal = *terminal, .unit = unit, .result = result};
	for (enum cells_table which = 0; which < CELLS_TABLES; which++)
		layout_make(&table->layouts[which], unit, result, which, terminal->width);
	if (banner_of(result))
		terminal_wrap(terminal, terminal_yellow, banner_of(result), INDENT, "");
	cells_head(head, result);
	terminal_wrap(terminal, NULL, "", INDENT, head);
}

/* Formats what belongs to a row but is in no column. */
static void describe_aside(char *text, size_t size, const struct table *table,
			   const struct result_case *line)
{
	char lost[64] = "";
	char evenness[160] = "";
	char mean[64] = "";
	bool has_evenness = cells_evenness(evenness, table->unit, line);
	bool has_mean = cells_lone_mean(line, mean);

	if (line->lost)
		snprintf(lost, sizeof(lost), "  lost %" PRIu64 " of %" PRIu64, line->lost,
			 line->sent);
	snprintf(text, size, "%s%s%s%s%s", lost, has_evenness ? "  " : "", evenness,
		 has_mean ? "  " : "", mean);
}

static void print_row(const struct table *table, struct grid *grid, const struct result_case *line)
{
	const struct terminal *terminal = &table->terminal;
	char aside[320];

	grid_text_row(terminal, grid, grid_cells(grid));
	describe_aside(aside, sizeof(aside), table, line);
	if (*aside && terminal->width &&
	    grid_width(grid) + terminal_columns(aside) > terminal->width)
		fputc('\n', terminal->out);
	terminal_wrap(terminal, NULL, "", INDENT, aside);
}

/* Prints a case without figures, with the reason below. */
static void print_failed(const struct table *table, const struct result_case *line)
{
	const struct terminal *terminal = &table->terminal;

	terminal_start(terminal, terminal_red);
	fprintf(terminal->out, "%s: %s", line->id, result_status_name(line->status));
	terminal_end(terminal, terminal_red);
	fputc('\n', terminal->out);
	if (line->error[0])
		terminal_wrap(terminal, NULL, "  ", INDENT, line->error);
}

void table_line(struct table *table, const struct result_case *line)
{
	enum cells_table which = cells_table(line);
	const struct table_layout *layout = &table->layouts[which];
	struct grid grid;

	if (line->status == RESULT_INTERRUPTED || line->status == RESULT_SKIPPED)
		return;
	if (!cells_has_figures(line)) {
		print_failed(table, line);
		return;
	}
	if (!banner_allows_times(table->result))
		return;
	layout_open(layout, &grid, table->unit, table->result, which);
	if (!table->last || cells_table(table->last) != which) {
		fputc('\n', table->terminal.out);
		grid_text_heading(&table->terminal, &grid, layout->heading);
		grid_text_titles(&table->terminal, &grid);
	}
	table->last = line;
	cells_add(&grid, table->unit, table->result, line,
		  layout->has_extras ? cells_extras(line) : "");
	print_row(table, &grid, line);
	grid_close(&grid);
}

/* Sentences, separated by an empty line from what precedes them. */
struct block {
	const struct terminal *terminal;
	const char *prefix;
	const char *color; /* of the prefix */
	bool is_begun;
};

/* Returns the length of a title in capitals at the start of a text; 0: it has none. */
static size_t title_length(const char *text)
{
	size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

	return length >= TITLE_LEAST ? length : 0;
}

static void say(void *owner, const char *text)
{
	struct block *block = owner;
	const struct terminal *terminal = block->terminal;
	int indent = INDENT + (int)strspn(text, " ->");
	char title[32] = "";

	if (!block->is_begun)
		fputc('\n', terminal->out);
	block->is_begun = true;
	snprintf(title, sizeof(title), "%.*s", (int)title_length(text), text);
	if (*title)
		terminal_wrap(terminal, terminal_heading, title, indent, text + strlen(title));
	else
		terminal_wrap(terminal, block->color, block->prefix, indent, text);
}

/* Lists the columns that do not fit the terminal. */
static void say_dropped(const struct table *table, struct block *block)
{
	const char *dropped = "";
	char text[160];

	for (enum cells_table which = 0; which < CELLS_TABLES; which++)
		if (strlen(table->layouts[which].dropped) > strlen(dropped))
			dropped = table->layouts[which].dropped;
	snprintf(text, sizeof(text), "not shown in %d columns: %s", table->terminal.width, dropped);
	if (*dropped && table->last)
		say(block, text);
}

/* Says one line, since a sweep that was stopped early has many interrupted cases. */
static void say_interrupted(const struct table *table, struct block *block)
{
	const struct result_case *first = NULL;
	const struct result_case *last = NULL;
	char text[2 * CASE_ID + 512];
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
		snprintf(text, sizeof(text), "%zu cases interrupted or not run, from %s to %s", n,
			 first->id, last->id);
	else
		snprintf(text, sizeof(text), "%s: interrupted", first->id);
	/* Only the first may have been running. A user who interrupted it needs no reason. */
	if (first->error[0] && strcmp(first->error, result_status_name(RESULT_INTERRUPTED)) != 0)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ": %s", first->error);
	say(block, text);
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

/* Says which cases were skipped, many with the same reason at once; documents list all of them. */
static void say_skipped(const struct table *table, struct block *block)
{
	json_t *reasons = count_skipped(table->result);

	for (size_t i = 0; i < table->result->n_cases; i++) {
		const struct result_case *line = &table->result->cases[i];
		char more[48] = "";
		char text[CASE_ID + 600];
		json_int_t n;

		if (line->status != RESULT_SKIPPED)
			continue;
		n = json_integer_value(json_object_get(reasons, line->error));
		if (n > SKIPPED_MOST)
			snprintf(more, sizeof(more), " and %lld more", n - 1);
		snprintf(text, sizeof(text), "%s%s: skipped: %s", line->id, more, line->error);
		if (n >= 0)
			say(block, text);
		/* Mark the reason as said. */
		if (n > SKIPPED_MOST)
			json_object_set_new_nocheck(reasons, line->error, json_integer(-1));
	}
	json_decref(reasons);
}

static void say_unsteady(const struct table *table, struct block *block)
{
	char unsteady[256];
	char text[320];

	if (!banner_allows_times(table->result) || !cells_unsteady(unsteady, table->result))
		return;
	snprintf(text, sizeof(text), "%s; use a longer --warmup", unsteady);
	say(block, text);
}

static struct table_count count_cases(const struct result *result)
{
	struct table_count count = {0};

	for (size_t i = 0; i < result->n_cases; i++) {
		count.complete += result->cases[i].status == RESULT_COMPLETE;
		count.wanted += result->cases[i].status != RESULT_SKIPPED;
	}
	return count;
}

static void print_breakdown(const struct table *table)
{
	struct block block = {.terminal = &table->terminal, .prefix = ""};
	struct grid grid;

	if (breakdown_grid(&grid, table->result) && banner_allows_times(table->result)) {
		breakdown_grid_notes(table->result, "BREAKDOWN ", say, &block);
		grid_text(&table->terminal, &grid);
	}
	grid_close(&grid);
}

/* Shows figures by kind of memory. */
static void print_matrices(const struct table *table)
{
	json_t *groups = NULL;
	const char *title;
	json_t *group;
	size_t shown = 0;

	if (banner_allows_times(table->result))
		groups = memory_matrix_groups(table->result, table->unit);
	json_object_foreach(groups, title, group)
	{
		struct block block = {.terminal = &table->terminal,
				      .prefix = "MEMORY, client by server: "};
		char note[MEMORY_MATRIX_NOTE];
		struct grid grid;

		if (shown++ == MATRICES_MOST)
			break;
		say(&block, title);
		memory_matrix_open(&grid, table->unit, table->result, group);
		grid_text(&table->terminal, &grid);
		grid_close(&grid);
		if (memory_matrix_note(note, table->result, group))
			say(&(struct block){.terminal = &table->terminal, .prefix = "MEMORY: "},
			    note);
	}
	if (json_object_size(groups) > MATRICES_MOST) {
		char text[96];

		snprintf(text, sizeof(text),
			 "%zu more in the page of 'verbmark report --format html'",
			 json_object_size(groups) - MATRICES_MOST);
		say(&(struct block){.terminal = &table->terminal, .prefix = "MEMORY: "}, text);
	}
	json_decref(groups);
}

struct table_count table_foot(const struct table *table)
{
	const struct result *result = table->result;
	struct block reading = {.terminal = &table->terminal, .prefix = ""};
	struct block findings = reading;
	struct block gaps = reading;
	struct block summary = reading;
	struct block warnings = {
		.terminal = &table->terminal, .prefix = "warning: ", .color = terminal_yellow};

	said_kinds(result, say, &reading);
	say_dropped(table, &reading);
	said_knees(result, say, &findings);
	said_printed(result, semantics_print, say, &findings);
	said_printed(result, paired_trials_print, say, &findings);
	said_printed(result, precision_print, say, &findings);
	print_breakdown(table);
	print_matrices(table);
	said_printed(result, coverage_print, say, &findings);
	say_skipped(table, &gaps);
	say_interrupted(table, &gaps);
	said_printed(result, summary_print, say, &summary);
	said_warnings(result, say, &warnings);
	say_unsteady(table, &warnings);
	fputc('\n', table->terminal.out);
	return count_cases(result);
}
