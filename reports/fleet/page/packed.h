/* SPDX-License-Identifier: MIT */
/*
 * A matrix of a fleet as attributes of an HTML element, from which page.js reads the figures of a
 * cell. data-cells has the cells in the order of the nodes, row by row, in three base64 digits
 * each: four bits of faults, and fourteen bits of the figure: 0 is none, and v + 1 is
 * data-low * exp(v * data-step), or line v of data-errors if the measurement failed. The largest
 * number is the figure zero. "~" and three digits stand for that many empty cells.
 */
#ifndef REPORTS_FLEET_PAGE_PACKED_H
#define REPORTS_FLEET_PAGE_PACKED_H

#include <stdio.h>

#include "reports/fleet/page/matrix.h"

/* Prints the attributes. Returns 0 or -ENOMEM. unit: of bandwidth; NULL: Gb/s. */
int fleet_pack(FILE *out, const struct table_unit *unit, const struct fleet_matrix *matrix,
	       struct error *error);

#endif
