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

/* A page in memory, because the list of contents precedes the sections that it is made from. */
struct page {
	FILE *body; /* for what the page shows */
	char *text;
	size_t length;
};

/* Returns 0 or a negative errno. */
int page_open(struct page *page);

/* Prints the page, whose title names what it shows, and frees it. */
int page_print(struct page *page, FILE *out, const char *title);

/* Frees a page without printing. */
void page_close(struct page *page);

/* Adds a result as a section. name: of its file. */
void page_add(FILE *out, const struct charts *figures, const char *name);

#endif
