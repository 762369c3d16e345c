/* SPDX-License-Identifier: MIT */
#include "reports/gate/sentences.h"
#include "reports/gate/show.h"
#include "reports/table/markdown_writer.h"

/* Room for what is never omitted: the sum and the count of omitted lines. */
#define END (GATE_TEXT + MARKDOWN_END)

void gate_markdown(FILE *out, const struct gate_record *gate, size_t room)
{
	struct markdown page = {.out = out, .room = room > END ? room - END : 0};
	char text[GATE_TEXT];
	struct grid grid;

	fprintf(out, "### Gate: %s\n", verdict_name(gate_end(gate)));
	page.before = "\n";
	gate_say_head(gate, markdown_say, &page);
	gate_grid(&grid, gate);
	markdown_grid(&page, &grid);
	grid_close(&grid);
	page.before = "\n**Notes**\n\n";
	gate_say_notes(gate, markdown_say, &page);
	gate_sum(gate, text);
	fputc('\n', out);
	markdown_begin(out, text);
	fputc('\n', out);
	if (page.left_out)
		fprintf(out, "\n%zu lines omitted here; the document has all of them\n",
			page.left_out);
}
