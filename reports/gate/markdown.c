/* SPDX-License-Identifier: MIT */
#include "reports/gate/sentences.h"
#include "reports/gate/show.h"
#include "reports/table/markdown_writer.h"

/* What is told in any case: the sum, and how much is left out. */
#define END (BOUT_TEXT + MARKDOWN_END)

static void add_table(struct markdown *page, const struct bout *bout)
{
	struct cells cells;

	if (!bout->n_cells)
		return;
	page->before = "\n";
	bout_cells_title(&cells);
	markdown_title(page, &cells);
	for (size_t i = 0; i < bout->n_cells; i++) {
		bout_cells_fill(&cells, bout, &bout->cells[i]);
		markdown_row(page, &cells);
	}
}

void bout_markdown(FILE *out, const struct bout *bout, size_t room)
{
	struct markdown page = {.out = out, .room = room > END ? room - END : 0};
	char text[BOUT_TEXT];

	fprintf(out, "### Gate: %s\n", bout_end_name(bout_end(bout)));
	page.before = "\n";
	bout_say_head(bout, markdown_say, &page);
	add_table(&page, bout);
	page.before = "\n**Notes**\n\n";
	bout_say_notes(bout, markdown_say, &page);
	bout_sum(bout, text);
	fputc('\n', out);
	markdown_begin(out, text);
	fputc('\n', out);
	if (page.left_out)
		fprintf(out, "\n%zu lines are left out here: the document has all of them\n",
			page.left_out);
}
