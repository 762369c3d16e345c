/* SPDX-License-Identifier: MIT */
#include "reports/finding/precision.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "reports/result/compared_figure.h"
#include "reports/result/trials.h"

/* Up to this many cases are listed; the document has all of them. */
#define LISTED_MOST 4

static double value_of(const struct result_trial *trial, const void *of)
{
	const struct compared_figure *figure = of;

	return figure->value(trial);
}

static double width_of(const struct result_case *line, const struct compared_figure *figure)
{
	struct interval interval;
	struct error ignored = {0};

	if (trials_interval_of(&interval, line, value_of, figure, &ignored) ||
	    !interval_is_sure(&interval) || !(interval.median > 0))
		return (double)NAN;
	return (interval.high - interval.low) / interval.median;
}

double precision_width(const struct result_case *line)
{
	double width;

	if (!strcmp(line->metric, "bw"))
		return width_of(line, &compared_figure_messages);
	width = width_of(line, &compared_figure_median);
	return isnan(width) ? width_of(line, &compared_figure_mean) : width;
}

double precision_wanted(const struct result_case *line)
{
	const json_t *per_cent = json_object_get(line->parameters, "precision");

	return json_is_number(per_cent) ? json_number_value(per_cent) / 100 : (double)NAN;
}

static bool is_counted(const struct result_case *line)
{
	return line->status == RESULT_COMPLETE && line->n_trials && !isnan(precision_wanted(line));
}

/* An unknown width counts as the widest. */
static bool is_wider(const struct result_case *line, const struct result_case *other)
{
	double width = precision_width(line);
	double others = precision_width(other);

	return isnan(width) ? !isnan(others) : width > others;
}

/* The cases with a budget, and the worst of those that did not reach the precision. */
struct tally {
	size_t n_cases;
	size_t n_reached;
	size_t least; /* trials */
	size_t most;
	const struct result_case *worst[LISTED_MOST]; /* the widest interval first */
	size_t n_worst;
};

static void add_worst(struct tally *tally, const struct result_case *line)
{
	size_t place = tally->n_worst;

	while (place && is_wider(line, tally->worst[place - 1]))
		place--;
	if (place == LISTED_MOST)
		return;
	if (tally->n_worst < LISTED_MOST)
		tally->n_worst++;
	for (size_t i = tally->n_worst - 1; i > place; i--)
		tally->worst[i] = tally->worst[i - 1];
	tally->worst[place] = line;
}

static void add(struct tally *tally, const struct result_case *line)
{
	tally->least =
		tally->n_cases && tally->least < line->n_trials ? tally->least : line->n_trials;
	tally->most = tally->most > line->n_trials ? tally->most : line->n_trials;
	tally->n_cases++;
	if (precision_width(line) <= precision_wanted(line))
		tally->n_reached++;
	else
		add_worst(tally, line);
}

static void print_worst(FILE *out, const struct tally *tally)
{
	size_t n_more = tally->n_cases - tally->n_reached - tally->n_worst;

	fputs("widest intervals:", out);
	for (size_t i = 0; i < tally->n_worst; i++) {
		double width = precision_width(tally->worst[i]);

		fprintf(out, "%s %s ", i ? "," : "", tally->worst[i]->id);
		if (isnan(width))
			fputs("(none)", out);
		else
			fprintf(out, "(%.0f %%, %zu trials)", 100 * width,
				tally->worst[i]->n_trials);
	}
	if (n_more)
		fprintf(out, " and %zu more", n_more);
	fputc('\n', out);
}

void precision_print(FILE *out, const struct result *result)
{
	struct tally tally = {0};

	for (size_t i = 0; i < result->n_cases; i++)
		if (is_counted(&result->cases[i]))
			add(&tally, &result->cases[i]);
	if (!tally.n_cases)
		return;
	fprintf(out, "%zu of %zu cases reached --precision, in %zu", tally.n_reached, tally.n_cases,
		tally.least);
	if (tally.most > tally.least)
		fprintf(out, " to %zu", tally.most);
	fputs(" trials\n", out);
	if (tally.n_worst)
		print_worst(out, &tally);
}
