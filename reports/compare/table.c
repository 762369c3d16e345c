/* SPDX-License-Identifier: MIT */
#include "reports/compare/table.h"

#include "reports/compare/cells.h"
#include "reports/compare/sentences.h"

/* Indented lines; the first one also prints the title. */
struct value_list {
	const struct terminal *terminal;
	const char *title; /* NULL: printed */
};

static void say_below(void *owner, const char *text)
{
	struct value_list *list = owner;

	if (list->title)
		terminal_wrap(list->terminal, terminal_heading, list->title, 0, "");
	list->title = NULL;
	terminal_wrap(list->terminal, NULL, "  ", 4, text);
}

void compare_table(const struct terminal *terminal, const struct table_unit *unit,
		   const struct comparison *comparison)
{
	struct terminal shown = *terminal;
	struct value_list list = {terminal, "\nNOT COMPARED, OR NOT IN ALL RUNS"};
	char text[COMPARE_TEXT];
	struct grid grid;

	compare_say_head(comparison, terminal_say, &shown);
	for (enum cells_table which = CELLS_LATENCY; which <= CELLS_LOAD; which++) {
		compare_cells_grid(&grid, unit, comparison, which);
		grid_color_verdicts(&grid);
		grid_rank(&grid, "runs", 2);
		grid_rank(&grid, "95 %", 1);
		if (grid.n_cells) {
			fputc('\n', terminal->out);
			grid_text(terminal, &grid);
		}
		grid_close(&grid);
	}
	compare_say_gaps(comparison, say_below, &list);
	fputc('\n', terminal->out);
	compare_say_notes(comparison, terminal_say_note, &shown);
	if (compare_forced(comparison, text))
		terminal_say(&shown, text);
	compare_sum(comparison, text);
	terminal_say(&shown, text);
}
