/* SPDX-License-Identifier: MIT */
#include "reports/finding/summary.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "core/base/compiler.h"
#include "reports/finding/contests.h"
#include "reports/finding/precision.h"
#include "reports/result/banner.h"
#include "reports/result/digits.h"

#define NS_PER_US    1000.0
#define BYTES_PER_GB 1.25e8 /* of 10^9 bits */

#define LINES_MOST 8

struct summary {
	FILE *out;
	unsigned int n_lines;
	struct contests contests;
};

/* Prints a sentence, the first one with a heading. Omits sentences beyond the maximum. */
__attribute__((format(printf, 2, 3))) static void say(struct summary *summary, const char *format,
						      ...)
{
	bool is_soft = banner_of(summary->contests.result) != NULL;
	va_list values;

	if (summary->n_lines == LINES_MOST)
		return;
	if (!summary->n_lines++)
		fprintf(summary->out, "SUMMARY%s\n",
			is_soft ? " of a software device; hardware behaves differently" : "");
	fputs("  ", summary->out);
	va_start(values, format);
	vfprintf(summary->out, format, values);
	va_end(values);
	fputc('\n', summary->out);
}

static bool is_bandwidth(const struct result_case *line)
{
	return !strcmp(line->metric, "bw");
}

#define SUMMARY_TEXT 64

static void value_words(char text[static SUMMARY_TEXT], const struct summary *summary,
			const struct result_case *line)
{
	bool is_bw = is_bandwidth(line);
	char digits[DIGITS_TEXT];

	digits_print(digits,
		     contests_value(&summary->contests, line) / (is_bw ? BYTES_PER_GB : NS_PER_US),
		     is_bw ? DIGITS_AMOUNT : DIGITS_US);
	snprintf(text, SUMMARY_TEXT, "%.40s %s", digits, is_bw ? "Gb/s" : "us");
}

static void ratio_words(char text[static SUMMARY_TEXT], double ratio)
{
	char digits[DIGITS_TEXT];

	digits_print(digits, ratio, DIGITS_RATIO);
	snprintf(text, SUMMARY_TEXT, "%.40s", digits);
}

/* Returns how the kind of a latency is added to it. */
static const char *kind_words(const struct result_case *line)
{
	static const char *const words[] = {
		[RESULT_HALF] = ", half a round trip",
		[RESULT_FULL] = ", a full round trip",
		[RESULT_COMPLETION] = ", until completion",
		[RESULT_CALL] = "",
	};

	return is_bandwidth(line) ? "" : words[line->kind];
}

/* Prints the fastest operation and the next one, whose difference is shown. */
static void print_fastest(struct summary *summary, const struct contest *next)
{
	const struct result_case *line = next->line;
	bool is_bw = is_bandwidth(line);
	char size[DIGITS_SIZE];
	char value[SUMMARY_TEXT];
	char ratio[SUMMARY_TEXT];

	digits_size(size, line->size);
	value_words(value, summary, line);
	ratio_words(ratio, contests_value(&summary->contests, next->rival) /
				   contests_value(&summary->contests, line));
	say(summary, "%s at size %s: %s, %s%s; next is %s, x%s",
	    is_bw ? "Highest bandwidth" : "Lowest latency", size, line->op, value, kind_words(line),
	    next->rival->op, ratio);
}

/* Prints the operations that are not shown to be slower than the fastest one. */
static void print_undecided(struct summary *summary, const struct contest *next, size_t n_others)
{
	const struct result_case *line = next->line;
	char size[DIGITS_SIZE];
	char value[SUMMARY_TEXT];
	char others[SUMMARY_TEXT * 2];

	digits_size(size, line->size);
	value_words(value, summary, next->rival);
	if (n_others > 1)
		snprintf(others, sizeof(others), "%zu other operations", n_others);
	else
		snprintf(others, sizeof(others), "%s (%s)", next->rival->op, value);
	value_words(value, summary, line);
	say(summary, "%s at size %s: no difference shown between %s (%s) and %s",
	    is_bandwidth(line) ? "Bandwidth" : "Latency", size, line->op, value, others);
}

