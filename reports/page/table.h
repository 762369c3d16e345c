/* SPDX-License-Identifier: MIT */
/* Cells as a table of a page: words on the left, figures on the right. */
#ifndef REPORTS_PAGE_TABLE_H
#define REPORTS_PAGE_TABLE_H

#include <stdio.h>

#include "reports/table/cells.h"

/* With its titles. */
void page_table_begin(FILE *out, const struct cells *titles);

/* The first cell names its row. */
void page_table_row(FILE *out, const struct cells *cells);

void page_table_end(FILE *out);

#endif
