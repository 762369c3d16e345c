/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/compare/compare.h"
#include "reports/result/run_settings.h"

/* Indices of figures in values. */
enum {
	MEDIAN,
	TAIL,
	MEAN,
	BYTES,
	MESSAGES,
	CLIENT_CPU,
	SERVER_CPU,
};

/* Offered rates that differ by more are different loads. */
#define RATES_APART 0.02

#define MISSING (RESULT_SKIPPED + 1) /* follows the statuses */

/* The number of runs of a side that have no figures of a case, by the case's status there. */
struct trouble {
	size_t counts[MISSING + 1];
	const char *errors[MISSING + 1]; /* the first error of each; NULL: none */
};

struct seen {
	const struct compare_run *run;
	const struct result_case *line;
};

/* A case, and the runs that have its figures. */
struct judge {
	struct comparison *comparison;
	const struct result_case *line;
	struct seen *seen[COMPARE_SIDES]; /* room for all runs */
	double *values[COMPARE_SIDES];    /* room for all runs */
	size_t n_seen[COMPARE_SIDES];
	struct trouble trouble[COMPARE_SIDES];
};

static const struct compare_known *known_of(const struct seen *seen)
{
	return &seen->run->known[seen->line - seen->run->result.cases];
}

static int order(const void *id, const void *element)
{
	const struct compare_id *found = element;

	return strcmp(id, found->line->id);
}

/* Returns the first case with that id; NULL: none. */
static const struct result_case *compare_judge_find(const struct compare_run *run, const char *id)
{
	const struct compare_id *found =
		bsearch(id, run->sorted, run->result.n_cases, sizeof(*run->sorted), order);

	while (found && found > run->sorted && !strcmp(found[-1].line->id, id))
		found--;
	return found ? found->line : NULL;
}

static void compare_judge_look(struct judge *judge, enum compare_side side,
			       const struct compare_run *run)
{
	const struct result_case *line = compare_judge_find(run, judge->line->id);
	struct trouble *trouble = &judge->trouble[side];
	size_t what = MISSING;

	if (line && run->known[line - run->result.cases].has_figures) {
		judge->seen[side][judge->n_seen[side]++] = (struct seen){run, line};
		return;
	}
	if (line)
		what = line->status == RESULT_COMPLETE ? RESULT_INTERRUPTED : line->status;
	if (!trouble->counts[what]++)
		trouble->errors[what] = line && line->error[0] ? line->error : NULL;
}

static void find_runs(struct judge *judge)
{
	for (enum compare_side side = 0; side < COMPARE_SIDES; side++) {
		const struct compare_runs *runs = &judge->comparison->sides[side];

		judge->n_seen[side] = 0;
		judge->trouble[side] = (struct trouble){0};
		for (size_t i = 0; i < runs->count; i++)
			compare_judge_look(judge, side, &runs->runs[i]);
	}
}

/* Returns NULL and sets the error if memory runs out. */
static struct compare_gap *add_gap(struct judge *judge, struct error *error)
{
	struct comparison *comparison = judge->comparison;
	struct compare_gap *grown =
		reallocarray(comparison->gaps, comparison->n_gaps + 1, sizeof(*grown));

	if (!grown) {
		error_set_errno(error, -ENOMEM, "cannot record a missing case");
		return NULL;
	}
	comparison->gaps = grown;
	grown += comparison->n_gaps++;
	*grown = (struct compare_gap){.line = judge->line};
	return grown;
}

static int add_reason(struct judge *judge, const char *why, struct error *error)
{
	struct compare_gap *gap = add_gap(judge, error);

	if (!gap)
		return error->code;
	snprintf(gap->why, sizeof(gap->why), "%s", why);
	return 0;
}

/* "failed in 1 of 3 runs of NEW: no completion for 5 s" */
static void append_trouble(char *why, size_t size, const struct judge *judge,
			   enum compare_side side)
{
	const struct trouble *trouble = &judge->trouble[side];
	size_t n_runs = judge->comparison->sides[side].count;

	for (size_t i = 0; i <= MISSING; i++) {
		size_t length = strlen(why);
		const char *what =
			i == MISSING ? "missing" : result_status_name((enum result_status)i);
		char part[64] = "";

		if (!trouble->counts[i])
			continue;
		if (trouble->counts[i] < n_runs)
			snprintf(part, sizeof(part), "%zu of %zu runs of ", trouble->counts[i],
				 n_runs);
		else if (n_runs > 1)
			snprintf(part, sizeof(part), "all %zu runs of ", n_runs);
		snprintf(why + length, size - length, "%s%s in %s%s%s%s", length ? "; " : "", what,
			 part, compare_side_name(side), trouble->errors[i] ? ": " : "",
			 trouble->errors[i] ? trouble->errors[i] : "");
	}
}

