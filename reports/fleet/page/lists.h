/* SPDX-License-Identifier: MIT */
/*
 * The culprits, the worst figures and the medians of a fleet as grids, which the caller closes.
 * The functions return the number of rows that did not fit.
 */
#ifndef REPORTS_FLEET_PAGE_LISTS_H
#define REPORTS_FLEET_PAGE_LISTS_H

#include "reports/fleet/figure.h"
#include "reports/table/grid.h"

/*
 * Writes "BAD: node n017; rail 1 (mlx5_1) of n042" or "All good". Returns "bad", "good" or
 * "incomplete".
 */
#define FLEET_SUMMARY 1024
const char *fleet_verdict(char text[static FLEET_SUMMARY], const struct fleet *fleet);

/* Writes "node n017", "rail 1 (mlx5_1) of n042" or "link n003 to n009, rail 0". */
#define FLEET_CULPRIT_TEXT 320
void fleet_culprit_text(char text[static FLEET_CULPRIT_TEXT], const struct fleet *fleet,
			const struct fleet_blame *blame);

size_t fleet_list_culprits(struct grid *grid, const struct fleet *fleet);

/* Lists measured figures by their share of the median. */
size_t fleet_list_worst(struct grid *grid, const struct table_unit *unit,
			const struct yardsticks *yardsticks);
size_t fleet_list_failed(struct grid *grid, const struct fleet *fleet);
void fleet_list_spreads(struct grid *grid, const struct table_unit *unit,
			const struct fleet *fleet);

#endif
