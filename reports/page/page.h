/* SPDX-License-Identifier: MIT */
/*
 * Results as one self-contained page for browsers and print: figures (charts.h) and HTML tables.
 * The page fetches nothing. Its only script (page.js) and style sheet (page.css) are inline; where a
 * content policy forbids them, all figures and values are still shown.
 */
#ifndef REPORTS_PAGE_PAGE_H
#define REPORTS_PAGE_PAGE_H

#include <stdio.h>

#include "reports/page/charts.h"

void page_begin(FILE *out);

/* Adds a result as a section. name: of its file. */
void page_add(FILE *out, const struct charts *figures, const char *name);

void page_end(FILE *out);

#endif
