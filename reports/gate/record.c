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
#include "reports/stats/sign_test.h"

/* Of an arm's trials: one that fails now and then is a machine's, and there are others. */
#define FAILURES_MOST 0.1
/* A figure has to be worse at its level twice. */
#define BROKEN_LEVEL (DUEL_LEVEL * DUEL_LEVEL)
/* Of the rounds' ratios: where they differ by more, their median is another one each time. */
#define SPREAD_MOST 0.5

static const struct {
	const char *name;
	const struct figure *figure;
	double spread_most;
} figures[BOUT_FIGURES] = {
	[BOUT_MEDIAN] = {"p50", &figure_median, SPREAD_MOST},
 /* A few messages of each trial: it is what it is, and has wide bounds. */
	[BOUT_TAIL] = {"p99", &figure_tail,   0          },
	[BOUT_BANDWIDTH] = {"bw",  &figure_bytes,  SPREAD_MOST},
};

const char *bout_figure_name(enum bout_figure figure)
{
	return figures[figure].name;
}

const struct figure *bout_figure(enum bout_figure figure)
{
	return figures[figure].figure;
}

enum bout_figure bout_first_figure(const struct bout_case *line)
{
	return line->is_bandwidth ? BOUT_BANDWIDTH : BOUT_MEDIAN;
}

const char *bout_end_name(enum bout_end end)
{
	static const char *const names[] = {
		[BOUT_PASSED] = "PASSED",
		[BOUT_REGRESSED] = "REGRESSED",
		[BOUT_INVALID] = "INVALID",
	};

	return names[end];
}

void bout_note(struct bout *bout, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (!bout->notes)
		bout->notes = json_array();
	json_array_append_new(bout->notes, json_string(text));
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

int bout_reserve(struct bout *bout, size_t n_rounds, struct error *error)
{
	size_t before = bout->n_rounds + bout->n_again;
	struct bout_round *grown = reallocarray(bout->rounds, n_rounds + 1, sizeof(*grown));
	int code = grown ? 0 : -ENOMEM;

	if (grown) {
		bout->rounds = grown;
		for (size_t i = before; i < n_rounds; i++)
			grown[i] = (struct bout_round){0};
	}
	for (size_t i = 0; i < bout->n_cases && !code; i++)
		for (size_t j = 0; j < BOUT_FIGURES && !code; j++)
			for (enum duel_arm arm = 0; arm < DUEL_ARMS && !code; arm++)
				code = reserve(&bout->cases[i].figures[j].values[arm], before,
					       n_rounds);
	return code ? error_set_errno(error, code, "cannot keep %zu rounds", n_rounds) : 0;
}

static bool is_known(const struct bout_values *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!isnan(values->values[DUEL_BASE][i]) && !isnan(values->values[DUEL_HEAD][i]))
			return true;
	return false;
}

/* Of the histogram's bin that it is in, and the clock's step. */
static double resolution_of(const struct bout_case *line, const struct bout_values *values,
			    size_t count)
{
	double coarsest = 0;

	for (size_t i = 0; i < count; i++) {
		double value = values->values[DUEL_BASE][i];
		size_t bin = value > 0 ? hist_index((uint64_t)fmin(value, 1e18)) : HIST_BINS;
		double step = line->resolution_ns;

		if (bin >= HIST_BINS)
			continue;
		step = fmax(step, (double)(hist_high(bin) - hist_low(bin)));
		coarsest = fmax(coarsest, step / value);
	}
	return coarsest;
}

/* So many of all are few. */
static double few_of(size_t all, double most)
{
	return fmax(1, most * (double)all);
}

static bool is_many(size_t some, size_t all, double most)
{
	return (double)some > few_of(all, most);
}

size_t bout_due_most(size_t asked)
{
	return asked + (size_t)few_of(asked, FAILURES_MOST);
}

size_t bout_more(const struct bout *bout, size_t count)
{
	return bout->asked && count > bout->asked ? count - bout->asked : 0;
}

