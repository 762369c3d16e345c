/* SPDX-License-Identifier: MIT */
/*
 * Markdown of bounded length, line by line. Text from documents is escaped, so that it is never
 * taken for markup.
 */
#ifndef REPORTS_TABLE_MARKDOWN_WRITER_H
#define REPORTS_TABLE_MARKDOWN_WRITER_H

#include <stdbool.h>
#include <stdio.h>

#include "reports/table/grid.h"

/* Bytes reserved for the last line and for the gap between two results. */
#define MARKDOWN_END 128

/* An output that accepts lines until room bytes are used. */
struct markdown {
	FILE *out;
	size_t room;
	size_t used;
	size_t left_out;    /* lines */
	const char *before; /* heading to print before the next line, or NULL */
	bool is_full;       /* after the first line that did not fit, all others are omitted */
};

/* A line being built. */
struct markdown_line {
	FILE *out;
	char *text;
	size_t length;
};

/* Prints text escaped, within a line or a cell. */
void markdown_escape(FILE *out, const char *text);

/* Prints text escaped, at the start of a line or of a list item. */
void markdown_begin(FILE *out, const char *text);

/* Starts a line. Returns false and counts it as omitted if memory runs out. */
bool markdown_open(struct markdown_line *line, struct markdown *page);

/* Ends the line with a newline and adds it to the page if it fits. */
void markdown_put(struct markdown_line *line, struct markdown *page);

/* Add a list item, and a preformatted line. Their type is said; owner is a struct markdown. */
void markdown_say(void *owner, const char *text);
void markdown_say_plain(void *owner, const char *text);

/* Adds a table after an empty line, or nothing if it has no rows. */
void markdown_grid(struct markdown *page, struct grid *grid);

#endif
