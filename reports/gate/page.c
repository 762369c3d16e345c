/* SPDX-License-Identifier: MIT */
#include "reports/page/page.h"

#include "reports/gate/sentences.h"
#include "reports/gate/show.h"
#include "reports/page/html.h"
#include "reports/page/table.h"

static void say(void *owner, const char *text)
{
	html_element(owner, "li", text);
}

static void print(FILE *out, const struct gate_record *gate)
{
	char text[GATE_TEXT];
	struct grid grid;

	gate_sum(gate, text);
	fprintf(out, "<section>\n<h2 data-verdict=\"%s\">", verdict_name(gate_end(gate)));
	html_text(out, text);
	fputs("</h2>\n<ul>\n", out);
	gate_say_head(gate, say, out);
	fputs("</ul>\n<h3>Figures</h3>\n", out);
	gate_grid(&grid, gate);
	if (grid.n_cells)
		page_table(out, &grid);
	grid_close(&grid);
	fputs("<h3>Notes</h3>\n<ul>\n", out);
	gate_say_notes(gate, say, out);
	fputs("</ul>\n</section>\n", out);
}

int gate_page(FILE *out, const struct gate_record *gate)
{
	struct page page;
	int code = page_open(&page);

	if (code)
		return code;
	print(page.body, gate);
	return page_print(&page, out, "gate");
}
