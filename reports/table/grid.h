/* SPDX-License-Identifier: MIT */
/*
 * A table as texts: columns with titles, and rows of cells. The code that knows the contents builds
 * it once; the outputs (terminals and CSV here, markdown_grid, page_table) show any grid, whatever
 * its contents. If memory runs out, a grid shows a sentence that says so in place of its rows.
 */
#ifndef REPORTS_TABLE_GRID_H
#define REPORTS_TABLE_GRID_H

#include "core/base/compiler.h"
#include "reports/table/terminal.h"

#define GRID_COLUMNS 26

enum grid_align {
	GRID_FIGURES, /* right-aligned */
	GRID_WORDS,   /* left-aligned */
};

struct grid_column {
	const char *title; /* the caller's, as long as the grid */
	enum grid_align align;
	int width; /* in a terminal, at least */
};

/* How a terminal shows a column. A zeroed one is shown always, without color. */
struct grid_view {
	int rank; /* columns that do not fit the width are hidden from the highest rank on */
	bool is_hidden;
	const char *(*color)(const char *cell); /* returns NULL for no color; NULL: no color */
};

struct grid {
	struct grid_column columns[GRID_COLUMNS];
	struct grid_view views[GRID_COLUMNS];
	size_t n_columns;
	size_t n_cells;
	FILE *memory; /* cells, row by row, each ended by '\0' */
	char *text;
	size_t length;
};

void grid_open(struct grid *grid);
void grid_close(struct grid *grid);

/* Append columns; call before the first cell. grid_words appends left-aligned columns. */
void grid_add_columns(struct grid *grid, const struct grid_column *columns, size_t count);
void grid_words(struct grid *grid, const char *const *titles, size_t count);

/* grid_put ends the current cell. grid_begin adds text to it first. */
void FORMAT(2, 3) grid_put(struct grid *grid, const char *format, ...);
void FORMAT(2, 3) grid_begin(struct grid *grid, const char *format, ...);

/* Puts a value with all digits that a double holds; empty for NAN. */
void grid_put_exact(struct grid *grid, double value);

/* Returns the first cell; each further cell starts after the '\0' of the one before. */
const char *grid_cells(struct grid *grid);

/* Returns the number of the column with that title; n_columns: none. */
size_t grid_find(const struct grid *grid, const char *title);

/* Sets the rank of the column with that title. */
void grid_rank(struct grid *grid, const char *title, int rank);

/* Colors the column "verdict". */
void grid_color_verdicts(struct grid *grid);

/* Makes columns as wide as their contents. Titles of several words may take two lines. */
void grid_fit(struct grid *grid);

/* Hides columns until the others fit the width, but none of rank 0. 0: unlimited. */
void grid_squeeze(struct grid *grid, int width);

/* Returns the width of the columns that are not hidden. */
int grid_width(const struct grid *grid);

/* Prints the grid, with columns as wide as their contents. */
void grid_text(const struct terminal *terminal, struct grid *grid);

/*
 * Print single lines in the given column widths, for rows that are shown before the others are
 * known: a heading, which shares its line with the first line of long titles if there is room; the
 * titles; a row, without a newline. A row whose first cell is too wide for its column continues on
 * the next line. grid_text_row returns the first cell of the next row.
 */
void grid_text_heading(const struct terminal *terminal, const struct grid *grid,
		       const char *heading);
void grid_text_titles(const struct terminal *terminal, const struct grid *grid);
const char *grid_text_row(const struct terminal *terminal, const struct grid *grid,
			  const char *cell);

/* Print CSV according to RFC 4180: one field, only the rows, or titles and rows. */
void grid_csv_field(FILE *out, const char *text);
void grid_csv_rows(FILE *out, struct grid *grid);
void grid_csv(FILE *out, struct grid *grid);

#endif
