/* SPDX-License-Identifier: MIT */
#include "reports/table/markdown_writer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Also prevents links, mentions and formulas. */
void markdown_escape(FILE *out, const char *text)
{
	for (const char *begin = text; *text; text++) {
		/* "www." is enough to make a link. */
		bool is_link =
			*text == '.' && text - begin >= 3 && !strncasecmp(text - 3, "www", 3);

		if ((unsigned char)*text < ' ')
			fputc(' ', out);
		else if (is_link || strchr("<&$@", *text) ||
			 (*text == ':' && text[1] && text[1] != ' '))
			fprintf(out, "&#%d;", *text);
		else
			fprintf(out, strchr("\\`*_[]|#~>", *text) ? "\\%c" : "%c", *text);
	}
}

/* Also keeps the text from starting a list. */
void markdown_begin(FILE *out, const char *text)
{
	size_t digits = strspn(text, "0123456789");

	fprintf(out, "%.*s", (int)digits, text);
	text += digits;
	if (*text && strchr(digits ? ".)" : "-+", *text))
		fprintf(out, "\\%c", *text++);
	markdown_escape(out, text);
}

/* Adds and frees a finished line, which is NULL if memory ran out. */
static void put(struct markdown *page, char *line, size_t length)
{
	size_t before = page->before ? strlen(page->before) : 0;

	page->is_full |= !line || page->used + before + length > page->room;
	if (page->is_full) {
		page->left_out++;
	} else {
		fprintf(page->out, "%s%s", page->before ? page->before : "", line);
		page->used += before + length;
		page->before = NULL;
	}
	free(line);
}

bool markdown_open(struct markdown_line *line, struct markdown *page)
{
	*line = (struct markdown_line){0};
	line->out = open_memstream(&line->text, &line->length);
	if (!line->out)
		put(page, NULL, 0);
	return line->out;
}

void markdown_put(struct markdown_line *line, struct markdown *page)
{
	fputc('\n', line->out);
	if (fclose(line->out)) {
		free(line->text);
		line->text = NULL;
	}
	put(page, line->text, line->length);
}

void markdown_say(void *owner, const char *text)
{
	struct markdown_line line;

	if (!markdown_open(&line, owner))
		return;
	fputs("- ", line.out);
	markdown_begin(line.out, text);
	markdown_put(&line, owner);
}

/* Indented lines are preformatted and need no escapes. */
void markdown_say_plain(void *owner, const char *text)
{
	struct markdown_line line;

	if (!markdown_open(&line, owner))
		return;
	fprintf(line.out, "    %s", text);
	markdown_put(&line, owner);
}

static void print_cell(FILE *out, const char *text)
{
	fputs("| ", out);
	markdown_escape(out, text);
	fputc(' ', out);
}

static void put_titles(struct markdown *page, const struct grid *grid)
{
	struct markdown_line line;

	if (!markdown_open(&line, page))
		return;
	for (size_t i = 0; i < grid->n_columns; i++)
		print_cell(line.out, grid->columns[i].title);
	fputs("|\n", line.out);
	for (size_t i = 0; i < grid->n_columns; i++)
		fputs(grid->columns[i].align == GRID_WORDS ? "| :-- " : "| --: ", line.out);
	fputc('|', line.out);
	markdown_put(&line, page);
}

void markdown_grid(struct markdown *page, struct grid *grid)
{
	const char *cell = grid_cells(grid);
	struct markdown_line line;

	if (!grid->n_cells)
		return;
	page->before = "\n";
	put_titles(page, grid);
	for (size_t row = 0; row < grid->n_cells / grid->n_columns; row++) {
		bool is_open = markdown_open(&line, page);

		for (size_t i = 0; i < grid->n_columns; i++, cell += strlen(cell) + 1)
			if (is_open)
				print_cell(line.out, cell);
		if (!is_open)
			continue;
		fputc('|', line.out);
		markdown_put(&line, page);
	}
}
