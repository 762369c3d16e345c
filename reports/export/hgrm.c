/* SPDX-License-Identifier: MIT */
/*
 * The latencies of a case as a table of percentiles, as HdrHistogram's library and its
 * HistogramLogProcessor print them for plotters (*.hgrm): in microseconds, five steps per halving
 * of the distance to 100 %. Readers ignore lines that start with '#'. As in HdrHistogram's own
 * output, each value is the largest one of its bin, and mean and deviation use the middles of the
 * bins. Samples beyond the last bin are not included.
 */
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/export/export.h"
#include "reports/result/banner.h"

#define STEPS     5
#define NS_PER_US 1000.0
#define BUCKETS   (HIST_MAX_BITS - HIST_SUB_BITS)
#define SUB_BINS  (2 << HIST_SUB_BITS)

#define NO_SAMPLES "imported results have no samples"

struct state {
	const char *id; /* NULL: the only case */
	struct export_text text;
	bool has_case;
};

/* State of printing a table. */
struct table {
	FILE *out;
	uint64_t count; /* samples in bins */
	uint64_t seen;
	double level; /* the next percentile to print, in percent */
};

static void *open_hgrm(const struct export_choice *choice)
{
	struct state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	state->id = choice->id;
	if (!export_text_open(&state->text))
		return state;
	free(state);
	return NULL;
}

static void close_hgrm(void *owner)
{
	struct state *state = owner;

	if (!state)
		return;
	export_text_close(&state->text);
	free(state);
}

/* Java rounds decimal digits, and halves up; in binary, halves are often a little less. */
static double rounded(double value, double unit)
{
	return round(value * unit * (1 + DBL_EPSILON)) / unit;
}

static void print_row(const struct table *table, size_t bin, double level)
{
	double part = level / 100;

	fprintf(table->out, "%12.3f %2.12f %10" PRIu64, (double)(hist_high(bin) - 1) / NS_PER_US,
		rounded(part, 1e12), table->seen);
	if (level < 100)
		fprintf(table->out, " %14.2f", rounded(1 / (1 - part), 100));
	fputc('\n', table->out);
}

/* Returns the next step: a fifth of the distance to 100 % at the last power of two. */
static double step(double level)
{
	double halvings = floor(log(100 / (100 - level)) / log(2));

	return 100 / (STEPS * exp2(halvings + 1));
}

static void print_bin(struct table *table, size_t bin, uint64_t count)
{
	if (!count)
		return;
	table->seen += count;
	while (table->level < 100 &&
	       100.0 * (double)table->seen / (double)table->count >= table->level) {
		double next = table->level + step(table->level);

		print_row(table, bin, table->level);
		/* This close to 100 %, adding a step may not change the double. */
		table->level = next > table->level ? next : 100;
		if (table->seen == table->count)
			break;
	}
	if (table->seen == table->count)
		print_row(table, bin, 100);
}

static double middle(size_t bin)
{
	uint64_t half = (hist_high(bin) - hist_low(bin)) / 2;

	return (double)(hist_low(bin) + half);
}

static void print_foot(const struct table *table, const struct hist *hist)
{
	double squares = 0;
	double sum = 0;
	size_t last = 0;
	double mean;

	for (size_t i = hist_first(hist), end = hist_end(hist); i < end; i++) {
		sum += middle(i) * (double)hist->bins[i];
		last = hist->bins[i] ? i : last;
	}
	mean = table->count ? sum / (double)table->count : 0;
	for (size_t i = hist_first(hist), end = hist_end(hist); i < end; i++)
		squares += (middle(i) - mean) * (middle(i) - mean) * (double)hist->bins[i];
	if (table->count)
		squares /= (double)table->count;
	fprintf(table->out, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n",
		rounded(mean / NS_PER_US, 1000), rounded(sqrt(squares) / NS_PER_US, 1000));
	fprintf(table->out, "#[Max     = %12.3f, Total count    = %12" PRIu64 "]\n",
		table->count ? (double)(hist_high(last) - 1) / NS_PER_US : 0, table->count);
	fprintf(table->out, "#[Buckets = %12d, SubBuckets     = %12d]\n", BUCKETS, SUB_BINS);
}

static void print_hist(FILE *out, const struct hist *hist)
{
	struct table table = {.out = out};

	for (size_t i = hist_first(hist), end = hist_end(hist); i < end; i++)
		table.count += hist->bins[i];
	fprintf(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount",
		"1/(1-Percentile)");
	for (size_t i = hist_first(hist), end = hist_end(hist); i < end; i++)
		print_bin(&table, i, hist->bins[i]);
	print_foot(&table, hist);
}

static bool has_histogram(const struct result_case *line)
{
	return line->status == RESULT_COMPLETE && line->n_trials && line->latency;
}

/* Results imported from perftest have percentiles but no samples. */
static bool has_figures_only(const struct result_case *line)
{
	return line->status == RESULT_COMPLETE && !line->latency && result_has_latency(line);
}

static const struct result_case *find_named(const struct result *result, const char *id,
					    struct error *error)
{
	bool is_there = false;
	bool has_figures = false;

	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];

		if (strcmp(line->id, id) != 0)
			continue;
		if (has_histogram(line))
			return line;
		is_there = true;
		has_figures = has_figures || has_figures_only(line);
	}
	error_set(error, -ENODATA,
		  has_figures ? "%s has no histogram: " NO_SAMPLES
		  : is_there  ? "%s has no latency"
			      : "no case %s",
		  id);
	return NULL;
}

static const struct result_case *find_only(const struct result *result, struct error *error)
{
	const struct result_case *found = NULL;
	bool has_figures = false;
	size_t count = 0;

	for (size_t i = 0; i < result->n_cases; i++) {
		has_figures = has_figures || has_figures_only(&result->cases[i]);
		if (!has_histogram(&result->cases[i]))
			continue;
		if (!count++)
			found = &result->cases[i];
	}
	if (count == 1)
		return found;
	if (found)
		error_set(error, -EINVAL,
			  "%zu cases have a latency, such as %s; choose one with --case", count,
			  found->id);
	else
		error_set(error, -ENODATA,
			  has_figures ? "no case has a histogram: " NO_SAMPLES
				      : "no case has a latency");
	return NULL;
}

static int add_hgrm(void *owner, const struct result *result, const char *name, struct error *error)
{
	struct state *state = owner;
	const struct result_case *line;
	FILE *out = state->text.out;

	if (state->has_case)
		return error_set(error, -EINVAL, "%s: the format allows only one result", name);
	line = state->id ? find_named(result, state->id, error) : find_only(result, error);
	if (!line)
		return error_wrap(error, "%s", name);
	state->has_case = true;
	print_hist(out, line->latency);
	fprintf(out, "#[Case    = %s, latency in us, %s]\n", line->id,
		result_kind_name(line->kind));
	if (line->latency->over)
		fprintf(out, "#[Beyond  = %" PRIu64 " samples are %llu us and more]\n",
			line->latency->over, (1ULL << HIST_MAX_BITS) / 1000);
	if (banner_of(result))
		fprintf(out, "#[%s]\n", banner_of(result));
	return ferror(out) ? export_no_memory(error) : 0;
}

static int finish_hgrm(void *owner, char **text, struct error *error)
{
	struct state *state = owner;

	*text = export_text_take(&state->text);
	return *text ? 0 : export_no_memory(error);
}

const struct export_format export_hgrm = {
	.name = "hgrm",
	.has_banner = true,
	.open = open_hgrm,
	.add = add_hgrm,
	.finish = finish_hgrm,
	.close = close_hgrm,
};
