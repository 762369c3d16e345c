/* SPDX-License-Identifier: MIT */
#include "reports/gate/sentences.h"
#include "reports/gate/show.h"

void gate_table(const struct terminal *terminal, const struct gate_record *gate)
{
	struct terminal shown = *terminal;
	char text[GATE_TEXT];
	struct grid grid;

	gate_say_head(gate, terminal_say, &shown);
	gate_grid(&grid, gate);
	grid_color_verdicts(&grid);
	grid_rank(&grid, "pairs", 1);
	if (grid.n_cells) {
		fputc('\n', terminal->out);
		grid_text(terminal, &grid);
	}
	grid_close(&grid);
	fputc('\n', terminal->out);
	gate_say_notes(gate, terminal_say_note, &shown);
	gate_sum(gate, text);
	terminal_say(&shown, text);
}
