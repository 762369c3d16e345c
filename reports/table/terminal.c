/* SPDX-License-Identifier: MIT */
#include "reports/table/terminal.h"

#include <string.h>

#define INDENT 2 /* of the lines after the first */

const char terminal_bold[] = "1";
const char terminal_dim[] = "2";
const char terminal_red[] = "31";
const char terminal_green[] = "32";
const char terminal_yellow[] = "33";
const char terminal_blue[] = "34";
const char terminal_magenta[] = "35";
const char terminal_heading[] = "1;36";

void terminal_start(const struct terminal *terminal, const char *color)
{
	if (color && terminal->is_colored)
		fprintf(terminal->out, "\033[%sm", color);
}

void terminal_end(const struct terminal *terminal, const char *color)
{
	if (color && terminal->is_colored)
		fputs("\033[m", terminal->out);
}

static int columns_of(const char *text, size_t length)
{
	int count = 0;

	for (size_t i = 0; i < length; i++)
		count += (text[i] & 0xc0) != 0x80;
	return count;
}

int terminal_columns(const char *text)
{
	return columns_of(text, strlen(text));
}

void terminal_flow(const struct terminal *terminal, int column, int indent, const char *text)
{
	for (bool is_first = true; *text; is_first = false) {
		size_t spaces = strspn(text, " ");
		size_t length = spaces + strcspn(text + spaces, " ");
		int columns = columns_of(text, length);

		if (!is_first && terminal->width && column + columns > terminal->width) {
			fprintf(terminal->out, "\n%*s", indent, "");
			text += spaces;
			length -= spaces;
			columns -= (int)spaces;
			column = indent;
		}
		fprintf(terminal->out, "%.*s", (int)length, text);
		column += columns;
		text += length;
	}
}

void terminal_wrap(const struct terminal *terminal, const char *color, const char *prefix,
		   int indent, const char *text)
{
	terminal_start(terminal, color);
	fputs(prefix, terminal->out);
	terminal_end(terminal, color);
	terminal_flow(terminal, terminal_columns(prefix), indent, text);
	fputc('\n', terminal->out);
}

void terminal_say(void *terminal, const char *text)
{
	terminal_wrap(terminal, NULL, "", INDENT, text);
}

void terminal_say_note(void *terminal, const char *text)
{
	terminal_wrap(terminal, terminal_yellow, "note: ", INDENT, text);
}
