/* SPDX-License-Identifier: MIT */
#include "reports/compare/table.h"

#include "reports/compare/cells.h"
#include "reports/compare/sentences.h"

static void say(void *owner, const char *text)
{
	fprintf(owner, "%s\n", text);
}

static void say_note(void *owner, const char *text)
{
	fprintf(owner, "! %s\n", text);
}

/* Indented lines; the first one also prints the title. */
struct value_list {
	FILE *out;
	const char *title; /* NULL: printed */
};

static void say_below(void *owner, const char *text)
{
	struct value_list *list = owner;

	if (list->title)
		fprintf(list->out, "%s\n", list->title);
	list->title = NULL;
	fprintf(list->out, "  %s\n", text);
}

void compare_table(FILE *out, const struct table_unit *unit, const struct comparison *comparison)
{
	struct value_list list = {out, "NOT COMPARED, OR NOT IN ALL RUNS"};
	char text[COMPARE_TEXT];
	struct grid grid;

	compare_say_head(comparison, say, out);
	for (enum cells_table which = CELLS_LATENCY; which <= CELLS_LOAD; which++) {
		compare_cells_grid(&grid, unit, comparison, which);
		if (grid.n_cells)
			grid_text(out, &grid);
		grid_close(&grid);
	}
	compare_say_gaps(comparison, say_below, &list);
	compare_say_notes(comparison, say_note, out);
	if (compare_forced(comparison, text))
		say(out, text);
	compare_sum(comparison, text);
	say(out, text);
}
