/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "reports/aligned.h"
#include "reports/worth.h"

static void put_dose(struct cells *cells, const struct worth_dose *dose)
{
	char text[64];

	cells->count = 0;
	snprintf(text, sizeof(text), "%+.0f %%%s", dose->percent, dose->is_noisy ? ", noisy" : "");
	cells_put_name(cells, text);
}

/* Of the cases' first figures: the least and the most that they were worse by, over all rounds. */
static void put_planted(struct cells *cells, const struct worth_dose *dose)
{
	double least = HUGE_VAL;
	double most = -HUGE_VAL;
	char text[64] = "-";

	for (size_t i = 0; i < dose->bout.n_cases; i++) {
		if (isnan(dose->planted[i]))
			continue;
		least = fmin(least, dose->planted[i]);
		most = fmax(most, dose->planted[i]);
	}
	if (least <= most)
		snprintf(text, sizeof(text), "%+.1f..%+.1f %%", 100 * (least - 1),
			 100 * (most - 1));
	cells_put_title(cells, text);
}

static void put_count(struct cells *cells, size_t some)
{
	char text[32];

	snprintf(text, sizeof(text), "%zu", some);
	cells_put_title(cells, text);
}

static void fill(struct cells *cells, const struct worth_dose *dose)
{
	struct proportion found = proportion_of(dose->count.regressed, dose->count.gates);
	size_t in_cases = 0;
	char text[64];

	for (size_t i = 0; i < dose->bout.n_cases; i++)
		in_cases += dose->found[i];
	put_dose(cells, dose);
	put_planted(cells, dose);
	put_count(cells, dose->count.gates);
	put_count(cells, dose->count.regressed);
	snprintf(text, sizeof(text), "%.1f..%.1f %%", 100 * found.low, 100 * found.high);
	cells_put_title(cells, text);
	snprintf(text, sizeof(text), "%zu/%zu", in_cases, dose->count.gates * dose->bout.n_cases);
	cells_put_title(cells, text);
	put_count(cells, dose->count.inconclusive);
	put_count(cells, dose->count.invalid);
}

static void title(struct cells *cells)
{
	cells->count = 0;
	cells_put_name(cells, "PLANTED");
	cells_put_title(cells, "seen");
	cells_put_title(cells, "gates");
	cells_put_title(cells, "REGRESSED");
	cells_put_title(cells, "95 %");
	cells_put_title(cells, "in cases");
	cells_put_title(cells, "unclear");
	cells_put_title(cells, "INVALID");
}

void worth_table(FILE *out, const struct worth *worth)
{
	const struct bout *first = &worth->doses[0].bout;
	int width[CELLS_MAX] = {0};
	struct cells cells;

	if (!worth->n_doses)
		return;
	if (first->banner)
		fprintf(out, "%s\n", first->banner);
	fprintf(out, "gates of %zu cases and %zu rounds, planted by %s\n", first->n_cases,
		worth->rounds, worth->plant);
	title(&cells);
	aligned_widen(width, &cells);
	for (size_t i = 0; i < worth->n_doses; i++) {
		fill(&cells, &worth->doses[i]);
		aligned_widen(width, &cells);
	}
	title(&cells);
	aligned_row(out, &cells, width);
	for (size_t i = 0; i < worth->n_doses; i++) {
		fill(&cells, &worth->doses[i]);
		aligned_row(out, &cells, width);
	}
}
