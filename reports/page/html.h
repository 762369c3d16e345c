/* SPDX-License-Identifier: MIT */
/*
 * Text and numbers in a page: text is escaped, and exact numbers survive a round trip through
 * the page.
 */
#ifndef REPORTS_PAGE_HTML_H
#define REPORTS_PAGE_HTML_H

#include <stdio.h>

/* Prints text escaped like xml_print, but keeps line feeds and tabs. */
void html_text(FILE *out, const char *text);

/*
 * Prints at most this many characters and 1023 bytes of a text. Appends an ellipsis if there are
 * more characters.
 */
void html_start(FILE *out, const char *text, size_t letters);

/* Prints <name>text</name> and a newline. */
void html_element(FILE *out, const char *name, const char *text);

#define HTML_NUMBER 32

/* Formats a value with the fewest digits that strtod turns back into the same value. */
void html_exact(char text[static HTML_NUMBER], double value);

/* Formats a value for readers, with this many significant digits (at most 10). */
void html_short(char text[static HTML_NUMBER], double value, int digits);

#endif
