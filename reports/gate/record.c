/* SPDX-License-Identifier: MIT */
#include "reports/gate/record.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/base/hist.h"
#include "reports/io/json_make.h"
#include "reports/stats/sign_test.h"

/* Occasional failed trials are attributed to the machine, and repeated. */
#define FAILURES_MOST 0.1
/* A figure must be worse twice, each time at VERDICT_LEVEL. */
#define BROKEN_LEVEL (VERDICT_LEVEL * VERDICT_LEVEL)

static const struct {
	const char *name;
	const struct compared_figure *figure;
} figures[GATE_FIGURES] = {
	[GATE_MEDIAN] = {"p50", &compared_figure_median},
	[GATE_TAIL] = {"p99", &compared_figure_tail  },
	[GATE_BANDWIDTH] = {"bw",  &compared_figure_bytes },
};

const char *gate_figure_name(enum gate_figure figure)
{
	return figures[figure].name;
}

const struct compared_figure *gate_figure(enum gate_figure figure)
{
	return figures[figure].figure;
}

enum gate_figure gate_first_figure(const struct gate_case *line)
{
	return line->is_bandwidth ? GATE_BANDWIDTH : GATE_MEDIAN;
}

void gate_note(struct gate_record *gate, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	json_make_append(&gate->notes, format, values);
	va_end(values);
}

static int reserve(double **values, size_t before, size_t count)
{
	double *grown = reallocarray(*values, count + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	*values = grown;
	for (size_t i = before; i < count; i++)
		grown[i] = (double)NAN;
	return 0;
}

int gate_reserve(struct gate_record *gate, size_t n_rounds, struct error *error)
{
	size_t before = gate->n_rounds + gate->n_again;
	struct gate_round *grown = reallocarray(gate->rounds, n_rounds + 1, sizeof(*grown));
	int code = grown ? 0 : -ENOMEM;

	if (grown) {
		gate->rounds = grown;
		for (size_t i = before; i < n_rounds; i++)
			grown[i] = (struct gate_round){0};
	}
	for (size_t i = 0; i < gate->n_cases && !code; i++)
		for (size_t j = 0; j < GATE_FIGURES && !code; j++)
			for (enum gate_side side = 0; side < GATE_SIDES && !code; side++)
				code = reserve(&gate->cases[i].figures[j].values[side], before,
					       n_rounds);
	return code ? error_set_errno(error, code, "cannot keep %zu pairs of runs", n_rounds) : 0;
}

static bool is_known(const struct gate_values *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!isnan(values->values[GATE_BASE][i]) && !isnan(values->values[GATE_HEAD][i]))
			return true;
	return false;
}

/* Returns the coarsest relative step of the values: the histogram bin or the clock step. */
static double resolution_of(const struct gate_case *line, const struct gate_values *values,
			    size_t count)
{
	double coarsest = 0;

	for (size_t i = 0; i < count; i++) {
		double value = values->values[GATE_BASE][i];
		size_t bin = value > 0 ? hist_index((uint64_t)fmin(value, 1e18)) : HIST_BINS;
		double step = line->resolution_ns;

		if (bin >= HIST_BINS)
			continue;
		step = fmax(step, (double)(hist_high(bin) - hist_low(bin)));
		coarsest = fmax(coarsest, step / value);
	}
	return coarsest;
}

/* Returns the largest number of failures to tolerate; at least one. */
static double few_of(size_t all, double most)
{
	return fmax(1, most * (double)all);
}

static bool is_many(size_t some, size_t all, double most)
{
	return (double)some > few_of(all, most);
}

size_t gate_due_most(size_t asked)
{
	return asked + (size_t)few_of(asked, FAILURES_MOST);
}

/* Returns the number of pairs of runs beyond those requested. */
static size_t spare_of(const struct gate_record *gate, bool is_again, size_t count)
{
	size_t asked = gate->asked + (is_again ? gate->more_again : gate->more_first);

	return gate->asked && count > asked ? count - asked : 0;
}

size_t gate_spare(const struct gate_record *gate, bool is_again)
{
	return spare_of(gate, is_again, is_again ? gate->n_again : gate->n_rounds);
}

/* Whether too many trials failed. The spare pairs do not raise the limit. */
static bool fails(const struct gate_record *gate, const struct gate_case *line, enum gate_side side)
{
	return is_many(line->failures[side],
		       line->trials[side] - spare_of(gate, false, line->trials[side]),
		       FAILURES_MOST);
}