static bool is_skipped(const struct judge *judge)
{
	for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
		if (judge->trouble[side].counts[RESULT_SKIPPED] !=
		    judge->comparison->sides[side].count)
			return false;
	return true;
}

static int record_gap(struct judge *judge, struct error *error)
{
	bool is_whole = true;
	struct compare_gap *gap;

	for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
		is_whole = is_whole && judge->n_seen[side] == judge->comparison->sides[side].count;
	if (is_whole)
		return 0;
	gap = add_gap(judge, error);
	if (!gap)
		return error->code;
	gap->is_excused = is_skipped(judge);
	for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
		append_trouble(gap->why, sizeof(gap->why), judge, side);
	return 0;
}

/* Appends the two values to the text. */
static void append_parameter(const char *name, const json_t *before, const json_t *now,
			     char text[static 256])
{
	size_t length = strlen(text);
	char *values[] = {json_dumps(before, JSON_ENCODE_ANY | JSON_ENSURE_ASCII),
			  json_dumps(now, JSON_ENCODE_ANY | JSON_ENSURE_ASCII)};

	snprintf(text + length, 256 - length, "%sits %.32s differs between runs: %.64s and %.64s",
		 length ? "; " : "", name, values[0] ? values[0] : "", values[1] ? values[1] : "");
	free(values[0]);
	free(values[1]);
}

/*
 * Defaults may change from version to version, and ids omit them. A newer version may have
 * parameters that this one does not know.
 */
static bool has_other_parameters(const struct result_case *one, const struct result_case *other,
				 char text[static 256])
{
	const char *name;
	json_t *before;

	text[0] = '\0';
	json_object_foreach(one->parameters, name, before)
	{
		const json_t *now = json_object_get(other->parameters, name);

		if (now && !json_equal(before, now) && !run_settings_is_effort(name) &&
		    !json_is_object(before) && !json_is_array(before))
			append_parameter(name, before, now, text);
	}
	return text[0];
}

/* A percentage of different maxima is a different load. */
static bool has_other_rates(const struct judge *judge, char text[static 256])
{
	double low = HUGE_VAL;
	double high = 0;

	for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
		for (size_t i = 0; i < judge->n_seen[side]; i++) {
			double rate = known_of(&judge->seen[side][i])->rate;

			low = fmin(low, rate);
			high = fmax(high, rate);
		}
	if (high <= low * (1 + RATES_APART))
		return false;
	snprintf(text, 256, "its rate differs between runs: %.0f and %.0f messages/s", low, high);
	return true;
}

/* If the schedule was kept, the message rate is the offered one and needs no comparison. */
static bool is_saturated(const struct judge *judge)
{
	for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
		for (size_t i = 0; i < judge->n_seen[side]; i++)
			if (known_of(&judge->seen[side][i])->is_saturated)
				return true;
	return false;
}

/* Returns false and sets the text if the runs measured different things. */
static bool is_same_case(const struct judge *judge, char text[static 256])
{
	const struct result_case *first = judge->seen[COMPARE_BASE][0].line;

	for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
		for (size_t i = 0; i < judge->n_seen[side]; i++) {
			const struct result_case *line = judge->seen[side][i].line;

			if (strcmp(line->metric, first->metric) != 0 || line->size != first->size) {
				snprintf(text, 256, "runs have different cases under this id");
				return false;
			}
			if (strcmp(line->metric, "bw") != 0 && line->kind != first->kind) {
				snprintf(
					text, 256,
					"its latency is %s in one run and %s in another: different "
					"kinds cannot be compared",
					result_kind_name(first->kind),
					result_kind_name(line->kind));
				return false;
			}
		}
	return !has_other_rates(judge, text);
}

/* Returns true and sets the text if the case has other parameters in some run. */
static bool has_changed_parameters(const struct judge *judge, char text[static 256])
{
	const struct result_case *first = judge->seen[COMPARE_BASE][0].line;

	for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
		for (size_t i = 0; i < judge->n_seen[side]; i++)
			if (has_other_parameters(first, judge->seen[side][i].line, text))
				return true;
	return false;
}

/* Records a difference that --force ignores, for the case and for the whole comparison. */
static int compare_anyway(struct judge *judge, const char *text, struct error *error)
{
	struct comparison *comparison = judge->comparison;
	struct compare_gap *gap = add_gap(judge, error);

	if (!gap)
		return error->code;
	snprintf(gap->why, sizeof(gap->why), "%s", text);
	gap->is_compared = gap->is_excused = true;
	if (!comparison->difference[0])
		snprintf(comparison->difference, sizeof(comparison->difference), "%.100s: %.150s",
			 judge->line->id, text);
	return 0;
}

