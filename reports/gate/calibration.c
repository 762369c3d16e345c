/* SPDX-License-Identifier: MIT */
#include "reports/gate/calibration.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/stats/median.h"

/* Of a gate's own rounds: what gave no figure has failed. */
static void count_failures(struct bout_case *line, size_t rounds)
{
	enum bout_figure figure = bout_first_figure(line);

	for (enum duel_arm arm = 0; arm < DUEL_ARMS; arm++) {
		line->trials[arm] = rounds;
		line->failures[arm] = 0;
		for (size_t i = 0; i < rounds; i++)
			line->failures[arm] += isnan(line->figures[figure].values[arm][i]);
		if (line->failures[arm] && !line->errors[arm][0])
			snprintf(line->errors[arm], sizeof(line->errors[arm]), "it has no figures");
	}
}

/* A gate of the recorded rounds, from one of them on: values are the record's own. */
static int view_open(struct bout *view, const struct bout *bout, size_t start, size_t rounds,
		     struct error *error)
{
	*view = (struct bout){.asked = rounds, .n_cases = bout->n_cases};
	memcpy(view->floors, bout->floors, sizeof(view->floors));
	view->cases = calloc(bout->n_cases + 1, sizeof(*view->cases));
	if (!view->cases)
		return error_set_errno(error, -ENOMEM, "cannot judge %zu cases", bout->n_cases);
	for (size_t i = 0; i < bout->n_cases; i++) {
		struct bout_case *line = &view->cases[i];

		*line = bout->cases[i];
		for (size_t j = 0; j < BOUT_FIGURES; j++)
			for (enum duel_arm arm = 0; arm < DUEL_ARMS; arm++)
				line->figures[j].values[arm] += start;
		/* Of all rounds together: of these nobody knows. */
		memset(line->unsteady, 0, sizeof(line->unsteady));
		memset(line->troubled, 0, sizeof(line->troubled));
	}
	return 0;
}

static void view_close(struct bout *view)
{
	free(view->cases);
	free(view->cells);
	free(view->reasons);
}

/* As many of the recorded rounds as a gate runs. -ENODATA: there are fewer than that. */
static int take(struct bout *view, bool is_again, size_t room)
{
	const size_t *count = is_again ? &view->n_again : &view->n_rounds;
	size_t due = view->asked;

	while (*count < due) {
		if (view->n_rounds + view->n_again == room)
			return -ENODATA;
		due = bout_add_round(view, is_again, due);
	}
	return 0;
}

static bool has_failed(const struct bout *view)
{
	for (size_t i = 0; i < view->n_cases; i++)
		if (bout_has_failed(view, i))
			return true;
	return false;
}

static void count_cells(struct worth_dose *dose, const struct bout *view, bool *is_unclear)
{
	for (size_t i = 0; i < view->n_cases; i++) {
		bool is_found = false;

		for (size_t j = 0; j < view->n_cells; j++) {
			*is_unclear |= view->cells[j].verdict == DUEL_INCONCLUSIVE;
			is_found |= view->cells[j].id == view->cases[i].id &&
				    view->cells[j].verdict == DUEL_REGRESSED;
		}
		dose->found[i] += is_found;
	}
}

static void count(struct worth_dose *dose, const struct bout *view)
{
	enum bout_end end = bout_end(view);
	bool is_unclear = false;

	count_cells(dose, view, &is_unclear);
	dose->count.gates++;
	dose->count.regressed += end == BOUT_REGRESSED;
	dose->count.invalid += end == BOUT_INVALID;
	dose->count.inconclusive += end == BOUT_PASSED && is_unclear;
}

static int judge(struct bout *view, size_t room, struct error *error)
{
	int code;

	for (size_t i = 0; i < view->n_cases; i++)
		count_failures(&view->cases[i], view->n_rounds);
	code = bout_judge(view, error);
	if (code || !has_failed(view))
		return code;
	/* What is run again has rounds of its own. */
	code = take(view, true, room);
	return code ? code : bout_confirm(view, error);
}

/* Whether there are rounds for a second time as well, with all cases; whatever comes of the first. */
static int find_room(const struct bout *bout, size_t start, size_t rounds, struct error *error)
{
	struct bout view;
	int code = view_open(&view, bout, start, rounds, error);

	if (!code)
		code = take(&view, false, bout->n_rounds - start);
	view_close(&view);
	return code;
}

/*
 * One gate. next: where the one after it begins; unchanged: there was no room for it, whether it
 * passes or not.
 */
static int draw(struct worth_dose *dose, size_t rounds, size_t *next, struct error *error)
{
	size_t room = dose->bout.n_rounds - *next;
	struct bout view;
	int code = view_open(&view, &dose->bout, *next, rounds, error);

	if (!code)
		code = take(&view, false, room);
	if (!code)
		code = find_room(&dose->bout, *next + view.n_rounds, rounds, error);
	if (!code)
		code = judge(&view, room, error);
	if (!code) {
		*next += view.n_rounds + view.n_again;
		count(dose, &view);
	}
	view_close(&view);
	return code == -ENODATA ? 0 : code;
}

/* The median of all rounds' ratios, as more for worse. */
static double planted(const struct bout_case *line, size_t n_rounds, double *room)
{
	enum bout_figure figure = bout_first_figure(line);
	double *const *values = line->figures[figure].values;
	size_t count = 0;

	for (size_t i = 0; i < n_rounds; i++) {
		double ratio = values[DUEL_HEAD][i] / values[DUEL_BASE][i];

		if (ratio > 0 && isfinite(ratio))
			room[count++] = line->is_bandwidth ? 1 / ratio : ratio;
	}
	median_sort(room, count);
	return count ? median_of_sorted(room, count) : (double)NAN;
}

static int measure_planted(struct worth_dose *dose, struct error *error)
{
	const struct bout *bout = &dose->bout;
	double *room = calloc(bout->n_rounds + 1, sizeof(*room));

	if (!room)
		return error_set_errno(error, -ENOMEM, "cannot sort %zu rounds", bout->n_rounds);
	for (size_t i = 0; i < bout->n_cases; i++)
		dose->planted[i] = planted(&bout->cases[i], bout->n_rounds, room);
	free(room);
	return 0;
}

static int judge_dose(struct worth_dose *dose, size_t rounds, struct error *error)
{
	size_t room = dose->bout.n_cases + 1;
	size_t next = 0;
	size_t before;
	int code;

	free(dose->found);
	free(dose->planted);
	dose->count = (struct worth_count){0};
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

int worth_judge(struct worth *worth, struct error *error)
{
	int code = 0;

	for (size_t i = 0; i < worth->n_doses && !code; i++)
		code = judge_dose(&worth->doses[i], worth->rounds, error);
	return code;
}

void worth_close(struct worth *worth)
{
	for (size_t i = 0; i < worth->n_doses; i++) {
		bout_close(&worth->doses[i].bout);
		free(worth->doses[i].found);
		free(worth->doses[i].planted);
	}
	*worth = (struct worth){0};
}
