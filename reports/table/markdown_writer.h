/* SPDX-License-Identifier: MIT */
/*
 * Markdown of a bounded length, line by line. What others have written is escaped: it is
 * text, and no markup.
 */
#ifndef REPORTS_TABLE_MARKDOWN_WRITER_H
#define REPORTS_TABLE_MARKDOWN_WRITER_H

#include <stdbool.h>
#include <stdio.h>

#include "reports/table/grid.h"

/* Bytes of the last line, and of what is between two results. */
#define MARKDOWN_END 128

/* Where lines go as long as there is room. */
struct markdown {
	FILE *out;
	size_t room;
	size_t used;
	size_t left_out;
	const char *before; /* the first line of what comes next: its heading; or NULL */
	bool is_full;       /* nothing stands behind what had no room */
};

/* One that is put together. */
struct markdown_line {
	FILE *out;
	char *text;
	size_t length;
};

/* Within a line of text, or in a cell. */
void markdown_escape(FILE *out, const char *text);

/* The same where a line begins, or the item of a list. */
void markdown_begin(FILE *out, const char *text);

/* false: there is no memory for one, and it is left out. It is put with its newline. */
bool markdown_open(struct markdown_line *line, struct markdown *page);
void markdown_put(struct markdown_line *line, struct markdown *page);

/* An item of a list, and a line of what is shown as it is; said, of a struct markdown. */
void markdown_say(void *owner, const char *text);
void markdown_say_plain(void *owner, const char *text);

/* A table behind an empty line, or nothing if it has no rows. */
void markdown_grid(struct markdown *page, struct grid *grid);

#endif
