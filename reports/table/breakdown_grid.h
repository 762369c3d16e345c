/* SPDX-License-Identifier: MIT */
/* The table of --breakdown: where the time of each case's operations went. */
#ifndef REPORTS_TABLE_BREAKDOWN_GRID_H
#define REPORTS_TABLE_BREAKDOWN_GRID_H

#include "reports/result/result.h"
#include "reports/table/grid.h"
#include "reports/table/sentences.h"

/*
 * Builds the table, with one row per case that has a breakdown. Means add up, which percentiles do
 * not. Returns false if it has no rows. The caller closes it in either case.
 */
bool breakdown_grid(struct grid *grid, const struct result *result);

/*
 * Reports what the columns are, the error of the device's clock, and whether outliers dominate the
 * means. The first sentence begins with title.
 */
void breakdown_grid_notes(const struct result *result, const char *title, said *say, void *owner);

#endif
