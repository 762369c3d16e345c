/* SPDX-License-Identifier: MIT */
/* A heat map that is being drawn, for heatmap.c and culprits.c. */
#ifndef REPORTS_FLEET_PAGE_CANVAS_H
#define REPORTS_FLEET_PAGE_CANVAS_H

#include <stdio.h>

#include "reports/fleet/page/matrix.h"

/* Pixels. */
enum {
	CANVAS_SMALL = 12,  /* height of a name */
	CANVAS_LETTER = 7,  /* width of its letters */
	CANVAS_BESIDE = 14, /* between names and map */
};

#define CANVAS_LETTERS 20 /* of a name; the rest is cut off */

enum canvas_mark {
	CANVAS_LINK = 1, /* end of a bad link */
	CANVAS_BAD = 2,  /* bad node or rail */
};

struct canvas {
	FILE *out;
	const struct fleet_matrix *matrix;
	const uint32_t *order; /* nodes by place */
	uint32_t *places;      /* of nodes */
	const struct table_unit *unit;
	bool has_titles;
	size_t n;
	int cell;  /* width and height */
	int large; /* height of the names of culprits */
	/* By place: enum canvas_mark of the row, and of the column. */
	uint8_t *rows;
	uint8_t *columns;
};

static inline const struct fleet_node *canvas_node(const struct canvas *canvas, size_t place)
{
	return &canvas->matrix->fleet->nodes[canvas->order[place]];
}

static inline const struct fleet_cell *canvas_cell(const struct canvas *canvas, size_t row,
						   size_t column)
{
	return fleet_matrix_cell(canvas->matrix, canvas->order[row], canvas->order[column]);
}

#endif
