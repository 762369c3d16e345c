/* SPDX-License-Identifier: MIT */
/* Cells below each other, for terminals. */
#ifndef REPORTS_TABLE_ALIGNED_H
#define REPORTS_TABLE_ALIGNED_H

#include <stdio.h>

#include "reports/table/cells.h"

/* How many columns a text takes: bytes that go on with a character take none. */
int aligned_columns(const char *text);

/*
 * One cell, in a column of that width at least, behind a space if it is not the first:
 * words begin where the column does, figures end there.
 */
void aligned_print(FILE *out, const struct cells *cells, size_t number, int width);

/* Of columns as wide as what is in them: one row more, and then each of them as a line. */
void aligned_widen(int width[static CELLS_MAX], const struct cells *cells);
void aligned_row(FILE *out, const struct cells *cells, const int width[static CELLS_MAX]);

#endif
