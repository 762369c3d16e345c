/* SPDX-License-Identifier: MIT */
#include "reports/gate/judge.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/compiler.h"
#include "reports/stats/holm.h"
#include "reports/stats/median.h"
#include "reports/stats/sign_test.h"

/* Of either bound that is shown. */
#define BOUND_LEVEL 0.01
/* Times so often the standard error is beyond what a normal distribution has above it: */
#define BOUND_ERRORS 2.3263
/* and what is found nine of ten times is so far beyond what is found at all: both times 0.8. */
#define FOUND_ERRORS 1.2816
/* The quartiles of a normal distribution are so many standard deviations apart. */
#define QUARTILES_APART 1.349
/* More rounds without any difference to the digit tell of a clock, not of the arms. */
#define TIED_MOST 0.25

const char *judge_verdict_name(enum judge_verdict verdict)
{
	static const char *const names[] = {
		[JUDGE_OK] = "OK",
		[JUDGE_IMPROVED] = "IMPROVED",
		[JUDGE_INCONCLUSIVE] = "INCONCLUSIVE",
		[JUDGE_REGRESSED] = "REGRESSED",
		[JUDGE_INVALID] = "INVALID",
	};

	return names[verdict];
}

const char *gate_side_name(enum gate_side arm)
{
	return arm == GATE_BASE ? "base" : "head";
}

double judge_worse(const struct judge_cell *cell, double ratio)
{
	return cell->figure->more_is_good ? 1 / ratio : ratio;
}

/* Room for one value of each round. */
struct scratch {
	double *logs; /* of how many times worse the head was */
	double *values;
};

static bool has_pair(const struct judge_rounds *rounds, size_t round)
{
	double base = rounds->values[GATE_BASE][round];
	double head = rounds->values[GATE_HEAD][round];

	return base > 0 && head > 0 && isfinite(base) && isfinite(head);
}

static size_t take_logs(const struct judge_cell *cell, const struct judge_rounds *rounds,
			double *logs)
{
	size_t pairs = 0;

	for (size_t i = 0; i < rounds->count; i++)
		if (has_pair(rounds, i))
			logs[pairs++] = log(judge_worse(
				cell, rounds->values[GATE_HEAD][i] / rounds->values[GATE_BASE][i]));
	median_sort(logs, pairs);
	return pairs;
}

static double median_of_arm(const struct judge_rounds *rounds, enum gate_side arm, double *values)
{
	size_t pairs = 0;

	for (size_t i = 0; i < rounds->count; i++)
		if (has_pair(rounds, i))
			values[pairs++] = rounds->values[arm][i];
	median_sort(values, pairs);
	return median_of_sorted(values, pairs);
}

/* Of sorted logs: how many are above the bound, and below it. */
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

/* As head / base again, whichever way is worse. */
static void put_bounds(struct judge_finding *finding, const struct judge_cell *cell, double low,
		       double high)
{
	finding->low = fmin(judge_worse(cell, exp(low)), judge_worse(cell, exp(high)));
	finding->high = fmax(judge_worse(cell, exp(low)), judge_worse(cell, exp(high)));
}

/*
 * What is found has all rounds but a few above the floor, so that as much is wanted as those
 * few lie below the median, and the error of that, by the interval's width as if it were
 * normal, twice over: it has to be found again. bound: the rank of either bound; n_cells: of
 * the family, of which each may be the first that has to overcome Holm's correction. NAN:
 * nothing is found by so few rounds.
 */
static double find_seen(const struct judge_cell *cell, const double *logs, size_t pairs,
			size_t bound, size_t n_cells)
{
	size_t few = sign_test_rank(pairs, JUDGE_LEVEL / (double)n_cells);
	double deviation;

	few = few < bound ? few : bound;
	if (!few)
		return (double)NAN;
	deviation = (logs[pairs - bound] - logs[bound - 1]) / (2 * BOUND_ERRORS);
	return (1 + cell->floor) *
	       exp(median_of_sorted(logs, pairs) - logs[few - 1] + FOUND_ERRORS * deviation);
}

