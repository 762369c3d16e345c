/* SPDX-License-Identifier: MIT */
/* A grid as an HTML table: words are left-aligned, numbers right-aligned. */
#ifndef REPORTS_PAGE_TABLE_H
#define REPORTS_PAGE_TABLE_H

#include <stdio.h>

#include "reports/table/grid.h"

/* Prints the grid; the first cell of each row is its header. */
void page_table(FILE *out, struct grid *grid);

#endif