static void print_race(struct summary *summary, const struct contest_list *list)
{
	const struct contest *next = NULL;
	const struct contest *undecided = NULL;
	size_t n_undecided = 0;

	/* The medians over all messages and those over trials can disagree. */
	for (size_t i = list->first; i < list->first + list->count; i++)
		if (summary->contests.contest[i].judged.verdict == VERDICT_WORSE)
			return;
	for (size_t i = list->first; i < list->first + list->count; i++) {
		const struct contest *contest = &summary->contests.contest[i];

		if (!next || contests_is_faster(&summary->contests, contest->rival, next->rival))
			next = contest;
		if (contest->judged.verdict == VERDICT_BETTER)
			continue;
		n_undecided++;
		if (!undecided ||
		    contests_is_faster(&summary->contests, contest->rival, undecided->rival))
			undecided = contest;
	}
	if (undecided)
		print_undecided(summary, undecided, n_undecided);
	else if (next)
		print_fastest(summary, next);
}

static bool is_shown(const struct contest *contest)
{
	return contest->judged.verdict == VERDICT_BETTER ||
	       contest->judged.verdict == VERDICT_WORSE;
}

/* Writes how much CPU time events save; empty: no difference is shown. */
static void cpu_words(char text[static SUMMARY_TEXT], const struct summary *summary)
{
	const struct contest *cpu = &summary->contests.contest[summary->contests.events.first + 1];
	char ratio[SUMMARY_TEXT];
	double factor;

	text[0] = '\0';
	if (summary->contests.events.count < 2 || !is_shown(cpu))
		return;
	factor = result_cpu_ns(&cpu->line->client) / result_cpu_ns(&cpu->rival->client);
	if ((factor > 1) != (cpu->judged.ratio > 1))
		return;
	ratio_words(ratio, factor);
	if (factor < 1)
		snprintf(text, SUMMARY_TEXT, "save %.0f %% of the client's CPU time",
			 100 * (1 - factor));
	else
		snprintf(text, SUMMARY_TEXT, "multiply the client's CPU time by %.16s", ratio);
}

static void print_events(struct summary *summary)
{
	const struct contest *latency = &summary->contests.contest[summary->contests.events.first];
	char size[DIGITS_SIZE];
	char cpu[SUMMARY_TEXT];
	char us[DIGITS_TEXT];
	char ratio[SUMMARY_TEXT];
	double more_ns;

	if (!summary->contests.events.count)
		return;
	digits_size(size, latency->line->size);
	cpu_words(cpu, summary);
	more_ns = contests_value(&summary->contests, latency->line) -
		  contests_value(&summary->contests, latency->rival);
	digits_print(us, fabs(more_ns) / NS_PER_US, DIGITS_US);
	ratio_words(ratio, contests_value(&summary->contests, latency->line) /
				   contests_value(&summary->contests, latency->rival));
	if (is_shown(latency) && (more_ns > 0) == (latency->judged.ratio > 1))
		say(summary, "Events %s %.16s us of latency at size %s (%s, x%s)%s%s",
		    more_ns > 0 ? "cost" : "save", us, size, latency->line->op, ratio,
		    cpu[0] ? " and " : "", cpu);
	else if (cpu[0] && !is_shown(latency))
		say(summary, "Events %s at size %s (%s); no difference in latency shown", cpu, size,
		    latency->line->op);
}

/* Smaller ratios of the tail to the median are not worth a sentence. */
#define TAIL_LEAST 2

/* Returns the percentile that shows the tail; NAN: unknown. */
static double tail_of(const struct result_case *line)
{
	double tail = result_named(line, "p99_9");

	return isnan(tail) ? result_named(line, "p99") : tail;
}