static void gate_judge_find(const struct judge_cell *cell, const struct judge_rounds *rounds,
			    size_t n_cells, struct scratch *scratch, struct judge_finding *finding)
{
	const double *logs = scratch->logs;
	double floor = log1p(cell->floor);
	size_t pairs = take_logs(cell, rounds, scratch->logs);
	size_t rank = sign_test_rank(pairs, BOUND_LEVEL);

	*finding = (struct judge_finding){.pairs = pairs,
					  .ratio = (double)NAN,
					  .low = (double)NAN,
					  .high = (double)NAN,
					  .seen = (double)NAN,
					  .corrected = (double)NAN,
					  .corrected_better = (double)NAN,
					  .worse = 1,
					  .better = 1};
	if (!pairs)
		return;
	for (enum gate_side arm = 0; arm < GATE_SIDES; arm++)
		finding->medians[arm] = median_of_arm(rounds, arm, scratch->values);
	finding->ratio = judge_worse(cell, exp(median_of_sorted(logs, pairs)));
	finding->worse = sign_test_chance(count_above(logs, pairs, floor), pairs);
	finding->better = sign_test_chance(count_below(logs, pairs, -floor), pairs);
	finding->spread = expm1((logs[pairs - 1 - pairs / 4] - logs[pairs / 4]) / QUARTILES_APART);
	finding->tied =
		(double)(pairs - count_above(logs, pairs, 0) - count_below(logs, pairs, 0)) /
		(double)pairs;
	if (!rank)
		return;
	put_bounds(finding, cell, logs[rank - 1], logs[pairs - rank]);
	finding->seen = find_seen(cell, logs, pairs, rank, n_cells);
}

/* The worst that it may be, and the least: NAN where too few rounds have a bound. */
static double most_of(const struct judge_cell *cell, const struct judge_finding *finding)
{
	return fmax(judge_worse(cell, finding->low), judge_worse(cell, finding->high));
}

static double least_of(const struct judge_cell *cell, const struct judge_finding *finding)
{
	return fmin(judge_worse(cell, finding->low), judge_worse(cell, finding->high));
}

static bool is_undecided(const struct judge_cell *cell, const struct judge_finding *finding)
{
	double bound = 1 + cell->floor;

	return !(least_of(cell, finding) > bound) && !(most_of(cell, finding) < bound);
}

/* Why there is nothing to be judged, among so many cells; or nothing. */
static void find_invalid(struct judge_cell *cell, const struct judge_rounds *rounds,
			 const struct judge_finding *finding, size_t n_cells)
{
	if (cell->fault || cell->broken)
		snprintf(cell->why, sizeof(cell->why), "%s",
			 cell->fault ? cell->fault : cell->broken);
	else if (rounds->count < JUDGE_ROUNDS_LEAST)
		snprintf(cell->why, sizeof(cell->why),
			 "too few rounds for a verdict: %zu, where %d are the least", rounds->count,
			 JUDGE_ROUNDS_LEAST);
	else if (finding->pairs < JUDGE_ROUNDS_LEAST)
		snprintf(cell->why, sizeof(cell->why),
			 "only %zu of %zu rounds have both arms', where %d are the least",
			 finding->pairs, rounds->count, JUDGE_ROUNDS_LEAST);
	/* Not if all of them were worse. */
	else if ((double)n_cells * sign_test_chance(finding->pairs, finding->pairs) > JUDGE_LEVEL)
		snprintf(cell->why, sizeof(cell->why),
			 "%zu rounds are too few for %zu figures: more --rounds", finding->pairs,
			 n_cells);
	else if (finding->tied > TIED_MOST && cell->resolution > cell->floor)
		snprintf(cell->why, sizeof(cell->why),
			 "the clock's steps are %.0f %% of it, and %.0f %% of the rounds are equal",
			 cell->resolution * 100, finding->tied * 100);
	/* On one side of the floor they may be wherever they want. */
	else if (cell->spread_most > 0 && finding->spread > cell->spread_most &&
		 is_undecided(cell, finding))
		snprintf(
			cell->why, sizeof(cell->why),
			"too noisy: ratios of rounds differ by %.0f %%, two thirds of them by less",
			finding->spread * 100);
}

