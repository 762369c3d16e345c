/* SPDX-License-Identifier: MIT */
#include "reports/turns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/compiler.h"
#include "reports/figure.h"
#include "reports/interval.h"

#define TEXT (2 * CASE_ID + 512)

/* Two cases, and what one is worth beside the other. */
struct pair {
	const struct result_case *line;
	const struct result_case *beside;
	const struct figure *figure;
	struct interval with;
	struct interval without;
	struct interval ratio;
};

/* One that could not be measured, or not often enough. */
struct gap {
	const struct result_case *line;
};

/* All pairs of a parameter, those that could not be measured too. */
struct turns {
	const char *by;
	struct pair *pairs;
	size_t n_pairs;
	struct gap *gaps; /* those that have no figures */
	size_t n_gaps;
};

enum verdict {
	VERDICT_SAME,
	VERDICT_BETTER,
	VERDICT_WORSE,
	VERDICT_FEW, /* rounds: there is no interval to speak of */
};

#define LEAST_CONFIDENCE 0.95
/* What is printed as 1.00 is no difference, however sure it is. */
#define LEAST_DIFFERENCE 0.005

static enum verdict judge(const struct pair *pair)
{
	bool is_more = pair->ratio.low > 1 + LEAST_DIFFERENCE;
	bool is_less = pair->ratio.high < 1 - LEAST_DIFFERENCE;

	if (pair->ratio.confidence < LEAST_CONFIDENCE)
		return VERDICT_FEW;
	if (!is_more && !is_less)
		return VERDICT_SAME;
	return is_more == pair->figure->more_is_good ? VERDICT_BETTER : VERDICT_WORSE;
}

static const char *word_of(const struct pair *pair)
{
	static const char *const words[] = {"no difference shown", "better", "worse",
					    "too few rounds"};

	return words[judge(pair)];
}

/* How many times as good it is. */
static double gain(const struct pair *pair)
{
	return pair->figure->more_is_good ? pair->ratio.median : 1 / pair->ratio.median;
}

static const struct result_case *find(const struct result *result, const char *id)
{
	for (size_t i = 0; i < result->n_cases; i++)
		if (!strcmp(result->cases[i].id, id))
			return &result->cases[i];
	return NULL;
}

/* Of all rounds: false if one of them lacks the figure, as a median of few messages. */
static bool compare(struct pair *pair, double *values)
{
	size_t n = pair->line->n_trials;
	double *with = values;
	double *without = values + n;
	double *ratio = values + 2 * n;
	struct error unused = {0};

	for (size_t i = 0; i < n; i++) {
		with[i] = pair->figure->value(&pair->line->trials[i]);
		without[i] = pair->figure->value(&pair->beside->trials[i]);
		ratio[i] = with[i] / without[i];
		/* A document may have any numbers. */
		if (!(with[i] > 0 && without[i] > 0 && ratio[i] > 0 && isfinite(ratio[i])))
			return false;
	}
	return !interval_median(&pair->with, with, n, &unused) &&
	       !interval_median(&pair->without, without, n, &unused) &&
	       !interval_median(&pair->ratio, ratio, n, &unused);
}

/* Once, however many would be seen beside it. */
static void add_missing(struct turns *turns, const struct result_case *line)
{
	struct gap *grown;

	for (size_t i = 0; i < turns->n_gaps; i++)
		if (turns->gaps[i].line == line)
			return;
	grown = reallocarray(turns->gaps, turns->n_gaps + 1, sizeof(*grown));
	if (!grown)
		return;
	turns->gaps = grown;
	grown[turns->n_gaps++] = (struct gap){line};
}

/* false: there is nothing to compare. */
static bool add_pair(struct turns *turns, struct pair pair)
{
	size_t room = 3 * (pair.line->n_trials + 1);
	double *values = calloc(room, sizeof(*values));
	struct pair *grown = reallocarray(turns->pairs, turns->n_pairs + 1, sizeof(*turns->pairs));
	bool is_added;

	if (grown)
		turns->pairs = grown;
	is_added = grown && values && compare(&pair, values);
	if (is_added)
		grown[turns->n_pairs++] = pair;
	free(values);
	return is_added;
}