static void describe_failures(const struct gate_case *line, enum gate_side side,
			      char reason[static 160])
{
	snprintf(reason, 160, "fails in %zu of %zu runs of the %s: %.90s", line->failures[side],
		 line->trials[side], gate_side_name(side), line->errors[side]);
}

/*
 * Equal losses on both sides are a property of the path, and the spread of the pairs includes their
 * noise: Soft-RoCE rarely works without losses. More losses on the base make the head look better
 * than it is.
 */
static bool is_disturbed(const struct gate_record *gate, const struct gate_case *line)
{
	size_t base = line->troubled[GATE_BASE];
	size_t both = base + line->troubled[GATE_HEAD];

	return is_many(base, line->trials[GATE_BASE], FAILURES_MOST) &&
	       (double)gate->n_cases * sign_test_chance(base, both) <= VERDICT_LEVEL;
}

static bool has_lost_case(const struct gate_case *line, enum gate_side side, size_t round)
{
	return isnan(line->figures[gate_first_figure(line)].values[side][round]);
}

static bool has_taken_part(const struct gate_record *gate, size_t number, size_t round)
{
	return round < gate->n_rounds ? round < gate->cases[number].n_first
				      : gate_has_failed(gate, number);
}

static bool has_lost(const struct gate_record *gate, enum gate_side side, size_t round)
{
	for (size_t i = 0; i < gate->n_cases; i++)
		if (has_taken_part(gate, i, round) && has_lost_case(&gate->cases[i], side, round))
			return true;
	return false;
}

static bool has_lost_any(const struct gate_record *gate, size_t round)
{
	return has_lost(gate, GATE_BASE, round) || has_lost(gate, GATE_HEAD, round);
}

size_t gate_add_round(struct gate_record *gate, bool is_again, size_t due)
{
	size_t round = gate->n_rounds + gate->n_again;
	size_t most = gate_due_most(gate->asked + gate->more_again);

	for (size_t i = 0; i < gate->n_cases && !is_again; i++)
		gate->cases[i].n_first += gate_takes_part(gate, false, i);
	(*(is_again ? &gate->n_again : &gate->n_rounds))++;
	/* Additional pairs are not replaced. */
	if (!is_again && gate->more_first)
		return due;
	return due + (has_lost_any(gate, round) && due < most);
}

/* A case that has sat out a pair stays out, so that its pairs have no gap. */
static size_t count_unclear(const struct gate_record *gate, const struct gate_case *line)
{
	size_t count = 0;

	for (size_t i = 0; i < gate->n_cells && line->n_first == gate->n_rounds; i++)
		count += gate->cells[i].id == line->id &&
			 gate->cells[i].verdict == VERDICT_UNCLEAR && !gate->cells[i].has_failed;
	return count;
}

bool gate_takes_part(const struct gate_record *gate, bool is_again, size_t number)
{
	if (is_again)
		return gate_has_failed(gate, number);
	return !gate->n_cells || count_unclear(gate, &gate->cases[number]) > 0;
}

size_t gate_count_unclear(const struct gate_record *gate)
{
	size_t count = 0;

	for (size_t i = 0; i < gate->n_cases; i++)
		count += count_unclear(gate, &gate->cases[i]);
	return count;
}

size_t gate_again_due(const struct gate_record *gate)
{
	size_t due = gate->asked;

	for (size_t i = 0; i < gate->n_cases && gate->more_first; i++)
		if (gate_has_failed(gate, i) && gate->cases[i].n_first > due)
			due = gate->cases[i].n_first;
	return due;
}

/*
 * Returns the number of pairs of runs to judge. If too many of them failed, the spare ones do not
 * count: otherwise every case would reach its twelve pairs, whatever fails.
 */
static size_t count_judged(const struct gate_record *gate, bool is_again)
{
	size_t from = is_again ? gate->n_rounds : 0;
	size_t count = is_again ? gate->n_again : gate->n_rounds;
	size_t asked = count - gate_spare(gate, is_again);
	size_t lost = 0;

	for (size_t i = from; i < from + count; i++)
		lost += has_lost_any(gate, i);
	return is_many(lost, asked, FAILURES_MOST) ? asked : count;
}

/*
 * Tests the pairs in which only one side fails. If the sides were equal, that side would be the
 * head in half of them, no matter which or how many cases fail.
 */