/* What there is one more round for has failed all the same. */
static bool fails(const struct bout *bout, const struct bout_case *line, enum duel_arm arm)
{
	return is_many(line->failures[arm], line->trials[arm] - bout_more(bout, line->trials[arm]),
		       FAILURES_MOST);
}

static void tell_failures(const struct bout_case *line, enum duel_arm arm, char reason[static 160])
{
	snprintf(reason, 160, "fails in %zu of %zu rounds of the %s: %.90s", line->failures[arm],
		 line->trials[arm], duel_arm_name(arm), line->errors[arm]);
}

/*
 * Losses of both arms alike are a path's, whose noise the rounds have in them: Soft-RoCE hardly
 * goes without. What mostly meets the base makes a head look good that is not.
 */
static bool is_disturbed(const struct bout *bout, const struct bout_case *line)
{
	size_t base = line->troubled[DUEL_BASE];
	size_t both = base + line->troubled[DUEL_HEAD];

	return is_many(base, line->trials[DUEL_BASE], FAILURES_MOST) &&
	       (double)bout->n_cases * sign_chance(base, both) <= DUEL_LEVEL;
}

static bool has_lost_case(const struct bout_case *line, enum duel_arm arm, size_t round)
{
	return isnan(line->figures[bout_first_figure(line)].values[arm][round]);
}

/* The second time, there is only what had failed. */
static bool has_lost(const struct bout *bout, enum duel_arm arm, size_t round)
{
	for (size_t i = 0; i < bout->n_cases; i++)
		if ((round < bout->n_rounds || bout_has_failed(bout, i)) &&
		    has_lost_case(&bout->cases[i], arm, round))
			return true;
	return false;
}

static bool has_lost_any(const struct bout *bout, size_t round)
{
	return has_lost(bout, DUEL_BASE, round) || has_lost(bout, DUEL_HEAD, round);
}

size_t bout_add_round(struct bout *bout, bool is_again, size_t due)
{
	size_t round = bout->n_rounds + bout->n_again;

	(*(is_again ? &bout->n_again : &bout->n_rounds))++;
	return due + (has_lost_any(bout, round) && due < bout_due_most(bout->asked));
}

/*
 * How many rounds are judged by, of those from one on. Where more failed than may, some case or
 * other, none is there for another one: each case would have its twelve, whatever fails.
 */
static size_t count_judged(const struct bout *bout, size_t from, size_t count)
{
	size_t asked = count - bout_more(bout, count);
	size_t lost = 0;

	for (size_t i = from; i < from + count; i++)
		lost += has_lost_any(bout, i);
	return is_many(lost, asked, FAILURES_MOST) ? asked : count;
}

/*
 * Were both arms alike, a round in which only one of them fails would be the head's as often
 * as the base's, whatever case it is and however many of them at once.
 */
static bool is_head_broken(const struct bout *bout, size_t from, size_t end)
{
	size_t alone[DUEL_ARMS] = {0};

	for (size_t i = from; i < end; i++) {
		bool base = has_lost(bout, DUEL_BASE, i);
		bool head = has_lost(bout, DUEL_HEAD, i);

		alone[DUEL_BASE] += base && !head;
		alone[DUEL_HEAD] += head && !base;
	}
	return sign_chance(alone[DUEL_HEAD], alone[DUEL_BASE] + alone[DUEL_HEAD]) <= BROKEN_LEVEL;
}

/* How many more of the trials fail at the head. */
static double surplus(const struct bout_case *line)
{
	return (double)line->failures[DUEL_HEAD] - (double)line->failures[DUEL_BASE];
}

/*
 * Of a head that is broken, whether this case is one of those by which it is. Where each fails
 * seldom, it is the one that does most often.
 */
