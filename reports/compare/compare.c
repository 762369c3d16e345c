/* SPDX-License-Identifier: MIT */
#include "reports/compare/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/compare/same_setup.h"
#include "reports/import/import.h"
#include "reports/table/cells.h"

static const struct compared_figure *const figures[COMPARE_FIGURES] = {
	&compared_figure_median,     &compared_figure_tail,     &compared_figure_mean,
	&compared_figure_bytes,      &compared_figure_messages, &compared_figure_client_cpu,
	&compared_figure_server_cpu,
};

const struct compared_figure *compare_figure(size_t number)
{
	return figures[number];
}

const char *compare_side_name(enum compare_side side)
{
	return side == COMPARE_BASE ? "BASE" : "NEW";
}

/* Returns the distance to the next non-empty bin up or down, and that bin; 0: none. */
static double distance(const struct hist *hist, size_t bin, bool is_up, size_t *next)
{
	for (*next = bin; is_up ? *next + 1 < HIST_BINS : *next > 0;) {
		*next += is_up ? 1 : (size_t)-1;
		if (hist->bins[*next])
			return fabs((double)hist_low(*next) - (double)hist_low(bin));
	}
	return 0;
}

/* Bins to look at on either side of the median. */
#define NEIGHBORS 4

/*
 * Estimates the clock step: a coarse clock leaves latencies in bins far apart. Takes the least
 * distance of several neighbors, because sparse samples also leave gaps.
 */
static double step_of(const struct hist *hist)
{
	double least = 0;
	size_t first;

	if (!hist || hist->count == hist->over)
		return 0;
	first = hist_index((uint64_t)hist_quantile(hist, 500000));
	first = first < HIST_BINS ? first : HIST_BINS - 1;
	for (int is_up = 0; is_up < 2; is_up++)
		for (size_t i = 0, bin = first, next; i < NEIGHBORS; i++, bin = next) {
			double found = distance(hist, bin, is_up, &next);

			/* The median may lie between two bins, in an empty one. */
			if (hist->bins[bin] && found > 0 && (!(least > 0) || found < least))
				least = found;
		}
	return least;
}

/* Returns the coarsest step of the rates that the other program printed for the trials. */
static double imported_step(const struct result_case *line)
{
	const json_t *printed;
	double coarsest = 0;
	size_t i;

	json_array_foreach(json_object_get(line->parameters, "imported"), i, printed) coarsest =
		fmax(coarsest, json_number_value(json_object_get(printed, IMPORT_RATE_STEP)));
	return coarsest;
}

/* Returns the step of a figure's values, in its unit. A mean of samples has no step. */
static double step_of_figure(const struct result_case *line, const struct compared_figure *figure,
			     double clock_ns)
{
	if (figure == &compared_figure_median || figure == &compared_figure_tail)
		return fmax(step_of(line->latency), clock_ns);
	if (figure == &compared_figure_mean)
		return line->latency ? 0 : clock_ns;
	if (!line->is_imported)
		return 0;
	if (figure == &compared_figure_messages)
		return imported_step(line);
	return figure == &compared_figure_bytes ? imported_step(line) * (double)line->size : 0;
}

/* Extracts the figures and frees the histograms, which would need much memory for many files. */
static int take_figures(struct compare_run *run, struct error *error)
{
	int code = 0;

	for (size_t i = 0; i < run->result.n_cases && !code; i++) {
		struct result_case *line = &run->result.cases[i];
		struct compare_known *known = &run->known[i];

		known->has_figures = cells_has_figures(line);
		if (line->pace && known->has_figures) {
			known->rate = pace_rate(line);
			known->is_saturated = pace_is_saturated(line);
		}
		for (size_t j = 0; j < COMPARE_FIGURES && !code; j++) {
			known->steps[j] =
				step_of_figure(line, figures[j], run->result.clock_resolution_ns);
			code = compared_figure_over_trials(&known->values[j], line, figures[j],
							   error);
		}
		result_drop_trials(line);
	}
	return code;
}

/* Orders by id; cases with the same id keep their order. */
static int order(const void *left, const void *right)
{
	const struct compare_id *a = left;
	const struct compare_id *b = right;
	int ids = strcmp(a->line->id, b->line->id);

	return ids ? ids : (a->line > b->line) - (a->line < b->line);
}

static int fill(struct compare_run *run, const char *name, struct error *error)
{
	size_t n = run->result.n_cases;

	run->name = strdup(name);
	run->known = calloc(n + 1, sizeof(*run->known));
	run->sorted = calloc(n + 1, sizeof(*run->sorted));
	if (!run->name || !run->known || !run->sorted)
		return error_set_errno(error, -ENOMEM, "cannot keep the result");
	for (size_t i = 0; i < n; i++)
		run->sorted[i].line = &run->result.cases[i];
	qsort(run->sorted, n, sizeof(*run->sorted), order);
	return take_figures(run, error);
}

static bool is_same_value(double one, double other)
{
	/* Compares exactly, because a copy has the same digits. */
	return one == other || (isnan(one) && isnan(other));
}

