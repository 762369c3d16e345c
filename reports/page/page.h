/* SPDX-License-Identifier: MIT */
/*
 * Results as one page for browsers and paper: figures, see figures.h, and real tables. It
 * fetches nothing, and all of it is there without its one script (page.js), which the page
 * itself has: a content policy that forbids scripts takes away no more than that.
 */
#ifndef REPORTS_PAGE_PAGE_H
#define REPORTS_PAGE_PAGE_H

#include <stdio.h>

#include "reports/page/charts.h"

void page_begin(FILE *out);

/* A section of its own. name: of the file. */
void page_add(FILE *out, const struct charts *figures, const char *name);

void page_end(FILE *out);

#endif
