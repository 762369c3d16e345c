/* SPDX-License-Identifier: MIT */
#include "reports/compare/table.h"

#include "reports/compare/cells.h"
#include "reports/compare/sentences.h"
#include "reports/table/aligned.h"

/* As wide as what is in its columns. */
struct table {
	FILE *out;
	const struct table_unit *unit;
	const struct comparison *comparison;
	int width[CELLS_MAX];
};

static void say(void *owner, const char *text)
{
	fprintf(owner, "%s\n", text);
}

static void say_note(void *owner, const char *text)
{
	fprintf(owner, "! %s\n", text);
}

/* Below a title, which comes with the first one. */
struct value_list {
	FILE *out;
	const char *title; /* NULL: it is there */
};

static void say_below(void *owner, const char *text)
{
	struct value_list *list = owner;

	if (list->title)
		fprintf(list->out, "%s\n", list->title);
	list->title = NULL;
	fprintf(list->out, "  %s\n", text);
}

static void print_table(struct table *table, enum cells_table which)
{
	const struct comparison *comparison = table->comparison;
	struct cells cells;
	bool is_open = false;

	compare_cells_title(&cells, which);
	for (size_t i = 0; i < cells.count; i++)
		table->width[i] = cells.cell[i].width;
	aligned_widen(table->width, &cells);
	for (size_t i = 0; i < comparison->n_cells; i++) {
		if (compare_cells_table(&comparison->cells[i]) != which)
			continue;
		compare_cells_fill(&cells, table->unit, &comparison->cells[i]);
		aligned_widen(table->width, &cells);
	}
	for (size_t i = 0; i < comparison->n_cells; i++) {
		if (compare_cells_table(&comparison->cells[i]) != which)
			continue;
		compare_cells_title(&cells, which);
		if (!is_open)
			aligned_row(table->out, &cells, table->width);
		is_open = true;
		compare_cells_fill(&cells, table->unit, &comparison->cells[i]);
		aligned_row(table->out, &cells, table->width);
	}
}

void compare_table(FILE *out, const struct table_unit *unit, const struct comparison *comparison)
{
	struct table table = {.out = out, .unit = unit, .comparison = comparison};
	struct value_list list = {out, "NOT COMPARED, OR NOT IN ALL RUNS"};
	char text[COMPARE_TEXT];

	compare_say_head(comparison, say, out);
	for (enum cells_table which = CELLS_LATENCY; which <= CELLS_LOAD; which++)
		print_table(&table, which);
	compare_say_gaps(comparison, say_below, &list);
	compare_say_notes(comparison, say_note, out);
	if (compare_forced(comparison, text))
		say(out, text);
	compare_sum(comparison, text);
	say(out, text);
}
