/* SPDX-License-Identifier: MIT */
#include "reports/gate/judge.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/compiler.h"
#include "reports/stats/median.h"
#include "reports/stats/sign_test.h"

/* Chance that a bound of the interval misses. A gate judges several times: see LOOKS_MOST. */
#define BOUND_LEVEL 0.01

const char *gate_side_name(enum gate_side side)
{
	return side == GATE_BASE ? "base" : "head";
}

/* Room for one value per pair of runs. */
struct scratch {
	double *logs; /* of head / base */
	double *values;
};

static bool has_pair(const struct judge_rounds *rounds, size_t round)
{
	double base = rounds->values[GATE_BASE][round];
	double head = rounds->values[GATE_HEAD][round];

	return base > 0 && head > 0 && isfinite(base) && isfinite(head);
}

static size_t take_logs(const struct judge_rounds *rounds, double *logs)
{
	size_t pairs = 0;

	for (size_t i = 0; i < rounds->count; i++)
		if (has_pair(rounds, i))
			logs[pairs++] =
				log(rounds->values[GATE_HEAD][i] / rounds->values[GATE_BASE][i]);
	median_sort(logs, pairs);
	return pairs;
}

static double median_of_side(const struct judge_rounds *rounds, enum gate_side side, double *values)
{
	size_t pairs = 0;

	for (size_t i = 0; i < rounds->count; i++)
		if (has_pair(rounds, i))
			values[pairs++] = rounds->values[side][i];
	median_sort(values, pairs);
	return median_of_sorted(values, pairs);
}

/* Counts the sorted logarithms above the bound; count_below counts those below. */
static size_t count_above(const double *logs, size_t count, double bound)
{
	size_t above = 0;

	for (size_t i = 0; i < count; i++)
		above += logs[i] > bound;
	return above;
}

static size_t count_below(const double *logs, size_t count, double bound)
{
	size_t below = 0;

	for (size_t i = 0; i < count; i++)
		below += logs[i] < bound;
	return below;
}

/*
 * Returns how far beyond the threshold the median's logarithm must be: its distance to the rank of
 * the bounds, or to the rank that Holm's first test needs, whichever is farther. NAN: there are too
 * few pairs to show anything.
 */
static double find_reach(const double *logs, size_t pairs, size_t bound, size_t n_cells)
{
	size_t few = sign_test_rank(pairs, VERDICT_LEVEL / (double)n_cells);
	double median = median_of_sorted(logs, pairs);

	few = few < bound ? few : bound;
	if (!few)
		return (double)NAN;
	return fmax(median - logs[few - 1], logs[pairs - few] - median);
}

/* Sets the chances of this many pairs beyond the threshold if the head were exactly at it. */
static void put_chances(struct judge_finding *finding, const double *logs)
{
	struct judged_ratio *judged = &finding->judged;
	double distance = log1p(verdict_distance(judged));
	double more = sign_test_chance(count_above(logs, finding->pairs, distance), finding->pairs);
	double less =
		sign_test_chance(count_below(logs, finding->pairs, -distance), finding->pairs);

	judged->worse = judged->more_is_good ? less : more;
	judged->better = judged->more_is_good ? more : less;
	finding->chance = judged->worse;
}

static void gate_judge_find(const struct judge_cell *cell, const struct judge_rounds *rounds,
			    size_t n_cells, struct scratch *scratch, struct judge_finding *finding)
{
	const double *logs = scratch->logs;
	size_t pairs = take_logs(rounds, scratch->logs);
	size_t rank = sign_test_rank(pairs, BOUND_LEVEL);
	struct judged_ratio *judged = &finding->judged;

	*finding = (struct judge_finding){
		.pairs = pairs,
		.chance = (double)NAN,
		.judged = {.ratio = (double)NAN,
			   .low = (double)NAN,
			   .high = (double)NAN,
			   .threshold = cell->threshold,
			   .resolution = cell->resolution,
			   .reach = (double)NAN,
			   .more_is_good = cell->figure->more_is_good},
	};
	if (!pairs)
		return;
	for (enum gate_side side = 0; side < GATE_SIDES; side++)
		finding->medians[side] = median_of_side(rounds, side, scratch->values);
	judged->ratio = exp(median_of_sorted(logs, pairs));
	put_chances(finding, logs);
	if (!rank)
		return;
	judged->low = exp(logs[rank - 1]);
	judged->high = exp(logs[pairs - rank]);
	judged->reach = find_reach(logs, pairs, rank, n_cells);
}