static bool is_part_of_it(const struct bout *bout, const struct bout_case *line)
{
	size_t head = line->failures[DUEL_HEAD];
	const struct bout_case *most = bout->cases;

	for (size_t i = 1; i < bout->n_cases; i++)
		if (surplus(&bout->cases[i]) > surplus(most))
			most = &bout->cases[i];
	return line == most || fails(bout, line, DUEL_HEAD) ||
	       sign_chance(head, line->failures[DUEL_BASE] + head) <= DUEL_LEVEL;
}

/*
 * What fails at the head alone is worse, once that is no chance; what fails so often otherwise,
 * or is disturbed, or fails at the base, says nothing.
 */
static void find_fault(const struct bout *bout, const struct bout_case *line, bool is_broken,
		       struct duel_cell *cell, char reason[static 160])
{
	reason[0] = '\0';
	if (fails(bout, line, DUEL_BASE)) {
		tell_failures(line, DUEL_BASE, reason);
		cell->fault = reason;
	} else if (is_broken && is_part_of_it(bout, line)) {
		tell_failures(line, DUEL_HEAD, reason);
		cell->broken = reason;
	} else if (fails(bout, line, DUEL_HEAD)) {
		tell_failures(line, DUEL_HEAD, reason);
		cell->fault = reason;
	} else if (is_disturbed(bout, line)) {
		snprintf(reason, 160,
			 "messages were lost and sent again in %zu of %zu rounds of the base, and "
			 "in %zu of the head",
			 line->troubled[DUEL_BASE], line->trials[DUEL_BASE],
			 line->troubled[DUEL_HEAD]);
		cell->fault = reason;
	}
}

static bool is_gated(const struct bout *bout, const struct bout_case *line, enum bout_figure figure)
{
	if (isnan(bout->floors[figure]) || line->is_bandwidth != (figure == BOUT_BANDWIDTH))
		return false;
	/* Without a single tail there are too few messages for one, which is no fault. */
	return figure != BOUT_TAIL || is_known(&line->figures[figure], bout->n_rounds);
}

static void add_cell(struct bout *bout, const struct bout_case *line, enum bout_figure figure,
		     size_t n_judged, bool is_broken)
{
	const struct bout_values *values = &line->figures[figure];
	struct duel_cell *cell = &bout->cells[bout->n_cells];

	*cell = (struct duel_cell){
		.id = line->id,
		.figure = figures[figure].figure,
		.floor = bout->floors[figure],
		.spread_most = figures[figure].spread_most,
		.rounds = {{values->values[DUEL_BASE], values->values[DUEL_HEAD]}, n_judged},
	};
	if (figure != BOUT_BANDWIDTH)
		cell->resolution = resolution_of(line, values, bout->n_rounds);
	find_fault(bout, line, is_broken, cell, bout->reasons[bout->n_cells]);
	bout->n_cells++;
}

int bout_judge(struct bout *bout, struct error *error)
{
	bool is_broken = is_head_broken(bout, 0, bout->n_rounds);
	size_t n_judged = count_judged(bout, 0, bout->n_rounds);

	free(bout->cells);
	free(bout->reasons);
	bout->n_cells = 0;
	bout->cells = calloc(bout->n_cases * BOUT_FIGURES + 1, sizeof(*bout->cells));
	bout->reasons = calloc(bout->n_cases * BOUT_FIGURES + 1, sizeof(*bout->reasons));
	if (!bout->cells || !bout->reasons)
		return error_set_errno(error, -ENOMEM, "cannot judge %zu cases", bout->n_cases);
	for (size_t i = 0; i < bout->n_cases; i++)
		for (enum bout_figure figure = 0; figure < BOUT_FIGURES; figure++)
			if (is_gated(bout, &bout->cases[i], figure))
				add_cell(bout, &bout->cases[i], figure, n_judged, is_broken);
	return duel_judge(bout->cells, bout->n_cells, error);
}

bool bout_has_failed(const struct bout *bout, size_t number)
{
	for (size_t i = 0; i < bout->n_cells; i++)
		if (bout->cells[i].id == bout->cases[number].id && bout->cells[i].has_failed)
			return true;
	return false;
}

