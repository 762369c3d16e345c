/* SPDX-License-Identifier: MIT */
/* A grid as a table of a page: words on the left, figures on the right. */
#ifndef REPORTS_PAGE_TABLE_H
#define REPORTS_PAGE_TABLE_H

#include <stdio.h>

#include "reports/table/grid.h"

/* The first cell of a row names it. */
void page_table(FILE *out, struct grid *grid);

#endif
