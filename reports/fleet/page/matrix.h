/* SPDX-License-Identifier: MIT */
/*
 * The figures of one case from one rail to another, as a matrix of nodes: rows send, columns
 * receive. The caller owns a matrix; the yardsticks must outlive it.
 */
#ifndef REPORTS_FLEET_PAGE_MATRIX_H
#define REPORTS_FLEET_PAGE_MATRIX_H

#include "reports/fleet/figure.h"

/* Larger fleets have no matrix: 64 MiB of cells. */
#define FLEET_MATRIX_NODES 2048

/* A cell. Zero: not measured. */
struct fleet_cell {
	float value; /* bytes per second, or ns; NAN: failed */
	float share; /* of the median; above 1 is better. NAN: unknown */
	uint32_t pair;
	uint8_t faults; /* enum fleet_fault, of this figure; 0: good */
	bool is_set;
};

struct fleet_matrix {
	const struct fleet *fleet;
	const struct yardsticks *yardsticks;
	struct fleet_view view;
	struct fleet_cell *cells; /* row by row */
	size_t n_set;
	size_t n_bad;
};

/*
 * Builds a matrix. A cell shows its first measurement, because retests come later. Returns 0 or
 * -ENOMEM.
 */
int fleet_matrix_init(struct fleet_matrix *matrix, const struct yardsticks *yardsticks,
		      const struct fleet_view *view, struct error *error);
void fleet_matrix_finish(struct fleet_matrix *matrix);

const struct fleet_cell *fleet_matrix_cell(const struct fleet_matrix *matrix, size_t from,
					   size_t to);

#endif
