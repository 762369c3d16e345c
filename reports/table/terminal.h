/* SPDX-License-Identifier: MIT */
/*
 * How text is shown: its width and its colors, which the program decides. A terminal that has only
 * `out` set is neither wrapped nor colored, as in logs and files.
 */
#ifndef REPORTS_TABLE_TERMINAL_H
#define REPORTS_TABLE_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

struct terminal {
	FILE *out;
	int width; /* columns; 0: unlimited */
	bool is_colored;
};

/* Codes of SGR, the escape sequence for colors. */
extern const char terminal_bold[];
extern const char terminal_dim[];
extern const char terminal_red[];
extern const char terminal_green[];
extern const char terminal_yellow[];
extern const char terminal_blue[];
extern const char terminal_magenta[];
extern const char terminal_heading[];

/* Start and end a color. A color of NULL is none. */
void terminal_start(const struct terminal *terminal, const char *color);
void terminal_end(const struct terminal *terminal, const char *color);

/* Returns the columns that a text takes: UTF-8 continuation bytes take none. */
int terminal_columns(const char *text);

/*
 * Prints a text from a column on, on lines that fit the width, broken at spaces; the lines after
 * the first are indented. The last line has no newline.
 */
void terminal_flow(const struct terminal *terminal, int column, int indent, const char *text);

/*
 * Prints prefix and text on lines that fit the width, broken at spaces; the lines after the first
 * are indented. Only the prefix is colored.
 */
void terminal_wrap(const struct terminal *terminal, const char *color, const char *prefix,
		   int indent, const char *text);

/* A paragraph, and one that is marked as a note. Callbacks whose owner is a struct terminal. */
void terminal_say(void *terminal, const char *text);
void terminal_say_note(void *terminal, const char *text);

#endif
