/* SPDX-License-Identifier: MIT */
#include "reports/fleet/page/matrix.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static void set_cell(struct fleet_matrix *matrix, size_t pair, const struct fleet_figure *figure)
{
	struct fleet_cell *cell =
		&matrix->cells[figure->from * matrix->fleet->n_nodes + figure->to];

	if (figure->view.from_rail != matrix->view.from_rail ||
	    figure->view.to_rail != matrix->view.to_rail || cell->is_set)
		return;
	*cell = (struct fleet_cell){
		.value = (float)figure->value,
		.share = (float)figure->share,
		.pair = (uint32_t)pair,
		.faults = figure->faults,
		.is_set = true,
	};
	matrix->n_set++;
	matrix->n_bad += figure->faults != 0;
}

int fleet_matrix_init(struct fleet_matrix *matrix, const struct yardsticks *yardsticks,
		      const struct fleet_view *view, struct error *error)
{
	const struct fleet *fleet = yardsticks->fleet;
	struct fleet_figure figure;

	*matrix = (struct fleet_matrix){.fleet = fleet, .yardsticks = yardsticks, .view = *view};
	matrix->cells = calloc(fleet->n_nodes * fleet->n_nodes, sizeof(*matrix->cells));
	if (!matrix->cells)
		return error_set_errno(error, -ENOMEM, "cannot keep the matrix");
	for (size_t i = 0; i < fleet->n_pairs; i++)
		for (int direction = 0; direction < 2; direction++)
			if (fleet_judged_figure(yardsticks, &fleet->pairs[i], view->number,
						direction, &figure))
				set_cell(matrix, i, &figure);
	return 0;
}

void fleet_matrix_finish(struct fleet_matrix *matrix)
{
	free(matrix->cells);
	*matrix = (struct fleet_matrix){0};
}

const struct fleet_cell *fleet_matrix_cell(const struct fleet_matrix *matrix, size_t from,
					   size_t to)
{
	return &matrix->cells[from * matrix->fleet->n_nodes + to];
}
