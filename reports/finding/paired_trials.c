/* SPDX-License-Identifier: MIT */
#include "reports/finding/paired_trials.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"
#include "reports/finding/tips.h"
#include "reports/io/json_make.h"
#include "reports/result/banner.h"
#include "reports/result/digits.h"
#include "reports/verdict/sentences.h"

/* How pairs are printed. */
struct turns_form {
	int width; /* of the longest id; 0: no case is interleaved */
	bool has_values;
};

/* Judges a pair by its own interval, without correction for the number of pairs. */
static void judge(struct tips_pair *pair)
{
	const struct interval *ratio = &pair->ratio;
	bool is_sure = interval_is_sure(ratio);

	pair->judged = (struct judged_ratio){
		.ratio = ratio->median,
		.low = is_sure ? ratio->low : (double)NAN,
		.high = is_sure ? ratio->high : (double)NAN,
		.threshold = pair->figure->threshold,
		.reach =
			is_sure ? log(fmax(ratio->high / ratio->median, ratio->median / ratio->low))
				: (double)NAN,
		.more_is_good = pair->figure->more_is_good,
	};
	pair->judged.verdict = verdict_of(&pair->judged);
}

static const struct result_case *paired_trials_find(const struct result *result, const char *id)
{
	for (size_t i = 0; i < result->n_cases; i++)
		if (!strcmp(result->cases[i].id, id))
			return &result->cases[i];
	return NULL;
}

/* Returns the figure of a case, as all reports show it. */
static double value_of(const struct result_case *line, const struct compared_figure *figure)
{
	if (figure == &compared_figure_client_cpu)
		return result_cpu_ns(&line->client);
	if (figure == &compared_figure_messages)
		return result_rate(line, false);
	return result_named(line, figure == &compared_figure_median ? "p50" : "mean");
}

/* Returns false if a trial lacks the figure, such as the median of too few messages. */
static bool compare(struct tips_pair *pair, double *values)
{
	size_t n = pair->line->n_trials;
	double *with = values;
	double *without = values + n;
	double *ratio = values + 2 * n;
	struct interval over_with;
	struct interval over_without;
	struct error unused = {0};

	for (size_t i = 0; i < n; i++) {
		with[i] = pair->figure->value(&pair->line->trials[i]);
		without[i] = pair->figure->value(&pair->beside->trials[i]);
		ratio[i] = with[i] / without[i];
		/* Documents can contain any numbers. */
		if (!(with[i] > 0 && without[i] > 0 && ratio[i] > 0 && isfinite(ratio[i])))
			return false;
	}
	if (interval_median(&over_with, with, n, &unused) ||
	    interval_median(&over_without, without, n, &unused) ||
	    interval_median(&pair->ratio, ratio, n, &unused))
		return false;
	bounded_by(&pair->with, &over_with, value_of(pair->line, pair->figure));
	bounded_by(&pair->without, &over_without, value_of(pair->beside, pair->figure));
	return true;
}

/* Adds a case once, no matter how many pairs it would be part of. */
static void add_missing(struct tips_list *turns, const struct result_case *line)
{
	struct tips_gap *grown;

	for (size_t i = 0; i < turns->n_gaps; i++)
		if (turns->gaps[i].line == line)
			return;
	grown = reallocarray(turns->gaps, turns->n_gaps + 1, sizeof(*grown));
	if (!grown)
		return;
	turns->gaps = grown;
	grown[turns->n_gaps++] = (struct tips_gap){line};
}

/* Returns false if there is nothing to compare. */
static bool add_pair(struct tips_list *turns, struct tips_pair pair)
{
	size_t room = 3 * (pair.line->n_trials + 1);
	double *values = calloc(room, sizeof(*values));
	struct tips_pair *grown =
		reallocarray(turns->pairs, turns->n_pairs + 1, sizeof(*turns->pairs));
	bool is_added;

	if (grown)
		turns->pairs = grown;
	is_added = grown && values && compare(&pair, values);
	if (is_added) {
		judge(&pair);
		grown[turns->n_pairs++] = pair;
	}
	free(values);
	return is_added;
}

