/* SPDX-License-Identifier: MIT */
#include "reports/gate/sentences.h"
#include "reports/gate/show.h"

static void say(void *owner, const char *text)
{
	fprintf(owner, "%s\n", text);
}

static void say_note(void *owner, const char *text)
{
	fprintf(owner, "! %s\n", text);
}

void gate_table(FILE *out, const struct gate_record *gate)
{
	char text[GATE_TEXT];
	struct grid grid;

	gate_say_head(gate, say, out);
	gate_grid(&grid, gate);
	if (grid.n_cells)
		grid_text(out, &grid);
	grid_close(&grid);
	gate_say_notes(gate, say_note, out);
	gate_sum(gate, text);
	say(out, text);
}
