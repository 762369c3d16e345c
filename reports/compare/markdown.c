/* SPDX-License-Identifier: MIT */
#include "reports/compare/markdown.h"

#include "reports/compare/cells.h"
#include "reports/compare/sentences.h"
#include "reports/table/markdown_writer.h"

/* Room for what is never omitted: the sum, the forced difference, the count of omitted lines. */
#define END (2 * COMPARE_TEXT + MARKDOWN_END)

static void print_strong(FILE *out, const char *text)
{
	fputs("\n**", out);
	markdown_escape(out, text);
	fputs("**\n", out);
}

void compare_markdown(FILE *out, const struct table_unit *unit, const struct comparison *comparison,
		      size_t room)
{
	struct markdown page = {.out = out, .room = room > END ? room - END : 0};
	char text[COMPARE_TEXT];
	struct grid grid;

	page.before = "### Comparison\n\n";
	compare_say_head(comparison, markdown_say, &page);
	for (enum cells_table which = CELLS_LATENCY; which <= CELLS_LOAD; which++) {
		compare_cells_grid(&grid, unit, comparison, which);
		markdown_grid(&page, &grid);
		grid_close(&grid);
	}
	page.before = "\n**Not compared, or not in all runs**\n\n";
	compare_say_gaps(comparison, markdown_say, &page);
	page.before = "\n**Notes**\n\n";
	compare_say_notes(comparison, markdown_say, &page);
	if (compare_forced(comparison, text))
		print_strong(out, text);
	compare_sum(comparison, text);
	fputc('\n', out);
	markdown_begin(out, text);
	fputc('\n', out);
	if (page.left_out)
		fprintf(out, "\n%zu lines omitted here; `verbmark compare` shows all of them\n",
			page.left_out);
}