static bool add_latency(struct turns *turns, struct pair pair)
{
	pair.figure = &figure_median;
	if (add_pair(turns, pair))
		return true;
	pair.figure = &figure_mean;
	return add_pair(turns, pair);
}

static void add_case(struct turns *turns, const struct result *result,
		     const struct result_case *line)
{
	const struct result_case *beside = find(result, line->beside);
	struct pair pair = {.line = line, .beside = beside, .figure = &figure_messages};
	bool is_added;

	if (!beside || beside->kind != line->kind)
		return;
	if (!line->n_trials || !beside->n_trials) {
		add_missing(turns, line->n_trials ? beside : line);
		return;
	}
	/* Of merged results, or of none that this program has made. */
	if (line->n_trials != beside->n_trials) {
		add_missing(turns, line);
		return;
	}
	is_added =
		strcmp(line->metric, "bw") != 0 ? add_latency(turns, pair) : add_pair(turns, pair);
	if (!is_added)
		add_missing(turns, line);
	/* Whoever waits may be fast, or let others work. */
	pair.figure = &figure_client_cpu;
	if (!strcmp(line->by, "cq"))
		add_pair(turns, pair);
}

static void close_turns(struct turns *turns)
{
	free(turns->pairs);
	free(turns->gaps);
}

/* Whether case number is the first that differs from another one in that. */
static bool is_first(const struct result *result, size_t number)
{
	const char *by = result->cases[number].by;

	for (size_t i = 0; i < number && by; i++)
		if (result->cases[i].by && !strcmp(result->cases[i].by, by))
			return false;
	return by != NULL;
}