/* Loads the figure's values. Returns the number of the side's runs in which it is unknown. */
static size_t take_side(struct judge *judge, enum compare_side side, size_t number)
{
	size_t unknown = 0;

	for (size_t i = 0; i < judge->n_seen[side]; i++) {
		const struct seen *seen = &judge->seen[side][i];

		judge->values[side][i] = known_of(seen)->values[number];
		unknown += isnan(judge->values[side][i]);
	}
	return unknown;
}

/* Returns false if the figure is unknown in some run. */
static bool take_values(struct judge *judge, size_t number)
{
	size_t unknown = 0;

	for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
		unknown += take_side(judge, side, number);
	return !unknown;
}

/* Returns the width of the value's histogram bin; at least a nanosecond. */
static double bin_ns(double value)
{
	size_t bin = hist_index((uint64_t)fmin(value, 1e18));

	return bin < HIST_BINS ? (double)(hist_high(bin) - hist_low(bin)) : 0;
}

static double step_of(const struct seen *seen, size_t number, double value)
{
	bool has_bins = number == MEDIAN || number == TAIL;

	return fmax(has_bins ? bin_ns(value) : 0, known_of(seen)->steps[number]) / value;
}

/*
 * Returns the coarsest relative step of the values, given by the bin, the clock, the samples, or
 * another program's printed digits.
 */
static double resolution(const struct judge *judge, size_t number)
{
	double coarsest = 0;

	for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
		for (size_t i = 0; i < judge->n_seen[side]; i++)
			coarsest = fmax(coarsest, step_of(&judge->seen[side][i], number,
							  judge->values[side][i]));
	return coarsest;
}

/* Returns 0, 1 if the figure is unknown in some run, or a negative errno. */
static int add_cell(struct judge *judge, size_t number, struct error *error)
{
	struct comparison *comparison = judge->comparison;
	struct compare_cell cell = {.line = judge->line, .figure = compare_figure(number)};
	double coarsest;
	const struct compare_cell *before =
		comparison->n_cells ? &comparison->cells[comparison->n_cells - 1] : NULL;
	struct compare_cell *grown;

	if (!take_values(judge, number))
		return 1;
	for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
		cell.n_runs[side] = judge->n_seen[side];
	coarsest = resolution(judge, number);
	ratio_of(&cell.ratio,
		 &(struct ratio_side){judge->values[COMPARE_BASE], cell.n_runs[COMPARE_BASE]},
		 &(struct ratio_side){judge->values[COMPARE_NEW], cell.n_runs[COMPARE_NEW]},
		 coarsest);
	cell.judged = (struct judged_ratio){.ratio = cell.ratio.ratio,
					    .low = cell.ratio.low,
					    .high = cell.ratio.high,
					    .threshold = cell.figure->threshold,
					    .resolution = coarsest,
					    .more_is_good = cell.figure->more_is_good};
	cell.is_repeat = before && number == MESSAGES && before->line == cell.line &&
			 before->figure == compare_figure(BYTES) &&
			 fabs(cell.ratio.ratio / before->ratio.ratio - 1) < COMPARE_ROUNDING;
	grown = reallocarray(comparison->cells, comparison->n_cells + 1, sizeof(*grown));
	if (!grown)
		return error_set_errno(error, -ENOMEM, "cannot keep the figures");
	comparison->cells = grown;
	grown[comparison->n_cells++] = cell;
	return 0;
}

/* Records "unknown in 2 of 3 runs of BASE and 1 of 1 runs of NEW". */
static int add_unknown(struct judge *judge, size_t number, struct error *error)
{
	struct comparison *comparison = judge->comparison;
	struct compare_unknown *grown =
		reallocarray(comparison->unknown, comparison->n_unknown + 1, sizeof(*grown));
	struct compare_unknown *added;
	const char *before = "unknown in";

	if (!grown)
		return error_set_errno(error, -ENOMEM, "cannot record an unknown figure");
	comparison->unknown = grown;
	added = &grown[comparison->n_unknown++];
	*added = (struct compare_unknown){.line = judge->line, .number = number};
	for (enum compare_side side = 0; side < COMPARE_SIDES; side++) {
		size_t length = strlen(added->why);
		size_t count = take_side(judge, side, number);

		if (!count)
			continue;
		snprintf(added->why + length, sizeof(added->why) - length,
			 "%s %zu of %zu runs of %s", before, count, judge->n_seen[side],
			 compare_side_name(side));
		before = " and";
	}
	return 0;
}

/* Adds a cell, or records that the figure is unknown. */
static int add_figure(struct judge *judge, size_t number, struct error *error)
{
	int code = add_cell(judge, number, error);

	return code > 0 ? add_unknown(judge, number, error) : code;
}

