/* SPDX-License-Identifier: MIT */
#include "reports/table/grid.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "reports/verdict/verdict.h"

/* Longer titles of several words may take two lines. */
#define TITLE_MOST 20

/* The first column stays at least this wide. Longer names are on a line of their own. */
#define NAME_LEAST 8

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

/* Returns the last word of a long title, which is on its second line if it takes two. */
static const char *lower_title(const char *title)
{
	const char *space = strrchr(title, ' ');

	return space && terminal_columns(title) > TITLE_MOST ? space + 1 : title;
}

/* Returns the width of what is on the first of two lines. */
static int upper_width(const char *title)
{
	int width = terminal_columns(title) - terminal_columns(lower_title(title));

	return width ? width - 1 : 0;
}

static void widen(struct grid_column *column, int width)
{
	if (width > column->width)
		column->width = width;
}

size_t grid_find(const struct grid *grid, const char *title)
{
	size_t i = 0;

	while (i < grid->n_columns && strcmp(grid->columns[i].title, title) != 0)
		i++;
	return i;
}

void grid_rank(struct grid *grid, const char *title, int rank)
{
	size_t i = grid_find(grid, title);

	if (i < grid->n_columns)
		grid->views[i].rank = rank;
}

static const char *color_verdict(const char *cell)
{
	static const char *const colors[VERDICTS] = {
		[VERDICT_BETTER] = terminal_green,
		[VERDICT_WORSE] = terminal_red,
		[VERDICT_UNCLEAR] = terminal_yellow,
		[VERDICT_INVALID] = terminal_yellow,
	};

	for (enum verdict i = 0; i < VERDICTS; i++)
		if (!strncmp(cell, verdict_name(i), strlen(verdict_name(i))))
			return colors[i];
	return NULL;
}

void grid_color_verdicts(struct grid *grid)
{
	size_t i = grid_find(grid, "verdict");

	if (i < grid->n_columns)
		grid->views[i].color = color_verdict;
}

void grid_fit(struct grid *grid)
{
	const char *cell = grid_cells(grid);

	for (size_t i = 0; i < grid->n_cells; i++, cell += strlen(cell) + 1)
		widen(&grid->columns[i % grid->n_columns], terminal_columns(cell));
	for (size_t i = 0; i < grid->n_columns; i++) {
		widen(&grid->columns[i], upper_width(grid->columns[i].title));
		widen(&grid->columns[i], terminal_columns(lower_title(grid->columns[i].title)));
	}
}

/* Words at the end of a row are further away from the figures before them. */
static int gap_before(const struct grid *grid, size_t i)
{
	bool is_last = i + 1 == grid->n_columns;

	return !i ? 0 : is_last && grid->columns[i].align == GRID_WORDS ? 2 : 1;
}

int grid_width(const struct grid *grid)
{
	int width = 0;

	for (size_t i = 0; i < grid->n_columns; i++)
		if (!grid->views[i].is_hidden)
			width += gap_before(grid, i) + grid->columns[i].width;
	return width;
}

static struct grid_view *find_dispensable(struct grid *grid)
{
	struct grid_view *found = NULL;

	for (size_t i = 0; i < grid->n_columns; i++) {
		struct grid_view *view = &grid->views[i];

		if (!view->is_hidden && view->rank > (found ? found->rank : 0))
			found = view;
	}
	return found;
}

void grid_squeeze(struct grid *grid, int width)
{
	struct grid_view *view;
	int excess;

	while (width && grid_width(grid) > width && (view = find_dispensable(grid)))
		view->is_hidden = true;
	excess = width ? grid_width(grid) - width : 0;
	if (excess > 0 && grid->columns[0].width - excess >= NAME_LEAST)
		grid->columns[0].width -= excess;
}