/* By Holm, over those that can be judged. */
static int correct(struct judge_cell *cells, size_t count, bool is_again, struct error *error)
{
	double *chances = calloc(2 * count + 1, sizeof(*chances));
	double *better = chances + count;
	size_t n = 0;
	int code;

	if (!chances)
		return error_set_errno(error, -ENOMEM, "cannot judge %zu cells", count);
	for (size_t i = 0; i < count; i++) {
		const struct judge_finding *finding =
			is_again ? &cells[i].confirmed : &cells[i].finding;

		if (cells[i].why[0] || (is_again && !cells[i].has_failed))
			continue;
		chances[n] = finding->worse;
		better[n++] = finding->better;
	}
	code = holm_correct(chances, n, error);
	if (!code)
		code = holm_correct(better, n, error);
	n = 0;
	for (size_t i = 0; i < count && !code; i++) {
		struct judge_finding *finding = is_again ? &cells[i].confirmed : &cells[i].finding;

		if (cells[i].why[0] || (is_again && !cells[i].has_failed))
			continue;
		finding->corrected = chances[n];
		finding->corrected_better = better[n++];
	}
	free(chances);
	return code;
}

static bool is_beyond(const struct judge_cell *cell, const struct judge_finding *finding)
{
	return finding->corrected <= JUDGE_LEVEL && least_of(cell, finding) > 1 + cell->floor;
}

/* Of what is not to be judged by its figures. */
static enum judge_verdict verdict_without(const struct judge_cell *cell)
{
	return cell->fault || !cell->broken ? JUDGE_INVALID : JUDGE_REGRESSED;
}

static enum judge_verdict gate_judge_judge(const struct judge_cell *cell)
{
	const struct judge_finding *finding = &cell->finding;
	double most = most_of(cell, finding);

	if (cell->why[0])
		return verdict_without(cell);
	if (finding->corrected_better <= JUDGE_LEVEL && most < 1 / (1 + cell->floor))
		return JUDGE_IMPROVED;
	return most < 1 + cell->floor ? JUDGE_OK : JUDGE_INCONCLUSIVE;
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
	return scratch->logs ? 0 : error_set_errno(error, -ENOMEM, "cannot judge %zu rounds", most);
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
		find_invalid(cell, &cell->rounds, &cell->finding, count);
	}
	free(scratch.logs);
	code = correct(cells, count, false, error);
	for (size_t i = 0; i < count && !code; i++) {
		cells[i].has_failed = !cells[i].why[0] && is_beyond(&cells[i], &cells[i].finding);
		cells[i].verdict = gate_judge_judge(&cells[i]);
		if (!cells[i].has_failed)
			continue;
		cells[i].verdict = JUDGE_INCONCLUSIVE;
		snprintf(cells[i].why, sizeof(cells[i].why),
			 "worse than the floor, and was not run again");
	}
	return code;
}

static void confirm(struct judge_cell *cell)
{
	if (cell->why[0]) {
		cell->verdict = verdict_without(cell);
		return;
	}
	cell->verdict = is_beyond(cell, &cell->confirmed) ? JUDGE_REGRESSED : JUDGE_INCONCLUSIVE;
	if (cell->verdict == JUDGE_INCONCLUSIVE)
		snprintf(cell->why, sizeof(cell->why),
			 "worse than the floor at first, but not when it was run again");
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
		/* So few are none: the time was over. */
		if (cell->again.count < JUDGE_ROUNDS_LEAST) {
			cell->again.count = 0;
			continue;
		}
		cell->why[0] = '\0';
		gate_judge_find(cell, &cell->again, count, &scratch, &cell->confirmed);
		find_invalid(cell, &cell->again, &cell->confirmed, 1);
	}
	free(scratch.logs);
	code = correct(cells, count, true, error);
	for (size_t i = 0; i < count && !code; i++)
		if (cells[i].has_failed && cells[i].again.count)
			confirm(&cells[i]);
	return code;
}

enum judge_verdict judge_whole(const struct judge_cell *cells, size_t count)
{
	enum judge_verdict whole = JUDGE_OK;

	for (size_t i = 0; i < count; i++) {
		if (cells[i].verdict == JUDGE_REGRESSED)
			return JUDGE_REGRESSED;
		if (cells[i].verdict == JUDGE_INVALID)
			whole = JUDGE_INVALID;
	}
	return whole;
}
