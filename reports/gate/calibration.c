/* SPDX-License-Identifier: MIT */
#include "reports/gate/calibration.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/stats/median.h"

/* Of a gate's own rounds: what gave no figure has failed. */
static void count_failures(struct gate_case *line, size_t rounds)
{
	enum gate_figure figure = gate_first_figure(line);

	for (enum gate_side arm = 0; arm < GATE_SIDES; arm++) {
		line->trials[arm] = rounds;
		line->failures[arm] = 0;
		for (size_t i = 0; i < rounds; i++)
			line->failures[arm] += isnan(line->figures[figure].values[arm][i]);
		if (line->failures[arm] && !line->errors[arm][0])
			snprintf(line->errors[arm], sizeof(line->errors[arm]), "it has no figures");
	}
}

/* A gate of the recorded rounds, from one of them on: values are the record's own. */
static int view_open(struct gate_record *view, const struct gate_record *gate, size_t start,
		     size_t rounds, struct error *error)
{
	*view = (struct gate_record){.asked = rounds, .n_cases = gate->n_cases};
	memcpy(view->floors, gate->floors, sizeof(view->floors));
	view->cases = calloc(gate->n_cases + 1, sizeof(*view->cases));
	if (!view->cases)
		return error_set_errno(error, -ENOMEM, "cannot judge %zu cases", gate->n_cases);
	for (size_t i = 0; i < gate->n_cases; i++) {
		struct gate_case *line = &view->cases[i];

		*line = gate->cases[i];
		for (size_t j = 0; j < GATE_FIGURES; j++)
			for (enum gate_side arm = 0; arm < GATE_SIDES; arm++)
				line->figures[j].values[arm] += start;
		/* Of all rounds together: of these nobody knows. */
		memset(line->unsteady, 0, sizeof(line->unsteady));
		memset(line->troubled, 0, sizeof(line->troubled));
	}
	return 0;
}

static void view_close(struct gate_record *view)
{
	free(view->cases);
	free(view->cells);
	free(view->reasons);
}

/* As many of the recorded rounds as a gate runs. -ENODATA: there are fewer than that. */
static int calibration_take(struct gate_record *view, bool is_again, size_t room)
{
	const size_t *count = is_again ? &view->n_again : &view->n_rounds;
	size_t due = view->asked;

	while (*count < due) {
		if (view->n_rounds + view->n_again == room)
			return -ENODATA;
		due = gate_add_round(view, is_again, due);
	}
	return 0;
}

static bool has_failed(const struct gate_record *view)
{
	for (size_t i = 0; i < view->n_cases; i++)
		if (gate_has_failed(view, i))
			return true;
	return false;
}

static void count_cells(struct calibration_dose *dose, const struct gate_record *view,
			bool *is_unclear)
{
	for (size_t i = 0; i < view->n_cases; i++) {
		bool is_found = false;

		for (size_t j = 0; j < view->n_cells; j++) {
			*is_unclear |= view->cells[j].verdict == JUDGE_INCONCLUSIVE;
			is_found |= view->cells[j].id == view->cases[i].id &&
				    view->cells[j].verdict == JUDGE_REGRESSED;
		}
		dose->found[i] += is_found;
	}
}

static void count(struct calibration_dose *dose, const struct gate_record *view)
{
	enum gate_end end = gate_end(view);
	bool is_unclear = false;

	count_cells(dose, view, &is_unclear);
	dose->count.gates++;
	dose->count.regressed += end == GATE_REGRESSED;
	dose->count.invalid += end == GATE_INVALID;
	dose->count.inconclusive += end == GATE_PASSED && is_unclear;
}

static int calibration_judge_one(struct gate_record *view, size_t room, struct error *error)
{
	int code;

	for (size_t i = 0; i < view->n_cases; i++)
		count_failures(&view->cases[i], view->n_rounds);
	code = gate_judge(view, error);
	if (code || !has_failed(view))
		return code;
	/* What is run again has rounds of its own. */
	code = calibration_take(view, true, room);
	return code ? code : gate_confirm(view, error);
}

/* Whether there are rounds for a second time as well, with all cases; whatever comes of the first. */
static int find_room(const struct gate_record *gate, size_t start, size_t rounds,
		     struct error *error)
{
	struct gate_record view;
	int code = view_open(&view, gate, start, rounds, error);

	if (!code)
		code = calibration_take(&view, false, gate->n_rounds - start);
	view_close(&view);
	return code;
}

/*
 * One gate. next: where the one after it begins; unchanged: there was no room for it, whether it
 * passes or not.
 */
static int draw(struct calibration_dose *dose, size_t rounds, size_t *next, struct error *error)
{
	size_t room = dose->gate.n_rounds - *next;
	struct gate_record view;
	int code = view_open(&view, &dose->gate, *next, rounds, error);

	if (!code)
		code = calibration_take(&view, false, room);
	if (!code)
		code = find_room(&dose->gate, *next + view.n_rounds, rounds, error);
	if (!code)
		code = calibration_judge_one(&view, room, error);
	if (!code) {
		*next += view.n_rounds + view.n_again;
		count(dose, &view);
	}
	view_close(&view);
	return code == -ENODATA ? 0 : code;
}

/* The median of all rounds' ratios, as more for worse. */
static double planted(const struct gate_case *line, size_t n_rounds, double *room)
{
	enum gate_figure figure = gate_first_figure(line);
	double *const *values = line->figures[figure].values;
	size_t count = 0;

	for (size_t i = 0; i < n_rounds; i++) {
		double ratio = values[GATE_HEAD][i] / values[GATE_BASE][i];

		if (ratio > 0 && isfinite(ratio))
			room[count++] = line->is_bandwidth ? 1 / ratio : ratio;
	}
	median_sort(room, count);
	return count ? median_of_sorted(room, count) : (double)NAN;
}

static int measure_planted(struct calibration_dose *dose, struct error *error)
{
	const struct gate_record *gate = &dose->gate;
	double *room = calloc(gate->n_rounds + 1, sizeof(*room));

	if (!room)
		return error_set_errno(error, -ENOMEM, "cannot sort %zu rounds", gate->n_rounds);
	for (size_t i = 0; i < gate->n_cases; i++)
		dose->planted[i] = planted(&gate->cases[i], gate->n_rounds, room);
	free(room);
	return 0;
}

static int judge_dose(struct calibration_dose *dose, size_t rounds, struct error *error)
{
	size_t room = dose->gate.n_cases + 1;
	size_t next = 0;
	size_t before;
	int code;

	free(dose->found);
	free(dose->planted);
	dose->count = (struct calibration_count){0};
	dose->found = calloc(room, sizeof(*dose->found));
	dose->planted = calloc(room, sizeof(*dose->planted));
	if (!dose->found || !dose->planted)
		return error_set_errno(error, -ENOMEM, "cannot count gates");
	code = measure_planted(dose, error);
	do {
		before = next;
		if (!code)
			code = draw(dose, rounds, &next, error);
	} while (!code && next > before);
	return code;
}

int calibration_judge(struct calibration *calibration, struct error *error)
{
	int code = 0;

	for (size_t i = 0; i < calibration->n_doses && !code; i++)
		code = judge_dose(&calibration->doses[i], calibration->rounds, error);
	return code;
}

void calibration_close(struct calibration *calibration)
{
	for (size_t i = 0; i < calibration->n_doses; i++) {
		gate_close(&calibration->doses[i].gate);
		free(calibration->doses[i].found);
		free(calibration->doses[i].planted);
	}
	*calibration = (struct calibration){0};
}
