/* SPDX-License-Identifier: MIT */
#include "reports/gate/sentences.h"
#include "reports/gate/show.h"
#include "reports/table/aligned.h"

static void say(void *owner, const char *text)
{
	fprintf(owner, "%s\n", text);
}

static void say_note(void *owner, const char *text)
{
	fprintf(owner, "! %s\n", text);
}

static void print_cells(FILE *out, const struct bout *bout)
{
	int width[CELLS_MAX] = {0};
	struct cells cells;

	bout_cells_title(&cells);
	aligned_widen(width, &cells);
	for (size_t i = 0; i < bout->n_cells; i++) {
		bout_cells_fill(&cells, bout, &bout->cells[i]);
		aligned_widen(width, &cells);
	}
	bout_cells_title(&cells);
	aligned_row(out, &cells, width);
	for (size_t i = 0; i < bout->n_cells; i++) {
		bout_cells_fill(&cells, bout, &bout->cells[i]);
		aligned_row(out, &cells, width);
	}
}

void bout_table(FILE *out, const struct bout *bout)
{
	char text[BOUT_TEXT];

	bout_say_head(bout, say, out);
	if (bout->n_cells)
		print_cells(out, bout);
	bout_say_notes(bout, say_note, out);
	bout_sum(bout, text);
	say(out, text);
}