void grid_text_heading(const struct terminal *terminal, const struct grid *grid,
		       const char *heading)
{
	int end = terminal_columns(heading);
	int position = 0;

	terminal_start(terminal, terminal_heading);
	fputs(heading, terminal->out);
	terminal_end(terminal, terminal_heading);
	for (size_t i = 0; i < grid->n_columns; i++) {
		const struct grid_column *column = &grid->columns[i];
		int width = upper_width(column->title);
		int start = position + gap_before(grid, i);

		if (grid->views[i].is_hidden)
			continue;
		position = start + column->width;
		if (!width || terminal_columns(column->title) <= column->width)
			continue;
		if (column->align == GRID_FIGURES)
			start = position - width;
		if (end && start < end + 2) {
			fputc('\n', terminal->out);
			end = 0;
		}
		fprintf(terminal->out, "%*s", start - end, "");
		terminal_start(terminal, terminal_dim);
		fprintf(terminal->out, "%.*s", width, column->title);
		terminal_end(terminal, terminal_dim);
		end = start + width;
	}
	fputc('\n', terminal->out);
}

/* Prints a cell, padded to its column. Words at the end of a row are wrapped instead. */
static void print_cell(const struct terminal *terminal, const struct grid *grid, size_t i,
		       const char *text, const char *color)
{
	const struct grid_column *column = &grid->columns[i];
	int rest = column->width - terminal_columns(text);

	fprintf(terminal->out, "%*s", gap_before(grid, i), "");
	if (column->align == GRID_FIGURES && rest > 0)
		fprintf(terminal->out, "%*s", rest, "");
	color = *text ? color : NULL;
	terminal_start(terminal, color);
	if (column->align == GRID_WORDS && i + 1 == grid->n_columns)
		terminal_flow(terminal, grid_width(grid) - column->width,
			      grid_width(grid) - column->width, text);
	else
		fputs(text, terminal->out);
	terminal_end(terminal, color);
	if (column->align == GRID_FIGURES || i + 1 == grid->n_columns)
		return;
	if (!i && rest < 0)
		fprintf(terminal->out, "\n%*s", column->width, "");
	else
		fprintf(terminal->out, "%*s", rest > 0 ? rest : 0, "");
}

void grid_text_titles(const struct terminal *terminal, const struct grid *grid)
{
	for (size_t i = 0; i < grid->n_columns; i++) {
		const char *title = grid->columns[i].title;

		if (terminal_columns(title) > grid->columns[i].width)
			title = lower_title(title);
		if (!grid->views[i].is_hidden)
			print_cell(terminal, grid, i, title, terminal_dim);
	}
	fputc('\n', terminal->out);
}

const char *grid_text_row(const struct terminal *terminal, const struct grid *grid,
			  const char *cell)
{
	for (size_t i = 0; i < grid->n_columns; i++, cell += strlen(cell) + 1) {
		const struct grid_view *view = &grid->views[i];

		if (!view->is_hidden)
			print_cell(terminal, grid, i, cell, view->color ? view->color(cell) : NULL);
	}
	return cell;
}

static bool has_two_lines(const struct grid *grid)
{
	for (size_t i = 0; i < grid->n_columns; i++)
		if (!grid->views[i].is_hidden && upper_width(grid->columns[i].title) &&
		    terminal_columns(grid->columns[i].title) > grid->columns[i].width)
			return true;
	return false;
}

void grid_text(const struct terminal *terminal, struct grid *grid)
{
	const char *cell = grid_cells(grid);

	grid_fit(grid);
	grid_squeeze(grid, terminal->width);
	if (has_two_lines(grid))
		grid_text_heading(terminal, grid, "");
	grid_text_titles(terminal, grid);
	for (size_t row = 0; row < grid->n_cells / grid->n_columns; row++) {
		cell = grid_text_row(terminal, grid, cell);
		fputc('\n', terminal->out);
	}
}

void grid_csv_field(FILE *out, const char *text)
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
		grid_csv_field(out, cell);
		fputc((i + 1) % grid->n_columns ? ',' : '\n', out);
	}
}

void grid_csv(FILE *out, struct grid *grid)
{
	for (size_t i = 0; i < grid->n_columns; i++) {
		grid_csv_field(out, grid->columns[i].title);
		fputc(i + 1 < grid->n_columns ? ',' : '\n', out);
	}
	grid_csv_rows(out, grid);
}
