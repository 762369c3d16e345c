/* SPDX-License-Identifier: MIT */
#include "reports/page/table.h"

#include "reports/page/html.h"

static void print_cells(FILE *out, const struct cells *cells, bool is_head)
{
	fputs("<tr align=\"right\">", out);
	for (size_t i = 0; i < cells->count; i++) {
		const struct cell *cell = &cells->cell[i];
		const char *name = is_head || !i ? "th" : "td";
		const char *scope = is_head ? " scope=\"col\"" : !i ? " scope=\"row\"" : "";

		fprintf(out, "<%s%s%s>", name, scope, cell->is_name ? " align=\"left\"" : "");
		html_text(out, cell->text);
		fprintf(out, "</%s>", name);
	}
	fputs("</tr>\n", out);
}

void page_table_begin(FILE *out, const struct cells *titles)
{
	fputs("<table border=\"1\" cellspacing=\"0\" cellpadding=\"4\">\n<thead>", out);
	print_cells(out, titles, true);
	fputs("</thead>\n<tbody>\n", out);
}

void page_table_row(FILE *out, const struct cells *cells)
{
	print_cells(out, cells, false);
}

void page_table_end(FILE *out)
{
	fputs("</tbody>\n</table>\n", out);
}