static bool add_latency(struct tips_list *turns, struct tips_pair pair)
{
	pair.figure = &compared_figure_median;
	if (add_pair(turns, pair))
		return true;
	pair.figure = &compared_figure_mean;
	return add_pair(turns, pair);
}

static void add_case(struct tips_list *turns, const struct result *result,
		     const struct result_case *line)
{
	const struct result_case *beside = paired_trials_find(result, line->beside);
	struct tips_pair pair = {
		.line = line, .beside = beside, .figure = &compared_figure_messages};
	bool is_added;

	if (!beside || beside->kind != line->kind)
		return;
	if (!line->n_trials || !beside->n_trials) {
		add_missing(turns, line->n_trials ? beside : line);
		return;
	}
	/* The result was merged, or edited by hand. */
	if (line->n_trials != beside->n_trials) {
		add_missing(turns, line);
		return;
	}
	is_added =
		strcmp(line->metric, "bw") != 0 ? add_latency(turns, pair) : add_pair(turns, pair);
	if (!is_added)
		add_missing(turns, line);
	/* A completion mode trades latency for CPU time: compare both. */
	pair.figure = &compared_figure_client_cpu;
	if (!strcmp(line->by, "cq"))
		add_pair(turns, pair);
}

static void close_turns(struct tips_list *turns)
{
	free(turns->pairs);
	free(turns->gaps);
}

/* Whether this is the first case that is paired by its parameter. */
static bool is_first(const struct result *result, size_t number)
{
	const char *by = result->cases[number].by;

	for (size_t i = 0; i < number && by; i++)
		if (result->cases[i].by && !strcmp(result->cases[i].by, by))
			return false;
	return by != NULL;
}

/* Collects all pairs of the next parameter, from case *number on. Returns false at the end. */
static bool next_turns(struct tips_list *turns, const struct result *result, size_t *number)
{
	*turns = (struct tips_list){0};
	while (*number < result->n_cases && !is_first(result, *number))
		++*number;
	if (*number == result->n_cases)
		return false;
	turns->by = result->cases[*number].by;
	for (size_t i = *number; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];

		if (line->by && !strcmp(line->by, turns->by))
			add_case(turns, result, line);
	}
	++*number;
	return true;
}

/* Writes why a case is in no pair. */
static void describe_gap(const struct result_case *line, char text[static TIPS_TEXT])
{
	snprintf(text, TIPS_TEXT, "%s: %s", line->id,
		 line->error[0]   ? line->error
		 : line->n_trials ? "too few messages, or a different number of trials"
				  : result_status_name(line->status));
}

/* Prints both figures. */
static void print_values(FILE *out, const struct tips_pair *pair)
{
	bool is_time = !strcmp(pair->figure->measure, "ns");
	const double values[] = {pair->without.value, pair->with.value};
	char text[DIGITS_TEXT];

	for (size_t i = 0; i < ARRAY_LENGTH(values); i++) {
		digits_print(text, values[i] / pair->figure->unit,
			     is_time ? DIGITS_US : DIGITS_AMOUNT);
		fprintf(out, " %9s", text);
	}
}

static void print_pair(FILE *out, const struct tips_pair *pair, const struct turns_form *form)
{
	char verdict[64];
	char ratio[DIGITS_TEXT];
	char interval[TIPS_INTERVAL];

	digits_print(ratio, pair->judged.ratio, DIGITS_RATIO);
	tips_interval(interval, pair);
	verdict_cell(verdict, sizeof(verdict), &pair->judged);
	fprintf(out, "  %-*s  %-13s", form->width, pair->line->id, pair->figure->title);
	if (form->has_values)
		print_values(out, pair);
	fprintf(out, " %6s %12s  %s\n", ratio, interval, verdict);
}

static void print_overflow(FILE *out, const json_t *overflow)
{
	fprintf(out, "  too small: %s\n", json_string_value(json_object_get(overflow, "seen")));
}

