/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "reports/gate/calibration.h"
#include "reports/table/aligned.h"

/* Doses of one kind, together. */
struct row {
	const struct calibration_dose *first;
	struct calibration_count count;
	size_t cells; /* cases of all gates, */
	size_t found; /* and those that regressed */
	/* Of the cases' first figures: the least and the most they were worse by, over all rounds */
	double least;
	double most;
};

/* Less first, and of one what was done besides after what was not. */
static int order_doses(const struct calibration_dose *left, const struct calibration_dose *right)
{
	if (left->percent != right->percent)
		return left->percent < right->percent ? -1 : 1;
	if (left->is_noisy != right->is_noisy)
		return left->is_noisy ? 1 : -1;
	return left->has_outlier - right->has_outlier;
}

static int order_rows(const void *left, const void *right)
{
	return order_doses(((const struct row *)left)->first, ((const struct row *)right)->first);
}

static void add_dose(struct row *row, const struct calibration_dose *dose)
{
	row->count.gates += dose->count.gates;
	row->count.regressed += dose->count.regressed;
	row->count.invalid += dose->count.invalid;
	row->count.inconclusive += dose->count.inconclusive;
	row->cells += dose->count.gates * dose->gate.n_cases;
	for (size_t i = 0; i < dose->gate.n_cases; i++) {
		row->found += dose->found[i];
		if (isnan(dose->planted[i]))
			continue;
		row->least = fmin(row->least, dose->planted[i]);
		row->most = fmax(row->most, dose->planted[i]);
	}
}

/* false: an earlier one has it. */
static bool take_row(struct row *row, const struct calibration *calibration, size_t number)
{
	*row = (struct row){
		.first = &calibration->doses[number], .least = HUGE_VAL, .most = -HUGE_VAL};
	for (size_t i = 0; i < calibration->n_doses; i++) {
		if (order_doses(&calibration->doses[i], row->first))
			continue;
		if (i < number)
			return false;
		add_dose(row, &calibration->doses[i]);
	}
	return true;
}

void calibration_tell_dose(char text[static 64], const struct calibration_dose *dose)
{
	snprintf(text, 64, "%+g %%%s%s", dose->percent, dose->is_noisy ? ", noisy" : "",
		 dose->has_outlier ? ", outlier" : "");
}

static void put_dose(struct cells *cells, const struct calibration_dose *dose)
{
	char text[64];

	cells->count = 0;
	calibration_tell_dose(text, dose);
	cells_put_name(cells, text);
}

static void put_planted(struct cells *cells, const struct row *row)
{
	char text[64] = "-";

	if (row->least <= row->most)
		snprintf(text, sizeof(text), "%+.1f..%+.1f %%", 100 * (row->least - 1),
			 100 * (row->most - 1));
	cells_put_title(cells, text);
}

static void put_count(struct cells *cells, size_t some)
{
	char text[32];

	snprintf(text, sizeof(text), "%zu", some);
	cells_put_title(cells, text);
}

static void fill(struct cells *cells, const struct row *row)
{
	struct proportion found = proportion_of(row->count.regressed, row->count.gates);
	char text[64];

	put_dose(cells, row->first);
	put_planted(cells, row);
	put_count(cells, row->count.gates);
	put_count(cells, row->count.regressed);
	snprintf(text, sizeof(text), "%.1f..%.1f %%", 100 * found.low, 100 * found.high);
	cells_put_title(cells, text);
	snprintf(text, sizeof(text), "%zu/%zu", row->found, row->cells);
	cells_put_title(cells, text);
	put_count(cells, row->count.inconclusive);
	put_count(cells, row->count.invalid);
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

/* One that was recorded on a software device is enough. */
static const char *banner_of_all(const struct calibration *calibration)
{
	for (size_t i = 0; i < calibration->n_doses; i++)
		if (calibration->doses[i].gate.banner)
			return calibration->doses[i].gate.banner;
	return NULL;
}

/* Which gates that are counted would not have been believed. */
static void print_faults(FILE *out, const struct calibration *calibration)
{
	for (size_t i = 0; i < calibration->n_doses; i++) {
		char text[64];

		if (!calibration->doses[i].gate.invalid[0])
			continue;
		calibration_tell_dose(text, &calibration->doses[i]);
		fprintf(out, "! %s: %s: a gate would have been INVALID\n", text,
			calibration->doses[i].gate.invalid);
	}
}

static size_t make_rows(struct row rows[static CALIBRATION_DOSES_MOST],
			const struct calibration *calibration)
{
	size_t count = 0;

	for (size_t i = 0; i < calibration->n_doses; i++)
		count += take_row(&rows[count], calibration, i);
	qsort(rows, count, sizeof(*rows), order_rows);
	return count;
}

void calibration_table(FILE *out, const struct calibration *calibration)
{
	const struct gate_record *first = &calibration->doses[0].gate;
	const char *banner = banner_of_all(calibration);
	struct row rows[CALIBRATION_DOSES_MOST];
	int width[CELLS_MAX] = {0};
	struct cells cells;
	size_t n_rows;

	if (!calibration->n_doses)
		return;
	if (banner)
		fprintf(out, "%s\n", banner);
	fprintf(out, "gates of %zu cases and %zu rounds, planted by %s\n", first->n_cases,
		calibration->rounds, calibration->plant);
	title(&cells);
	aligned_widen(width, &cells);
	n_rows = make_rows(rows, calibration);
	for (size_t i = 0; i < n_rows; i++) {
		fill(&cells, &rows[i]);
		aligned_widen(width, &cells);
	}
	title(&cells);
	aligned_row(out, &cells, width);
	for (size_t i = 0; i < n_rows; i++) {
		fill(&cells, &rows[i]);
		aligned_row(out, &cells, width);
	}
	print_faults(out, calibration);
}
