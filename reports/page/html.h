/* SPDX-License-Identifier: MIT */
/*
 * Text in a page: whatever a document holds stays text, and a number comes back from a
 * page as the one that it was.
 */
#ifndef REPORTS_PAGE_HTML_H
#define REPORTS_PAGE_HTML_H

#include <stdio.h>

/* As xml_print has it, but with line feeds and tabs. */
void html_text(FILE *out, const char *text);

/* <name>text</name> and the end of the line. */
void html_element(FILE *out, const char *name, const char *text);

#define HTML_NUMBER 32

/* With as few digits as it takes to tell it from all others. */
void html_exact(char text[static HTML_NUMBER], double value);

/* For people: digits are those that say something, and no more than ten. */
void html_short(char text[static HTML_NUMBER], double value, int digits);

/* Of bytes, as ids of cases have them: 64, 4k, 1m; else the plain number. */
void html_size(char text[static HTML_NUMBER], double bytes);

#endif
