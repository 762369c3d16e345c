/* SPDX-License-Identifier: MIT */
#include "reports/table/grid.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void grid_open(struct grid *grid)
{
	*grid = (struct grid){0};
	grid->memory = open_memstream(&grid->text, &grid->length);
}

void grid_close(struct grid *grid)
{
	if (grid->memory)
		fclose(grid->memory);
	free(grid->text);
	*grid = (struct grid){0};
}

void grid_add_columns(struct grid *grid, const struct grid_column *columns, size_t count)
{
	assert(count <= GRID_COLUMNS - grid->n_columns);
	memcpy(&grid->columns[grid->n_columns], columns, count * sizeof(*columns));
	grid->n_columns += count;
}

void grid_words(struct grid *grid, const char *const *titles, size_t count)
{
	assert(count <= GRID_COLUMNS - grid->n_columns);
	for (size_t i = 0; i < count; i++)
		grid->columns[grid->n_columns++] =
			(struct grid_column){.title = titles[i], .align = GRID_WORDS};
}

void grid_begin(struct grid *grid, const char *format, ...)
{
	va_list arguments;

	if (!grid->memory)
		return;
	va_start(arguments, format);
	vfprintf(grid->memory, format, arguments);
	va_end(arguments);
}

void grid_put(struct grid *grid, const char *format, ...)
{
	va_list arguments;

	if (!grid->memory)
		return;
	va_start(arguments, format);
	vfprintf(grid->memory, format, arguments);
	va_end(arguments);
	fputc('\0', grid->memory);
	grid->n_cells++;
}

void grid_put_exact(struct grid *grid, double value)
{
	if (isnan(value))
		grid_put(grid, "%s", "");
	else
		grid_put(grid, "%.15g", value);
}

const char *grid_cells(struct grid *grid)
{
	if (grid->memory && !fflush(grid->memory) && !ferror(grid->memory))
		return grid->text;
	grid->columns[0] = (struct grid_column){.title = "error", .align = GRID_WORDS};
	grid->n_columns = 1;
	grid->n_cells = 1;
	return "not enough memory for this table";
}

/* Returns the terminal columns of a text: UTF-8 continuation bytes take none. */
static int columns_of(const char *text)
{
	int count = 0;

	for (; *text; text++)
		count += (*text & 0xc0) != 0x80;
	return count;
}

static void widen(struct grid_column *column, const char *text)
{
	int needed = columns_of(text);

	if (needed > column->width)
		column->width = needed;
}

void grid_fit(struct grid *grid)
{
	const char *cell = grid_cells(grid);

	for (size_t i = 0; i < grid->n_columns; i++)
		widen(&grid->columns[i], grid->columns[i].title);
	for (size_t i = 0; i < grid->n_cells; i++, cell += strlen(cell) + 1)
		widen(&grid->columns[i % grid->n_columns], cell);
}

const char *grid_text_row(FILE *out, const struct grid *grid, const char *cell)
{
	for (size_t i = 0; i < grid->n_columns; i++) {
		const struct grid_column *column = &grid->columns[i];
		const char *text = cell ? cell : column->title;
		int rest = column->width - columns_of(text);

		if (i > 0)
			fputc(' ', out);
		if (column->align == GRID_FIGURES)
			fprintf(out, "%*s%s", rest > 0 ? rest : 0, "", text);
		else if (i + 1 == grid->n_columns)
			fprintf(out, "%s%s", i ? " " : "", text);
		else
			fprintf(out, "%s%*s", text, rest > 0 ? rest : 0, "");
		if (cell)
			cell += strlen(cell) + 1;
	}
	return cell;
}

void grid_text(FILE *out, struct grid *grid)
{
	const char *first = grid_cells(grid);
	const char *cell = NULL;

	grid_fit(grid);
	for (size_t row = 0; row <= grid->n_cells / grid->n_columns; row++) {
		cell = grid_text_row(out, grid, cell);
		fputc('\n', out);
		cell = row ? cell : first;
	}
}

static void print_field(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

void grid_csv_rows(FILE *out, struct grid *grid)
{
	const char *cell = grid_cells(grid);

	for (size_t i = 0; i < grid->n_cells; i++, cell += strlen(cell) + 1) {
		print_field(out, cell);
		fputc((i + 1) % grid->n_columns ? ',' : '\n', out);
	}
}

void grid_csv(FILE *out, struct grid *grid)
{
	for (size_t i = 0; i < grid->n_columns; i++) {
		print_field(out, grid->columns[i].title);
		fputc(i + 1 < grid->n_columns ? ',' : '\n', out);
	}
	grid_csv_rows(out, grid);
}