/* Prints the longest tail, relative to the median, at the size of the first race. */
static void print_tail(struct summary *summary)
{
	const struct contest_list *list = &summary->contests.latency[CONTESTS_SMALLEST];
	const struct result_case *best = summary->contests.contest[list->first].line;
	const struct result_case *worst = best;
	char size[DIGITS_SIZE];
	char us[DIGITS_TEXT];
	char ratio[SUMMARY_TEXT];

	if (!list->count)
		return;
	for (size_t i = list->first; i < list->first + list->count; i++) {
		const struct result_case *rival = summary->contests.contest[i].rival;

		if (tail_of(rival) / contests_value(&summary->contests, rival) >
		    tail_of(worst) / contests_value(&summary->contests, worst))
			worst = rival;
	}
	if (!(tail_of(worst) / contests_value(&summary->contests, worst) >= TAIL_LEAST))
		return;
	digits_size(size, worst->size);
	digits_print(us, tail_of(worst) / NS_PER_US, DIGITS_US);
	ratio_words(ratio, tail_of(worst) / contests_value(&summary->contests, worst));
	say(summary, "Longest tail at size %s: %s, %s %.16s us, x%s the median", size, worst->op,
	    isnan(result_named(worst, "p99_9")) ? "p99" : "p99.9", us, ratio);
}

static void print_sides(struct summary *summary)
{
	const struct contest *contest = &summary->contests.contest[summary->contests.sides.first];
	char size[DIGITS_SIZE];
	char ratio[SUMMARY_TEXT];

	if (!summary->contests.sides.count || !is_shown(contest))
		return;
	digits_size(size, contest->line->size);
	ratio_words(ratio, contest->judged.ratio);
	say(summary, "At size %s, two-sided send has %s times the latency of one-sided write", size,
	    ratio);
}

/* Prints how close the highest bandwidth is to the rate of the link. */
static void print_limit(struct summary *summary)
{
	const struct result *result = summary->contests.result;
	double rate = (double)result_line_mbps(result) * 1e6 / 8;
	const struct result_case *best = NULL;
	char size[DIGITS_SIZE];

	if (banner_of(result) || !(rate > 0))
		return;
	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];

		if (is_bandwidth(line) && contests_value(&summary->contests, line) > 0 &&
		    (!best || contests_is_faster(&summary->contests, line, best)))
			best = line;
	}
	if (!best)
		return;
	digits_size(size, best->size);
	say(summary, "Highest bandwidth measured: %s at size %s, %.1f %% of the line rate",
	    best->op, size, 100 * contests_value(&summary->contests, best) / rate);
}

/* Returns whether the trials of a case alternated with other cases. */
static bool took_turns(const struct result_case *line)
{
	return line->beside[0] || !isnan(precision_wanted(line)) ||
	       json_is_true(json_object_get(line->parameters, "interleave"));
}

/* Prints that drift was not ruled out, if so. */
static void print_caveat(const struct summary *summary)
{
	const struct result *result = summary->contests.result;

	for (size_t i = 0; i < result->n_cases && summary->contests.count; i++) {
		if (!result->cases[i].n_trials || took_turns(&result->cases[i]))
			continue;
		fputs("  Cases ran one after another: drift of the hosts counts as a difference; "
		      "see --budget\n",
		      summary->out);
		return;
	}
}

void summary_print(FILE *out, const struct result *result)
{
	struct summary summary = {.out = out};
	const struct contests *contests = &summary.contests;

	if (banner_allows_times(result) && !contests_open(&summary.contests, result)) {
		print_race(&summary, &contests->latency[CONTESTS_SMALLEST]);
		print_events(&summary);
		print_tail(&summary);
		print_limit(&summary);
		print_race(&summary, &contests->bandwidth[CONTESTS_LARGEST]);
		print_sides(&summary);
		print_race(&summary, &contests->latency[CONTESTS_LARGEST]);
		print_race(&summary, &contests->latency[CONTESTS_MIDDLE]);
		print_race(&summary, &contests->bandwidth[CONTESTS_MIDDLE]);
		print_race(&summary, &contests->bandwidth[CONTESTS_SMALLEST]);
		if (summary.n_lines)
			print_caveat(&summary);
	}
	contests_close(&summary.contests);
}
