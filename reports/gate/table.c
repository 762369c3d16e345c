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

static void print_cells(FILE *out, const struct gate_record *gate)
{
	int width[CELLS_MAX] = {0};
	struct cells cells;

	gate_cells_title(&cells);
	aligned_widen(width, &cells);
	for (size_t i = 0; i < gate->n_cells; i++) {
		gate_cells_fill(&cells, gate, &gate->cells[i]);
		aligned_widen(width, &cells);
	}
	gate_cells_title(&cells);
	aligned_row(out, &cells, width);
	for (size_t i = 0; i < gate->n_cells; i++) {
		gate_cells_fill(&cells, gate, &gate->cells[i]);
		aligned_row(out, &cells, width);
	}
}

void gate_table(FILE *out, const struct gate_record *gate)
{
	char text[GATE_TEXT];

	gate_say_head(gate, say, out);
	if (gate->n_cells)
		print_cells(out, gate);
	gate_say_notes(gate, say_note, out);
	gate_sum(gate, text);
	say(out, text);
}
