/* SPDX-License-Identifier: MIT */
/*
 * The table of contents of a page, made from the headings (h2 to h4) of its HTML. Text of other
 * origin must be escaped there, as html_text does.
 */
#ifndef REPORTS_PAGE_CONTENTS_H
#define REPORTS_PAGE_CONTENTS_H

#include <stdio.h>

/* Prints a list of links to the headings, unless there are too few to need one. */
void contents_print(FILE *out, const char *html);

/* Prints the HTML with the ids that these links refer to. */
void contents_print_targets(FILE *out, const char *html);

#endif
