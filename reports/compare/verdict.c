/* SPDX-License-Identifier: MIT */
/* What the figures of a comparison are, all of them together. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "reports/compare/compare.h"
#include "reports/stats/holm.h"

static enum compare_verdict verdict_of(const struct compare_cell *cell)
{
	/* All runs of a side may have been rounded the same way: a step apart is no distance. */
	double floor = fmax(COMPARE_FLOOR, cell->resolution * (1 + COMPARE_ROUNDING));
	bool is_large = fabs(log(cell->ratio.ratio)) > log1p(floor);

	if (!cell->ratio.is_known)
		return COMPARE_UNKNOWN;
	return cell->corrected <= COMPARE_LEVEL && is_large ? COMPARE_DIFFERS : COMPARE_SAME;
}

static bool is_test(const struct compare_cell *cell)
{
	return cell->ratio.is_known && !cell->is_repeat;
}

/* All cells of all cases are one family. */
static int correct(struct comparison *comparison, struct error *error)
{
	double *chances = calloc(comparison->n_cells + 1, sizeof(*chances));
	size_t n = 0;
	int code;

	if (!chances)
		return error_set_errno(error, -ENOMEM, "cannot compare");
	for (size_t i = 0; i < comparison->n_cells; i++)
		if (is_test(&comparison->cells[i]))
			chances[n++] = comparison->cells[i].ratio.chance;
	comparison->n_tests = n;
	code = holm_correct(chances, n, error);
	n = 0;
	for (size_t i = 0; i < comparison->n_cells; i++) {
		struct compare_cell *cell = &comparison->cells[i];

		/* The one before it is what a repeat repeats. */
		if (is_test(cell))
			cell->corrected = chances[n++];
		else if (cell->is_repeat)
			cell->corrected = cell[-1].corrected;
	}
	free(chances);
	return code;
}

int compare_decide(struct comparison *comparison, struct error *error)
{
	int code = correct(comparison, error);

	if (code)
		return code;
	for (size_t i = 0; i < comparison->n_cells; i++) {
		struct compare_cell *cell = &comparison->cells[i];

		cell->verdict = verdict_of(cell);
		comparison->n_verdicts[cell->verdict] += !cell->is_repeat;
	}
	return 0;
}