static bool is_head_broken(const struct gate_record *gate, size_t from, size_t end)
{
	size_t alone[GATE_SIDES] = {0};

	for (size_t i = from; i < end; i++) {
		bool base = has_lost(gate, GATE_BASE, i);
		bool head = has_lost(gate, GATE_HEAD, i);

		alone[GATE_BASE] += base && !head;
		alone[GATE_HEAD] += head && !base;
	}
	return sign_test_chance(alone[GATE_HEAD], alone[GATE_BASE] + alone[GATE_HEAD]) <=
	       BROKEN_LEVEL;
}

/* Returns how many more trials failed on the head than on the base. */
static double surplus(const struct gate_case *line)
{
	return (double)line->failures[GATE_HEAD] - (double)line->failures[GATE_BASE];
}

/*
 * Whether this case shows that the head is broken: it fails often, or more often than on the base,
 * or no other case has more additional failures on the head.
 */
static bool shows_broken_head(const struct gate_record *gate, const struct gate_case *line)
{
	size_t head = line->failures[GATE_HEAD];
	const struct gate_case *most = gate->cases;

	for (size_t i = 1; i < gate->n_cases; i++)
		if (surplus(&gate->cases[i]) > surplus(most))
			most = &gate->cases[i];
	return line == most || fails(gate, line, GATE_HEAD) ||
	       sign_test_chance(head, line->failures[GATE_BASE] + head) <= VERDICT_LEVEL;
}

/*
 * Failures on the head alone are a regression unless they may be chance. Other frequent failures,
 * failures on the base, and losses invalidate the cell.
 */
static void find_fault(const struct gate_record *gate, const struct gate_case *line, bool is_broken,
		       struct judge_cell *cell, char reason[static 160])
{
	reason[0] = '\0';
	if (fails(gate, line, GATE_BASE)) {
		describe_failures(line, GATE_BASE, reason);
		cell->fault = reason;
	} else if (is_broken && shows_broken_head(gate, line)) {
		describe_failures(line, GATE_HEAD, reason);
		cell->broken = reason;
	} else if (fails(gate, line, GATE_HEAD)) {
		describe_failures(line, GATE_HEAD, reason);
		cell->fault = reason;
	} else if (is_disturbed(gate, line)) {
		snprintf(reason, 160,
			 "messages were lost and retransmitted in %zu of %zu runs of the base, and "
			 "in %zu of the head",
			 line->troubled[GATE_BASE], line->trials[GATE_BASE],
			 line->troubled[GATE_HEAD]);
		cell->fault = reason;
	}
}

static bool is_gated(const struct gate_record *gate, const struct gate_case *line,
		     enum gate_figure figure)
{
	if (isnan(gate->floors[figure]) || line->is_bandwidth != (figure == GATE_BANDWIDTH))
		return false;
	/* If no run has a p99, there are too few messages for one, which is not a fault. */
	return figure != GATE_TAIL || is_known(&line->figures[figure], gate->n_rounds);
}

static void add_cell(struct gate_record *gate, const struct gate_case *line,
		     enum gate_figure figure, size_t n_judged, bool is_broken)
{
	const struct gate_values *values = &line->figures[figure];
	struct judge_cell *cell = &gate->cells[gate->n_cells];

	*cell = (struct judge_cell){
		.id = line->id,
		.figure = figures[figure].figure,
		.threshold = gate->floors[figure],
		.rounds = {{values->values[GATE_BASE], values->values[GATE_HEAD]},
			   n_judged < line->n_first ? n_judged : line->n_first},
	};
	if (figure != GATE_BANDWIDTH)
		cell->resolution = resolution_of(line, values, gate->n_rounds);
	find_fault(gate, line, is_broken, cell, gate->reasons[gate->n_cells]);
	gate->n_cells++;
}

int gate_judge(struct gate_record *gate, struct error *error)
{
	bool is_broken = is_head_broken(gate, 0, gate->n_rounds);
	size_t n_judged = count_judged(gate, false);

	free(gate->cells);
	free(gate->reasons);
	gate->n_cells = 0;
	gate->cells = calloc(gate->n_cases * GATE_FIGURES + 1, sizeof(*gate->cells));
	gate->reasons = calloc(gate->n_cases * GATE_FIGURES + 1, sizeof(*gate->reasons));
	if (!gate->cells || !gate->reasons)
		return error_set_errno(error, -ENOMEM, "cannot judge %zu cases", gate->n_cases);
	for (size_t i = 0; i < gate->n_cases; i++)
		for (enum gate_figure figure = 0; figure < GATE_FIGURES; figure++)
			if (is_gated(gate, &gate->cases[i], figure))
				add_cell(gate, &gate->cases[i], figure, n_judged, is_broken);
	return judge_figure(gate->cells, gate->n_cells, error);
}