/* Writes why a cell is invalid into cell->why; empty if it is valid. */
static void find_invalid(struct judge_cell *cell, const struct judge_rounds *rounds,
			 struct judge_finding *finding)
{
	if (cell->fault || cell->broken)
		snprintf(cell->why, sizeof(cell->why), "%s",
			 cell->fault ? cell->fault : cell->broken);
	else if (rounds->count < JUDGE_ROUNDS_LEAST)
		snprintf(cell->why, sizeof(cell->why),
			 "too few pairs of runs for a verdict: %zu of %d", rounds->count,
			 JUDGE_ROUNDS_LEAST);
	else if (finding->pairs < JUDGE_ROUNDS_LEAST)
		snprintf(cell->why, sizeof(cell->why),
			 "only %zu of %zu pairs of runs have values on both sides; a verdict "
			 "needs %d",
			 finding->pairs, rounds->count, JUDGE_ROUNDS_LEAST);
	finding->judged.is_invalid = cell->why[0];
}

static bool is_judged(const struct judge_cell *cell, bool is_again)
{
	return !is_again || (cell->has_failed && cell->again.count);
}

/* Judges the first findings of all cells, or the confirmation of those that failed. */
static int judge_family(struct judge_cell *cells, size_t count, bool is_again, struct error *error)
{
	struct judged_ratio **family = calloc(count + 1, sizeof(struct judged_ratio *));
	size_t n = 0;
	int code;

	if (!family)
		return error_set_errno(error, -ENOMEM, "cannot judge %zu cells", count);
	for (size_t i = 0; i < count; i++)
		if (is_judged(&cells[i], is_again))
			family[n++] =
				is_again ? &cells[i].confirmed.judged : &cells[i].finding.judged;
	code = verdict_judge(family, n, error);
	free(family);
	return code;
}

/* Returns the verdict on a cell that cannot be judged by its figures. */
static enum verdict verdict_without(const struct judge_cell *cell)
{
	return cell->fault || !cell->broken ? VERDICT_INVALID : VERDICT_WORSE;
}

static int scratch_open(struct scratch *scratch, const struct judge_cell *cells, size_t count,
			struct error *error)
{
	size_t most = 1;

	for (size_t i = 0; i < count; i++) {
		most = cells[i].rounds.count > most ? cells[i].rounds.count : most;
		most = cells[i].again.count > most ? cells[i].again.count : most;
	}
	scratch->logs = calloc(2 * most, sizeof(*scratch->logs));
	scratch->values = scratch->logs + most;
	return scratch->logs
		       ? 0
		       : error_set_errno(error, -ENOMEM, "cannot judge %zu pairs of runs", most);
}

int judge_figure(struct judge_cell *cells, size_t count, struct error *error)
{
	struct scratch scratch;
	int code = scratch_open(&scratch, cells, count, error);

	if (code)
		return code;
	for (size_t i = 0; i < count; i++) {
		struct judge_cell *cell = &cells[i];

		cell->why[0] = '\0';
		gate_judge_find(cell, &cell->rounds, count, &scratch, &cell->finding);
		find_invalid(cell, &cell->rounds, &cell->finding);
	}
	free(scratch.logs);
	code = judge_family(cells, count, false, error);
	for (size_t i = 0; i < count && !code; i++) {
		cells[i].verdict = cells[i].why[0] ? verdict_without(&cells[i])
						   : cells[i].finding.judged.verdict;
		cells[i].has_failed = !cells[i].why[0] && cells[i].verdict == VERDICT_WORSE;
		if (!cells[i].has_failed)
			continue;
		cells[i].verdict = VERDICT_UNCLEAR;
		snprintf(cells[i].why, sizeof(cells[i].why),
			 "worse, but not confirmed by a second "
			 "measurement");
	}
	return code;
}

static void confirm(struct judge_cell *cell)
{
	if (cell->why[0]) {
		cell->verdict = verdict_without(cell);
		return;
	}
	cell->verdict =
		cell->confirmed.judged.verdict == VERDICT_WORSE ? VERDICT_WORSE : VERDICT_UNCLEAR;
	if (cell->verdict == VERDICT_UNCLEAR)
		snprintf(cell->why, sizeof(cell->why),
			 "worse at first, but not in a second measurement");
}

int judge_confirm(struct judge_cell *cells, size_t count, struct error *error)
{
	struct scratch scratch;
	int code = scratch_open(&scratch, cells, count, error);

	if (code)
		return code;
	for (size_t i = 0; i < count; i++) {
		struct judge_cell *cell = &cells[i];

		if (!cell->has_failed)
			continue;
		/* Too few pairs for a confirmation: the time limit ended it. */
		if (cell->again.count < JUDGE_ROUNDS_LEAST) {
			cell->again.count = 0;
			continue;
		}
		cell->why[0] = '\0';
		gate_judge_find(cell, &cell->again, count, &scratch, &cell->confirmed);
		find_invalid(cell, &cell->again, &cell->confirmed);
	}
	free(scratch.logs);
	code = judge_family(cells, count, true, error);
	for (size_t i = 0; i < count && !code; i++)
		if (is_judged(&cells[i], true))
			confirm(&cells[i]);
	return code;
}