static const struct bout_case *line_of(const struct bout *bout, const struct duel_cell *cell)
{
	const struct bout_case *line = bout->cases;

	while (line->id != cell->id)
		line++;
	return line;
}

static const struct bout_values *values_of(const struct bout *bout, const struct duel_cell *cell)
{
	enum bout_figure figure = 0;

	while (figures[figure].figure != cell->figure)
		figure++;
	return &line_of(bout, cell)->figures[figure];
}

static size_t count_lost_again(const struct bout *bout, const struct bout_case *line,
			       enum duel_arm arm)
{
	size_t count = 0;

	for (size_t i = bout->n_rounds; i < bout->n_rounds + bout->n_again; i++)
		count += has_lost_case(line, arm, i);
	return count;
}

/* What was worse at first, and fails when it is run again, at the head alone. */
static void find_broken_again(const struct bout *bout, struct duel_cell *cell,
			      char reason[static 160])
{
	const struct bout_case *line = line_of(bout, cell);
	size_t lost = count_lost_again(bout, line, DUEL_HEAD);
	size_t all = bout->n_again - bout_more(bout, bout->n_again);

	if (!cell->has_failed || !is_many(lost, all, FAILURES_MOST) ||
	    is_many(count_lost_again(bout, line, DUEL_BASE), all, FAILURES_MOST))
		return;
	snprintf(reason, 160,
		 "worse than the floor at first, and fails in %zu of %zu rounds: %.70s", lost,
		 bout->n_again, line->errors[DUEL_HEAD]);
	cell->broken = reason;
}

int bout_confirm(struct bout *bout, struct error *error)
{
	bool is_broken = is_head_broken(bout, bout->n_rounds, bout->n_rounds + bout->n_again);
	size_t n_judged = count_judged(bout, bout->n_rounds, bout->n_again);

	for (size_t i = 0; i < bout->n_cells; i++) {
		struct duel_cell *cell = &bout->cells[i];
		const struct bout_values *values = values_of(bout, cell);

		/* Room for more rounds may have moved those that there were. */
		for (enum duel_arm arm = 0; arm < DUEL_ARMS; arm++) {
			cell->rounds.values[arm] = values->values[arm];
			cell->again.values[arm] = values->values[arm] + bout->n_rounds;
		}
		cell->again.count = cell->has_failed ? n_judged : 0;
		if (is_broken)
			find_broken_again(bout, cell, bout->reasons[i]);
	}
	return duel_confirm(bout->cells, bout->n_cells, error);
}

enum bout_end bout_end(const struct bout *bout)
{
	enum duel_verdict whole = duel_whole(bout->cells, bout->n_cells);

	if (bout->invalid[0] || !bout->n_cells)
		return BOUT_INVALID;
	if (whole == DUEL_REGRESSED)
		return BOUT_REGRESSED;
	return whole == DUEL_INVALID ? BOUT_INVALID : BOUT_PASSED;
}

enum duel_verdict bout_verdict(const struct bout *bout, const struct duel_cell *cell)
{
	return bout->invalid[0] ? DUEL_INVALID : cell->verdict;
}

void bout_close(struct bout *bout)
{
	for (size_t i = 0; i < bout->n_cases; i++)
		for (size_t j = 0; j < BOUT_FIGURES; j++)
			for (enum duel_arm arm = 0; arm < DUEL_ARMS; arm++)
				free(bout->cases[i].figures[j].values[arm]);
	for (enum duel_arm arm = 0; arm < DUEL_ARMS; arm++) {
		free(bout->arms[arm].words);
		json_decref(bout->arms[arm].ends);
	}
	free(bout->cases);
	free(bout->rounds);
	free(bout->cells);
	free(bout->reasons);
	json_decref(bout->plan);
	json_decref(bout->notes);
	*bout = (struct bout){0};
}