bool gate_has_failed(const struct gate_record *gate, size_t number)
{
	for (size_t i = 0; i < gate->n_cells; i++)
		if (gate->cells[i].id == gate->cases[number].id && gate->cells[i].has_failed)
			return true;
	return false;
}

static const struct gate_case *line_of(const struct gate_record *gate,
				       const struct judge_cell *cell)
{
	const struct gate_case *line = gate->cases;

	while (line->id != cell->id)
		line++;
	return line;
}

static const struct gate_values *values_of(const struct gate_record *gate,
					   const struct judge_cell *cell)
{
	enum gate_figure figure = 0;

	while (figures[figure].figure != cell->figure)
		figure++;
	return &line_of(gate, cell)->figures[figure];
}

static size_t count_lost_again(const struct gate_record *gate, const struct gate_case *line,
			       enum gate_side side)
{
	size_t count = 0;

	for (size_t i = gate->n_rounds; i < gate->n_rounds + gate->n_again; i++)
		count += has_lost_case(line, side, i);
	return count;
}

/* Finds a case that was worse at first and fails when it is run again, on the head alone. */
static void find_broken_again(const struct gate_record *gate, struct judge_cell *cell,
			      char reason[static 160])
{
	const struct gate_case *line = line_of(gate, cell);
	size_t lost = count_lost_again(gate, line, GATE_HEAD);
	size_t all = gate->n_again - gate_spare(gate, true);

	if (!cell->has_failed || !is_many(lost, all, FAILURES_MOST) ||
	    is_many(count_lost_again(gate, line, GATE_BASE), all, FAILURES_MOST))
		return;
	snprintf(reason, 160, "worse at first, then failed in %zu of %zu pairs of runs: %.70s",
		 lost, gate->n_again, line->errors[GATE_HEAD]);
	cell->broken = reason;
}

int gate_confirm(struct gate_record *gate, struct error *error)
{
	bool is_broken = is_head_broken(gate, gate->n_rounds, gate->n_rounds + gate->n_again);
	size_t n_judged = count_judged(gate, true);

	for (size_t i = 0; i < gate->n_cells; i++) {
		struct judge_cell *cell = &gate->cells[i];
		const struct gate_values *values = values_of(gate, cell);

		/* Growing may have moved the arrays. */
		for (enum gate_side side = 0; side < GATE_SIDES; side++) {
			cell->rounds.values[side] = values->values[side];
			cell->again.values[side] = values->values[side] + gate->n_rounds;
		}
		cell->again.count = cell->has_failed ? n_judged : 0;
		if (is_broken)
			find_broken_again(gate, cell, gate->reasons[i]);
	}
	return judge_confirm(gate->cells, gate->n_cells, error);
}

enum verdict gate_end(const struct gate_record *gate)
{
	size_t counts[VERDICTS] = {0};

	for (size_t i = 0; i < gate->n_cells; i++)
		counts[gate_verdict(gate, &gate->cells[i])]++;
	return gate->invalid[0] ? VERDICT_INVALID : verdict_worst(counts);
}

enum verdict gate_verdict(const struct gate_record *gate, const struct judge_cell *cell)
{
	return gate->invalid[0] ? VERDICT_INVALID : cell->verdict;
}

void gate_close(struct gate_record *gate)
{
	for (size_t i = 0; i < gate->n_cases; i++)
		for (size_t j = 0; j < GATE_FIGURES; j++)
			for (enum gate_side side = 0; side < GATE_SIDES; side++)
				free(gate->cases[i].figures[j].values[side]);
	for (enum gate_side side = 0; side < GATE_SIDES; side++) {
		free(gate->sides[side].words);
		json_decref(gate->sides[side].ends);
	}
	free(gate->cases);
	free(gate->rounds);
	free(gate->cells);
	free(gate->reasons);
	json_decref(gate->plan);
	json_decref(gate->notes);
	*gate = (struct gate_record){0};
}