/* All of the next parameter, from case *number on. false: there are no more. */
static bool next_turns(struct turns *turns, const struct result *result, size_t *number)
{
	*turns = (struct turns){0};
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

/* Of those with that verdict the one that gains, or loses, most; NULL: there is none. */
static const struct pair *most(const struct turns *turns, enum verdict verdict, bool is_loss)
{
	const struct pair *found = NULL;

	for (size_t i = 0; i < turns->n_pairs; i++) {
		const struct pair *pair = &turns->pairs[i];

		/* Processor time is no part of it. */
		if (pair->figure == &figure_client_cpu || judge(pair) != verdict)
			continue;
		if (!found || (gain(pair) < gain(found)) == is_loss)
			found = pair;
	}
	return found;
}

/* What the sentence goes by: what is to gain shows in the best one, a cost in the worst. */
static const struct pair *telling(const struct turns *turns, bool is_cost)
{
	enum verdict first = is_cost ? VERDICT_WORSE : VERDICT_BETTER;
	enum verdict second = is_cost ? VERDICT_BETTER : VERDICT_WORSE;
	const struct pair *found = most(turns, first, is_cost);

	if (!found)
		found = most(turns, VERDICT_SAME, is_cost);
	return found ? found : most(turns, second, !is_cost);
}

/* Sizes at which data inline gain, and at which they do not. */
struct inlined {
	size_t n_gains;
	size_t n_losses; /* that show */
	uint64_t gains_to;
	uint64_t least_without;
};

static struct inlined look_inline(const struct turns *turns)
{
	struct inlined found = {.least_without = UINT64_MAX};

	for (size_t i = 0; i < turns->n_pairs; i++) {
		uint64_t size = turns->pairs[i].line->size;
		enum verdict verdict = judge(&turns->pairs[i]);

		found.n_gains += verdict == VERDICT_BETTER;
		found.n_losses += verdict == VERDICT_WORSE;
		if (verdict != VERDICT_BETTER && size < found.least_without)
			found.least_without = size;
	}
	for (size_t i = 0; i < turns->n_pairs; i++) {
		uint64_t size = turns->pairs[i].line->size;

		if (size < found.least_without && size > found.gains_to)
			found.gains_to = size;
	}
	return found;
}

/* Below the first size at which data inline gain nothing, they do: above it, that is luck. */
static void advise_inline(const struct turns *turns, char text[static TEXT])
{
	const struct inlined found = look_inline(turns);

	if (!turns->n_pairs)
		return;
	if (!found.n_gains && !found.n_losses)
		snprintf(text, TEXT,
			 "Data inline gain nothing that shows at any size that was tried: post "
			 "them as is simplest.");
	else if (!found.n_gains)
		snprintf(text, TEXT,
			 "Do not post data inline: they lose at %zu of the %zu sizes that were "
			 "tried, and gain at none.",
			 found.n_losses, turns->n_pairs);
	else if (!found.gains_to)
		snprintf(
			text, TEXT,
			"Data inline gain at %zu of the %zu sizes that were tried, but not at %llu "
			"bytes, the least: there is no size up to which to go.",
			found.n_gains, turns->n_pairs, (unsigned long long)found.least_without);
	else if (found.least_without != UINT64_MAX)
		snprintf(text, TEXT,
			 "Post messages of up to %llu bytes inline: at %llu nothing is gained that "
			 "shows.",
			 (unsigned long long)found.gains_to,
			 (unsigned long long)found.least_without);
	else
		snprintf(text, TEXT,
			 "Post messages inline: it still gains at %llu bytes, the largest that was "
			 "tried.",
			 (unsigned long long)found.gains_to);
}

static const struct pair *find_mode(const struct turns *turns, const char *cq, bool is_work)
{
	for (size_t i = 0; i < turns->n_pairs; i++) {
		const struct pair *pair = &turns->pairs[i];

		if ((pair->figure == &figure_client_cpu) == is_work && !strcmp(pair->line->cq, cq))
			return pair;
	}
	return NULL;
}

/* Where both ends share a processor, the one that polls keeps the other one waiting. */
static const char *choose_cq(enum verdict latency, enum verdict work)
{
	if (latency == VERDICT_BETTER && work == VERDICT_WORSE)
		return "wait for events where latency counts, and poll where the processor has "
		       "other work";
	if (latency == VERDICT_BETTER || (latency == VERDICT_SAME && work == VERDICT_BETTER))
		return "wait for events";
	if (work == VERDICT_BETTER)
		return "poll where latency counts, and wait for events where the processor has "
		       "other work";
	return "poll; events are for processors that wait long for each message";
}

static void advise_cq(const struct turns *turns, char text[static TEXT])
{
	const struct pair *slow = find_mode(turns, "event", false);
	const struct pair *idle = find_mode(turns, "event", true);
	const struct pair *both = find_mode(turns, "adaptive", false);
	const struct pair *work = find_mode(turns, "adaptive", true);
	char adaptive[64] = "";

	if (!slow || !idle)
		return;
	if (both && work)
		snprintf(adaptive, sizeof(adaptive), ", adaptive waiting %.2f and %.2f times",
			 both->ratio.median, work->ratio.median);
	snprintf(text, TEXT,
		 "Events take %.2f times the latency of polling and %.2f times its CPU time for a "
		 "message%s: %s.",
		 slow->ratio.median, idle->ratio.median, adaptive,
		 choose_cq(judge(slow), judge(idle)));
}

static void advise_pin(const struct turns *turns, char text[static TEXT])
{
	const struct pair *good = telling(turns, false);

	if (good && judge(good) == VERDICT_BETTER)
		snprintf(text, TEXT, "Pin the thread as %s does: %.2f times the time of %s.",
			 good->line->id, good->ratio.median, good->beside->id);
	else if (good && judge(good) == VERDICT_WORSE)
		snprintf(text, TEXT,
			 "Leave the thread to the scheduler: %s takes %.2f times the time of %s.",
			 good->line->id, good->ratio.median, good->beside->id);
	else
		snprintf(text, TEXT,
			 "Pinning gains nothing that shows here, while nothing else wants the "
			 "processors.");
}

/* What each of the tips is worth: sentences for what shows nothing, what gains, what loses. */
// clang-format off
static const struct tip {
	const char *by;
	const char *op; /* NULL: any */
	const char *title;
	const char *base; /* that the others are seen beside; NULL: a smaller number */
	bool is_cost;     /* of what is not to be done */
	void (*advise)(const struct turns *turns, char text[static TEXT]);
	const char *says[3];
} tips[] = {
	{.by = "inline", .title = "inline data", .base = "0", .advise = advise_inline},
	{.by = "post-list", .title = "batching",
	 .base = "1",
	 .says = {"Post operations one by one: lists gain nothing that shows",
		  "Post several operations by one call", "Post operations one by one: lists lose"}},
	{.by = "cq", .title = "polling or events", .base = "poll", .advise = advise_cq},
	{.by = "registration", .title = "registering once or each time",
	 .base = "once",
	 .is_cost = true,
	 .says = {"Registering each time costs nothing that shows",
		  "Register memory when it is needed", "Register memory once and use it again"}},
	{.by = "cq-depth", .title = "size of a completion queue",
	 .is_cost = true,
	 .says = {"Give a completion queue room for all that can be under way: more costs nothing "
		  "that shows",
		  "A longer completion queue is even faster",
		  "Give a completion queue room for all that can be under way, and no more"}},
	{.by = "tx-depth",
	 .op = "create-cq",
	 .title = "making a long completion queue",
	 .is_cost = true,
	 .says = {"Long completion queues are made as fast as short ones",
		  "Long completion queues are even made faster",
		  "Make long completion queues ahead of time"}},
	{.by = "pin", .title = "affinity", .base = "off", .advise = advise_pin},
	{.by = "hugepages", .title = "huge pages",
	 .base = "false",
	 .says = {"Take the pages that are there: huge ones gain nothing that shows",
		  "Take huge pages for buffers", "Leave huge pages: they lose"}},
};
// clang-format on

/* NULL: the parameter is none. */
static const struct tip *find_tip(const struct turns *turns)
{
	const struct result_case *line = turns->n_pairs  ? turns->pairs[0].line
					 : turns->n_gaps ? turns->gaps[0].line
							 : NULL;

	for (size_t i = 0; i < ARRAY_LENGTH(tips); i++)
		if (!strcmp(tips[i].by, turns->by) &&
		    (!tips[i].op || !line || !strcmp(tips[i].op, line->op)))
			return &tips[i];
	return NULL;
}

/* Whether the value is that of a case that has what the sentences call without. */
static bool is_base(const struct tip *tip, const struct pair *pair)
{
	const json_t *base = json_object_get(pair->beside->parameters, tip->by);
	const json_t *value = json_object_get(pair->line->parameters, tip->by);

	if (!tip->base)
		return json_integer_value(base) < json_integer_value(value);
	if (json_is_boolean(base))
		return json_is_true(base) == !strcmp(tip->base, "true");
	if (json_is_integer(base))
		return json_integer_value(base) == atoll(tip->base);
	return json_is_string(base) && !strcmp(json_string_value(base), tip->base);
}

static bool has_bases(const struct tip *tip, const struct turns *turns)
{
	for (size_t i = 0; i < turns->n_pairs; i++)
		if (!is_base(tip, &turns->pairs[i]) || judge(&turns->pairs[i]) == VERDICT_FEW)
			return false;
	return true;
}

/* Empty: there is no advice. */
static void advise(const struct turns *turns, char text[static TEXT])
{
	const struct tip *tip = find_tip(turns);
	bool is_told = tip && has_bases(tip, turns);
	const struct pair *good = is_told ? telling(turns, tip->is_cost) : NULL;

	text[0] = '\0';
	if (!good)
		return;
	if (tip->advise)
		tip->advise(turns, text);
	else
		snprintf(text, TEXT, "%s (%s: %.2f times the %s of %s).", tip->says[judge(good)],
			 good->line->id, good->ratio.median,
			 good->figure->more_is_good ? "rate" : "time", good->beside->id);
}

/* Why one is not among the pairs. */
static void excuse(const struct result_case *line, char text[static TEXT])
{
	snprintf(text, TEXT, "%s: %s", line->id,
		 line->error[0]   ? line->error
		 : line->n_trials ? "too few messages, or another number of trials"
				  : result_status_name(line->status));
}

static void print_pair(FILE *out, const struct pair *pair, int width)
{
	double unit = pair->figure->unit;

	fprintf(out, "  %-*s  %-6s %9.3f %9.3f  %6.2f  %.2f to %.2f  %s\n", width, pair->line->id,
		pair->figure->title, pair->without.median / unit, pair->with.median / unit,
		pair->ratio.median, pair->ratio.low, pair->ratio.high, word_of(pair));
}

static void print_overflow(FILE *out, const json_t *overflow)
{
	fprintf(out, "  too small: %s\n", json_string_value(json_object_get(overflow, "seen")));
}

static void print_turns(FILE *out, const struct turns *turns, const json_t *overflow, int width)
{
	const struct tip *tip = find_tip(turns);
	char text[TEXT];

	fprintf(out, "%s%s%s\n", turns->by, tip ? ": " : "", tip ? tip->title : "");
	for (size_t i = 0; i < turns->n_pairs; i++)
		print_pair(out, &turns->pairs[i], width);
	for (size_t i = 0; i < turns->n_gaps; i++) {
		excuse(turns->gaps[i].line, text);
		fprintf(out, "  not shown: %s\n", text);
	}
	if (overflow && !strcmp(turns->by, "cq-depth"))
		print_overflow(out, overflow);
	advise(turns, text);
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

void turns_print(FILE *out, const struct result *result)
{
	int width = widest(result);
	struct turns turns;
	size_t number = 0;

	if (width)
		fprintf(out, "%-*s  %-6s %9s %9s  %6s  %s\n", width + 2, "IN TURN", "", "without",
			"with", "ratio", "95 % interval");
	while (next_turns(&turns, result, &number)) {
		print_turns(out, &turns, result->overflow, width);
		close_turns(&turns);
	}
}

static json_t *make_interval(const struct interval *interval)
{
	return json_pack("{s:f, s:f, s:f, s:f}", "median", interval->median, "low", interval->low,
			 "high", interval->high, "confidence", interval->confidence);
}

static json_t *make_pair(const struct pair *pair)
{
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:s}", "case", pair->line->id, "beside",
			 pair->beside->id, "figure", pair->figure->key, "with",
			 make_interval(&pair->with), "without", make_interval(&pair->without),
			 "ratio", make_interval(&pair->ratio), "verdict", word_of(pair));
}

static json_t *make_turns(const struct turns *turns)
{
	const struct tip *tip = find_tip(turns);
	json_t *pairs = json_array();
	json_t *missing = turns->n_gaps ? json_array() : NULL;
	char advice[TEXT];

	for (size_t i = 0; i < turns->n_pairs; i++)
		json_array_append_new(pairs, make_pair(&turns->pairs[i]));
	advise(turns, advice);
	for (size_t i = 0; i < turns->n_gaps; i++) {
		char text[TEXT];

		excuse(turns->gaps[i].line, text);
		json_array_append_new(missing, json_string(text));
	}
	return json_pack("{s:s, s:s*, s:o, s:o*, s:s*}", "by", turns->by, "tip",
			 tip ? tip->title : NULL, "pairs", pairs, "missing", missing, "advice",
			 advice[0] ? advice : NULL);
}

json_t *turns_make(const struct result *result)
{
	json_t *made = NULL;
	struct turns turns;
	size_t number = 0;

	while (next_turns(&turns, result, &number)) {
		if (!made)
			made = json_array();
		json_array_append_new(made, make_turns(&turns));
		close_turns(&turns);
	}
	return made;
}