static void print_turns(FILE *out, const struct tips_list *turns, const json_t *overflow,
			const struct turns_form *form)
{
	const char *title = tips_title(turns);
	char text[TIPS_TEXT];

	fprintf(out, "%s%s%s\n", turns->by, title ? ": " : "", title ? title : "");
	for (size_t i = 0; i < turns->n_pairs; i++)
		print_pair(out, &turns->pairs[i], form);
	for (size_t i = 0; i < turns->n_gaps; i++) {
		describe_gap(turns->gaps[i].line, text);
		fprintf(out, "  not shown: %s\n", text);
	}
	if (overflow && !strcmp(turns->by, "cq-depth"))
		print_overflow(out, overflow);
	tips_advise(turns, text);
	if (text[0])
		fprintf(out, "  -> %s\n", text);
}

static int widest(const struct result *result)
{
	size_t width = 0;

	for (size_t i = 0; i < result->n_cases; i++)
		if (result->cases[i].by && strlen(result->cases[i].id) > width)
			width = strlen(result->cases[i].id);
	return (int)width;
}

void paired_trials_print(FILE *out, const struct result *result)
{
	const struct turns_form form = {widest(result), banner_allows_times(result)};
	struct tips_list turns;
	size_t number = 0;

	if (form.width) {
		fprintf(out, "%-*s  %-13s", form.width + 2, "INTERLEAVED", "");
		if (form.has_values)
			fprintf(out, " %9s %9s", "without", "with");
		fprintf(out, " %6s %12s  %s\n", "ratio", "95% CI", "verdict");
	}
	while (next_turns(&turns, result, &number)) {
		print_turns(out, &turns, result->overflow, &form);
		close_turns(&turns);
	}
}

static json_t *make_bounded(const struct bounded *figure)
{
	json_t *interval = isnan(figure->low) ? json_null()
					      : json_pack("{s:f, s:f}", "low", figure->low, "high",
							  figure->high);

	return json_pack("{s:o*, s:o}", "value", json_make_number(figure->value), "interval",
			 interval);
}

static json_t *make_pair(const struct tips_pair *pair)
{
	const struct bounded ratio = {pair->judged.ratio, pair->judged.low, pair->judged.high};
	double detectable = verdict_detectable(&pair->judged);
	bool is_unclear = pair->judged.verdict == VERDICT_UNCLEAR && isfinite(detectable);

	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:s, s:o*}", "case", pair->line->id,
			 "beside", pair->beside->id, "figure", pair->figure->key, "with",
			 make_bounded(&pair->with), "without", make_bounded(&pair->without),
			 "ratio", make_bounded(&ratio), "verdict",
			 verdict_name(pair->judged.verdict), "detectable",
			 is_unclear ? json_real(detectable) : NULL);
}

static json_t *make_turns(const struct tips_list *turns)
{
	json_t *pairs = json_array();
	json_t *missing = turns->n_gaps ? json_array() : NULL;
	char advice[TIPS_TEXT];

	for (size_t i = 0; i < turns->n_pairs; i++)
		json_array_append_new(pairs, make_pair(&turns->pairs[i]));
	tips_advise(turns, advice);
	for (size_t i = 0; i < turns->n_gaps; i++) {
		char text[TIPS_TEXT];

		describe_gap(turns->gaps[i].line, text);
		json_array_append_new(missing, json_string(text));
	}
	return json_pack("{s:s, s:s*, s:o, s:o*, s:s*}", "by", turns->by, "tip", tips_title(turns),
			 "pairs", pairs, "missing", missing, "advice", advice[0] ? advice : NULL);
}

json_t *paired_trials_make(const struct result *result)
{
	json_t *made = NULL;
	struct tips_list turns;
	size_t number = 0;

	while (next_turns(&turns, result, &number)) {
		if (!made)
			made = json_array();
		json_array_append_new(made, make_turns(&turns));
		close_turns(&turns);
	}
	return made;
}
