/* SPDX-License-Identifier: MIT */
/*
 * Results as one self-contained page for browsers and print: figures (charts.h) and HTML tables.
 * The page fetches nothing. Its only style (page.css) and script (page.js) are inline. Where a
 * content policy forbids them, all figures and values are still shown.
 */
#ifndef REPORTS_PAGE_PAGE_H
#define REPORTS_PAGE_PAGE_H

#include <stdio.h>

#include "reports/page/charts.h"

/* title names what the page shows. */
void page_begin(FILE *out, const char *title);

/* Adds a result as a section. name: of its file. */
void page_add(FILE *out, const struct charts *figures, const char *name);

void page_end(FILE *out);

#endif
