/* SPDX-License-Identifier: MIT */
/* The table of --breakdown: where the time of each case's operations went. */
#ifndef REPORTS_TABLE_BREAKDOWN_GRID_H
#define REPORTS_TABLE_BREAKDOWN_GRID_H

#include "reports/result/result.h"
#include "reports/table/grid.h"

#define BREAKDOWN_GRID_NOTE 360

/*
 * Builds the table, with one row per case that has a breakdown. Means add up, which percentiles do
 * not. Returns false if it has no rows. The caller closes it in either case.
 */
bool breakdown_grid(struct grid *grid, const struct result *result);

/* Formats a sentence about the columns and the error of the device's clock. */
void breakdown_grid_note(char note[static BREAKDOWN_GRID_NOTE], const struct result *result);

#endif