static int add_latency(struct judge *judge, struct error *error)
{
	int code = add_cell(judge, MEDIAN, error);

	if (code > 0)
		code = add_cell(judge, MEAN, error);
	if (code > 0)
		code = add_figure(judge, MEDIAN, error);
	return code < 0 ? code : add_figure(judge, TAIL, error);
}

static int add_figures(struct judge *judge, struct error *error)
{
	const char *metric = judge->seen[COMPARE_BASE][0].line->metric;
	bool is_bandwidth = !strcmp(metric, "bw");
	int code = is_bandwidth ? add_figure(judge, BYTES, error) : add_latency(judge, error);

	if (!code && (is_bandwidth || is_saturated(judge)))
		code = add_figure(judge, MESSAGES, error);
	if (!code && judge->comparison->with_cpu)
		code = add_figure(judge, CLIENT_CPU, error);
	if (!code && judge->comparison->with_cpu)
		code = add_figure(judge, SERVER_CPU, error);
	return code;
}

/* Judges a case that both sides have. */
static int judge_seen(struct judge *judge, struct error *error)
{
	size_t before = judge->comparison->n_cells;
	bool is_forced;
	char text[256];
	int code;

	if (!is_same_case(judge, text))
		return add_reason(judge, text, error);
	is_forced = has_changed_parameters(judge, text);
	if (is_forced && !judge->comparison->is_forced)
		return add_reason(judge, text, error);
	code = add_figures(judge, error);
	if (!code && judge->comparison->n_cells == before)
		return add_reason(judge, "no figure is known in all runs", error);
	if (!code && is_forced)
		code = compare_anyway(judge, text, error);
	return code;
}

/* Gaps of a case: first the runs that lack it, last the difference that --force ignored. */
static int judge_case(struct judge *judge, struct error *error)
{
	struct comparison *comparison = judge->comparison;
	size_t gaps_before = comparison->n_gaps;
	size_t cells_before = comparison->n_cells;
	bool is_compared;
	bool has_gap;
	int code;

	find_runs(judge);
	code = record_gap(judge, error);
	has_gap = comparison->n_gaps > gaps_before;
	if (!code && judge->n_seen[COMPARE_BASE] && judge->n_seen[COMPARE_NEW])
		code = judge_seen(judge, error);
	is_compared = comparison->n_cells > cells_before;
	comparison->n_compared += is_compared;
	if (has_gap)
		comparison->gaps[gaps_before].is_compared = is_compared;
	return code;
}

/* Whether this is the first case with its id, in this run and all runs before. */
static bool is_first(const struct comparison *comparison, const struct compare_run *run,
		     const struct result_case *line)
{
	for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
		for (size_t i = 0; i < comparison->sides[side].count; i++) {
			const struct compare_run *other = &comparison->sides[side].runs[i];

			if (other == run)
				return compare_judge_find(run, line->id) == line;
			if (compare_judge_find(other, line->id))
				return false;
		}
	return true;
}

static int judge_run(struct judge *judge, const struct compare_run *run, struct error *error)
{
	int code = 0;

	for (size_t i = 0; i < run->result.n_cases && !code; i++) {
		judge->line = &run->result.cases[i];
		if (is_first(judge->comparison, run, judge->line))
			code = judge_case(judge, error);
	}
	return code;
}

static int judge_runs(struct comparison *comparison, struct error *error)
{
	struct judge judge = {.comparison = comparison};
	bool has_room = true;
	int code = 0;

	for (enum compare_side side = 0; side < COMPARE_SIDES; side++) {
		size_t room = comparison->sides[side].count + 1;

		judge.seen[side] = calloc(room, sizeof(*judge.seen[side]));
		judge.values[side] = calloc(room, sizeof(*judge.values[side]));
		has_room = has_room && judge.seen[side] && judge.values[side];
	}
	if (!has_room)
		code = error_set_errno(error, -ENOMEM, "cannot compare");
	for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
		for (size_t i = 0; i < comparison->sides[side].count && !code; i++)
			code = judge_run(&judge, &comparison->sides[side].runs[i], error);
	for (enum compare_side side = 0; side < COMPARE_SIDES; side++) {
		free(judge.seen[side]);
		free(judge.values[side]);
	}
	return code;
}

int compare_judge(struct comparison *comparison, struct error *error)
{
	int code = compare_check_sides(comparison, error);

	if (!code)
		code = judge_runs(comparison, error);
	if (!code)
		code = compare_decide(comparison, error);
	if (code)
		return code;
	if (!comparison->n_cells)
		return error_set(error, -ENODATA, "no case can be compared");
	return 0;
}
