/* SPDX-License-Identifier: MIT */
#include "reports/page/tiles.h"

#include <math.h>
#include <stdbool.h>

#include "core/base/compiler.h"
#include "reports/finding/bounded.h"
#include "reports/page/html.h"
#include "reports/result/digits.h"

/* The best case by one figure. line: NULL if no case has the figure. */
struct best {
	const struct result_case *line;
	struct bounded figure;
};

/* Latencies of different kinds do not compare: a page has a tile for the first kind that it finds. */
static const struct {
	enum result_kind kind;
	const char *words;
} kinds[] = {
	{RESULT_HALF,       "half round trip"       },
	{RESULT_FULL,       "full round trip"       },
	{RESULT_COMPLETION, "until local completion"},
};

static void find_latency(struct best *best, const struct result *result, enum result_kind kind)
{
	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];
		struct bounded figure;

		if (!cells_has_figures(line) || cells_table(line) != CELLS_LATENCY ||
		    line->kind != kind)
			continue;
		bounded_latency(&figure, line, "p50");
		if (!isnan(figure.value) && (!best->line || figure.value < best->figure.value))
			*best = (struct best){line, figure};
	}
}

/* Finds the highest rate of bytes, or of messages. */
static void find_rate(struct best *best, const struct result *result, bool counts_bytes)
{
	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];
		struct bounded figure;

		if (!cells_has_figures(line) || cells_table(line) != CELLS_BANDWIDTH)
			continue;
		bounded_rate(&figure, line);
		if (counts_bytes)
			bounded_scale(&figure, result_payload(line));
		if (!isnan(figure.value) && (!best->line || figure.value > best->figure.value))
			*best = (struct best){line, figure};
	}
}

static void begin(FILE *out, const char *title, double value, const char *unit, int most_decimals)
{
	char text[DIGITS_TEXT];

	digits_print(text, value, most_decimals);
	fprintf(out, "<li><span>%s</span><b>%s <small>%s</small></b><span>", title, text, unit);
}

static void print_interval(FILE *out, const struct bounded *figure, double factor,
			   int most_decimals)
{
	char text[2][DIGITS_TEXT];

	if (isnan(figure->low))
		return;
	digits_print(text[0], figure->low * factor, most_decimals);
	digits_print(text[1], figure->high * factor, most_decimals);
	fprintf(out, "95 %% CI %s..%s</span><span>", text[0], text[1]);
}

static void end(FILE *out, const struct result_case *line, const char *more)
{
	html_text(out, line->id);
	html_text(out, more);
	fputs("</span></li>\n", out);
}

static void print_latency(FILE *out, const struct best *best, const char *kind)
{
	struct bounded tail;
	char more[64];
	bool is_far;

	snprintf(more, sizeof(more), ", %s", kind);
	begin(out, "Lowest latency, p50", best->figure.value / 1000, "us", DIGITS_US);
	print_interval(out, &best->figure, 0.001, DIGITS_US);
	end(out, best->line, more);
	bounded_latency(&tail, best->line, "p99_9");
	is_far = !isnan(tail.value);
	if (!is_far)
		bounded_latency(&tail, best->line, "p99");
	if (isnan(tail.value))
		return;
	begin(out, is_far ? "Its tail, p99.9" : "Its tail, p99", tail.value / 1000, "us",
	      DIGITS_US);
	print_interval(out, &tail, 0.001, DIGITS_US);
	end(out, best->line, more);
}

static void print_bandwidth(FILE *out, const struct table_unit *unit, const struct result *result,
			    const struct best *best)
{
	double factor = 1 / table_unit_bytes(unit);
	double line = (double)cells_line_mbps(result) * 1e6 / 8;
	char more[64] = "";

	if (line > 0)
		snprintf(more, sizeof(more), ", %.1f %% of the line rate",
			 100 * best->figure.value / line);
	begin(out, "Highest bandwidth", best->figure.value * factor, table_unit_name(unit),
	      DIGITS_AMOUNT);
	print_interval(out, &best->figure, factor, DIGITS_AMOUNT);
	end(out, best->line, more);
}

void tiles_print(FILE *out, const struct table_unit *unit, const struct result *result)
{
	struct best latency = {0};
	struct best bandwidth = {0};
	struct best rate = {0};
	size_t kind = 0;

	find_latency(&latency, result, kinds[kind].kind);
	while (!latency.line && ++kind < ARRAY_LENGTH(kinds))
		find_latency(&latency, result, kinds[kind].kind);
	find_rate(&bandwidth, result, true);
	find_rate(&rate, result, false);
	if (!latency.line && !bandwidth.line)
		return;
	fputs("<ul class=\"tiles\">\n", out);
	if (latency.line)
		print_latency(out, &latency, kinds[kind].words);
	if (bandwidth.line)
		print_bandwidth(out, unit, result, &bandwidth);
	if (rate.line) {
		begin(out, "Highest message rate", rate.figure.value / 1e6, "Mmsg/s",
		      DIGITS_AMOUNT);
		print_interval(out, &rate.figure, 1e-6, DIGITS_AMOUNT);
		end(out, rate.line, "");
	}
	fputs("</ul>\n", out);
}
