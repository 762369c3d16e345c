/* SPDX-License-Identifier: MIT */
#include "reports/page/table.h"

#include <stdbool.h>
#include <string.h>

#include "reports/page/html.h"

static bool has_figures(const struct grid *grid)
{
	for (size_t i = 0; i < grid->n_columns; i++)
		if (grid->columns[i].align == GRID_FIGURES)
			return true;
	return false;
}

/* Prints a row, or the titles if cell is NULL. Returns the first cell of the next row. */
static const char *print_row(FILE *out, const struct grid *grid, const char *cell)
{
	fputs("<tr>", out);
	for (size_t i = 0; i < grid->n_columns; i++) {
		bool is_words = grid->columns[i].align == GRID_WORDS;
		bool is_head = !cell || !i;

		if (is_head)
			fprintf(out, "<th scope=\"%s\"", cell ? "row" : "col");
		else
			fputs("<td", out);
		/* By default, browsers center header cells and left-align others. */
		fputs(is_words && (is_head || has_figures(grid)) ? " align=\"left\">" : ">", out);
		html_text(out, cell ? cell : grid->columns[i].title);
		fputs(is_head ? "</th>" : "</td>", out);
		if (cell)
			cell += strlen(cell) + 1;
	}
	fputs("</tr>\n", out);
	return cell;
}

void page_table(FILE *out, struct grid *grid)
{
	const char *cell = grid_cells(grid);
	const char *align = has_figures(grid) ? " align=\"right\"" : "";

	fprintf(out,
		"<div class=\"table\" tabindex=\"0\"><table border=\"1\" cellspacing=\"0\" cellpadding=\"4\">\n<thead%s>",
		align);
	print_row(out, grid, NULL);
	fprintf(out, "</thead>\n<tbody%s>\n", align);
	for (size_t i = 0; i < grid->n_cells; i += grid->n_columns)
		cell = print_row(out, grid, cell);
	fputs("</tbody>\n</table></div>\n", out);
}
