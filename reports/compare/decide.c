/* SPDX-License-Identifier: MIT */
/* Verdicts on the figures of a comparison, judged as one family. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "reports/compare/compare.h"

/* Only a difference in the direction of the ratio can be shown. */
static void put_chances(struct compare_cell *cell)
{
	bool is_better = (cell->ratio.ratio > 1) == cell->figure->more_is_good;

	cell->chance = ratio_beyond(&cell->ratio, verdict_distance(&cell->judged));
	cell->judged.better = is_better ? cell->chance : 1;
	cell->judged.worse = is_better ? 1 : cell->chance;
}

static size_t list_family(struct comparison *comparison, struct judged_ratio **family)
{
	size_t n = 0;

	comparison->n_tests = 0;
	for (size_t i = 0; i < comparison->n_cells; i++) {
		struct compare_cell *cell = &comparison->cells[i];

		put_chances(cell);
		if (cell->is_repeat)
			continue;
		family[n++] = &cell->judged;
		comparison->n_tests += ratio_is_known(&cell->ratio);
	}
	return n;
}

static void take_verdict(struct comparison *comparison, struct compare_cell *cell)
{
	double level = VERDICT_LEVEL / (double)comparison->n_tests;

	/* A repeat has the verdict of the cell before it. */
	if (cell->is_repeat) {
		cell->judged = cell[-1].judged;
		cell->corrected = cell[-1].corrected;
		return;
	}
	cell->corrected =
		isnan(cell->chance) ? cell->chance : fmin(cell->judged.better, cell->judged.worse);
	/* Both the corrected chance and the interval have to be beyond the threshold. */
	cell->judged.reach =
		fmax(ratio_reach(&cell->ratio, level), ratio_reach(&cell->ratio, 0.025));
	comparison->n_verdicts[cell->judged.verdict]++;
}

int compare_decide(struct comparison *comparison, struct error *error)
{
	struct judged_ratio **family =
		calloc(comparison->n_cells + 1, sizeof(struct judged_ratio *));
	int code;

	if (!family)
		return error_set_errno(error, -ENOMEM, "cannot compare");
	code = verdict_judge(family, list_family(comparison, family), error);
	free(family);
	for (size_t i = 0; i < comparison->n_cells && !code; i++)
		take_verdict(comparison, &comparison->cells[i]);
	return code;
}