/* Two files of the same run would show no spread. */
static bool is_same_run(const struct compare_run *one, const struct compare_run *other)
{
	if (strcmp(one->result.started, other->result.started) != 0 ||
	    strcmp(one->result.finished, other->result.finished) != 0 ||
	    one->result.n_cases != other->result.n_cases)
		return false;
	for (size_t i = 0; i < one->result.n_cases; i++) {
		const struct result_case *before = &one->result.cases[i];
		const struct result_case *now = &other->result.cases[i];

		if (strcmp(before->id, now->id) != 0)
			return false;
		/* Imported figures have few digits and may agree by chance: compare all output. */
		if (before->is_imported && !json_equal(before->parameters, now->parameters))
			return false;
		for (size_t j = 0; j < COMPARE_FIGURES; j++)
			if (!is_same_value(one->known[i].values[j], other->known[i].values[j]))
				return false;
	}
	return true;
}

/* Checks one side only: comparing a run with itself is reported as such. */
static int check_twice(const struct compare_runs *side, const struct compare_run *run,
		       struct error *error)
{
	for (size_t i = 0; i < side->count; i++)
		if (is_same_run(&side->runs[i], run))
			return error_set(error, -EEXIST, "%.80s and %.80s are the same run",
					 side->runs[i].name, run->name);
	return 0;
}

bool compare_is_itself(const struct comparison *comparison)
{
	const struct compare_runs *base = &comparison->sides[COMPARE_BASE];
	const struct compare_runs *now = &comparison->sides[COMPARE_NEW];

	return base->count == 1 && now->count == 1 && is_same_run(base->runs, now->runs);
}

int compare_check_sides(const struct comparison *comparison, struct error *error)
{
	const struct compare_runs *base = &comparison->sides[COMPARE_BASE];
	const struct compare_runs *now = &comparison->sides[COMPARE_NEW];

	if (base->count < 2 && now->count < 2)
		return 0;
	for (size_t i = 0; i < base->count; i++)
		for (size_t j = 0; j < now->count; j++)
			if (is_same_run(&base->runs[i], &now->runs[j]))
				return error_set(error, -EEXIST,
						 "%.80s of BASE and %.80s of NEW are the same run",
						 base->runs[i].name, now->runs[j].name);
	return 0;
}

/* Checks the run against every other one, since some runs may not record their setup. */
static int check_alike(struct comparison *comparison, const struct compare_run *run,
		       struct error *error)
{
	const struct same_setup now = {&run->result, run->name};
	struct error found = {0};

	for (enum compare_side side = 0; side < COMPARE_SIDES; side++) {
		const struct compare_runs *runs = &comparison->sides[side];

		for (size_t i = 0; i < runs->count && !found.code; i++)
			same_setup_check(
				&(struct same_setup){&runs->runs[i].result, runs->runs[i].name},
				&now, &found);
	}
	if (!found.code)
		return 0;
	if (!comparison->is_forced)
		return error_set(error, found.code, "%s", found.text);
	if (!comparison->difference[0])
		memcpy(comparison->difference, found.text, sizeof(found.text));
	return 0;
}

static void close_run(struct compare_run *run)
{
	result_finish(&run->result);
	free(run->name);
	free(run->known);
	free(run->sorted);
}

int compare_add(struct comparison *comparison, enum compare_side side, struct result *result,
		const char *name, struct error *error)
{
	struct compare_runs *runs = &comparison->sides[side];
	struct compare_run run = {.result = *result};
	struct compare_run *grown;
	int code;

	*result = (struct result){0};
	code = fill(&run, name, error);
	if (!code)
		code = check_twice(runs, &run, error);
	if (!code)
		code = check_alike(comparison, &run, error);
	if (!code) {
		grown = reallocarray(runs->runs, runs->count + 1, sizeof(*grown));
		if (grown) {
			runs->runs = grown;
			grown[runs->count++] = run;
			return 0;
		}
		code = error_set_errno(error, -ENOMEM, "cannot keep the result");
	}
	close_run(&run);
	return code;
}

bool compare_has_passed(const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->n_gaps; i++)
		if (!comparison->gaps[i].is_excused)
			return false;
	return !comparison->n_unknown && verdict_worst(comparison->n_verdicts) <= VERDICT_SAME;
}

/* ISO 8601 sorts as text. */
static bool is_before(const struct compare_runs *runs, const struct compare_runs *others)
{
	for (size_t i = 0; i < runs->count; i++)
		for (size_t j = 0; j < others->count; j++)
			if (strcmp(runs->runs[i].result.finished, others->runs[j].result.started) >
			    0)
				return false;
	return true;
}

bool compare_is_apart(const struct comparison *comparison)
{
	const struct compare_runs *sides = comparison->sides;

	/* The start and end times of imported results are not reliable. */
	for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
		for (size_t i = 0; i < sides[side].count; i++)
			if (sides[side].runs[i].result.imported)
				return false;
	return is_before(&sides[COMPARE_BASE], &sides[COMPARE_NEW]) ||
	       is_before(&sides[COMPARE_NEW], &sides[COMPARE_BASE]);
}

void compare_close(struct comparison *comparison)
{
	for (size_t i = 0; i < COMPARE_SIDES; i++) {
		for (size_t j = 0; j < comparison->sides[i].count; j++)
			close_run(&comparison->sides[i].runs[j]);
		free(comparison->sides[i].runs);
	}
	free(comparison->cells);
	free(comparison->gaps);
	free(comparison->unknown);
	*comparison = (struct comparison){0};
}
