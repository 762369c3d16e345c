/* SPDX-License-Identifier: MIT */
/*
 * A matrix of a fleet as a heat map in SVG, with attributes only. Cells of one color in a row are
 * one rectangle, so that large maps stay small. page.js shows the figures of the cell below the
 * pointer (see packed.h); small maps also have them as titles, for browsers without scripts.
 */
#ifndef REPORTS_FLEET_PAGE_HEATMAP_H
#define REPORTS_FLEET_PAGE_HEATMAP_H

#include <stdio.h>

#include "reports/fleet/page/matrix.h"
#include "reports/table/cells.h"

struct heatmap {
	const struct table_unit *unit; /* of bandwidth; NULL: Gb/s */
	const uint32_t *by_node;       /* all nodes, in the order to show */
	const uint32_t *by_group;      /* NULL: there are no groups */
	bool has_titles;
};

/* Prints a map in each order. Returns 0 or -ENOMEM. */
int heatmap_print(FILE *out, const struct heatmap *heatmap, const struct fleet_matrix *matrix,
		  struct error *error);

/* Explains the colors. */
void heatmap_print_legend(FILE *out);

#endif
