/* SPDX-License-Identifier: MIT */
#include "reports/finding/tips.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"
#include "reports/result/digits.h"

/* Returns the improvement as a factor; below 1: a loss. */
static double gain(const struct tips_pair *pair)
{
	return pair->figure->more_is_good ? pair->ratio.median : 1 / pair->ratio.median;
}

/* Returns the pair with that verdict and the largest gain or loss; NULL: no pair has it. */
static const struct tips_pair *most(const struct tips_list *turns, enum verdict verdict,
				    bool is_loss)
{
	const struct tips_pair *found = NULL;

	for (size_t i = 0; i < turns->n_pairs; i++) {
		const struct tips_pair *pair = &turns->pairs[i];

		/* Only advise_cq looks at CPU time. */
		if (pair->figure == &compared_figure_client_cpu || pair->judged.verdict != verdict)
			continue;
		if (!found || (gain(pair) < gain(found)) == is_loss)
			found = pair;
	}
	return found;
}

/*
 * Returns the pair that decides: the best gain, or the worst cost. Without either, an unclear pair
 * decides, because it could still be one.
 */
static const struct tips_pair *find_deciding(const struct tips_list *turns, bool is_cost)
{
	const enum verdict order[] = {is_cost ? VERDICT_WORSE : VERDICT_BETTER, VERDICT_UNCLEAR,
				      VERDICT_SAME, is_cost ? VERDICT_BETTER : VERDICT_WORSE};
	const struct tips_pair *found = NULL;

	for (size_t i = 0; i < ARRAY_LENGTH(order) && !found; i++)
		found = most(turns, order[i], is_cost);
	return found;
}

/* The rounding error of a percentage. */
#define ROUNDING 1e-6

void tips_interval(char text[static TIPS_INTERVAL], const struct tips_pair *pair)
{
	char low[DIGITS_TEXT];
	char high[DIGITS_TEXT];

	digits_print(low, pair->judged.low, DIGITS_RATIO);
	digits_print(high, pair->judged.high, DIGITS_RATIO);
	if (isnan(pair->judged.low))
		snprintf(text, TIPS_INTERVAL, "-");
	else
		snprintf(text, TIPS_INTERVAL, "%.24s..%.24s", low, high);
}

static void advise_unclear(const struct tips_pair *pair, char text[static TIPS_TEXT])
{
	double detectable = verdict_detectable(&pair->judged);
	char detail[128] = "there are too few trials to show any difference";

	if (isfinite(detectable))
		snprintf(detail, sizeof(detail),
			 "the smallest difference that the data could have shown is %.0f %%",
			 ceil(100 * detectable - ROUNDING));
	snprintf(text, TIPS_TEXT, "Unclear (%s compared with %s): %s. Use more --trials.",
		 pair->line->id, pair->beside->id, detail);
}

/* Counts of sizes, by verdict. */
struct inlined {
	size_t counts[VERDICTS];
	uint64_t gains_to;
	uint64_t least_without;
	const struct tips_pair *without; /* at that size; NULL: gains at every size */
};

static struct inlined look_inline(const struct tips_list *turns)
{
	struct inlined found = {.least_without = UINT64_MAX};

	for (size_t i = 0; i < turns->n_pairs; i++) {
		const struct tips_pair *pair = &turns->pairs[i];

		found.counts[pair->judged.verdict]++;
		if (pair->judged.verdict == VERDICT_BETTER ||
		    pair->line->size >= found.least_without)
			continue;
		found.least_without = pair->line->size;
		found.without = pair;
	}
	for (size_t i = 0; i < turns->n_pairs; i++) {
		uint64_t size = turns->pairs[i].line->size;

		if (size < found.least_without && size > found.gains_to)
			found.gains_to = size;
	}
	return found;
}

/* Inline data helps up to some size. A gain above a size without one is luck. */
static void advise_inline(const struct tips_list *turns, char text[static TIPS_TEXT])
{
	const struct inlined found = look_inline(turns);
	size_t gains = found.counts[VERDICT_BETTER];
	size_t losses = found.counts[VERDICT_WORSE];

	if (!gains && found.counts[VERDICT_UNCLEAR])
		advise_unclear(most(turns, VERDICT_UNCLEAR, false), text);
	else if (!gains && !losses)
		snprintf(text, TIPS_TEXT,
			 "Inline data does not help at any of the %zu sizes: post without it.",
			 turns->n_pairs);
	else if (!gains)
		snprintf(text, TIPS_TEXT,
			 "Do not post data inline: slower at %zu of the %zu sizes, faster at none.",
			 losses, turns->n_pairs);
	else if (!found.without)
		snprintf(text, TIPS_TEXT,
			 "Post messages inline: it still helps at %llu bytes, the largest size.",
			 (unsigned long long)found.gains_to);
	else if (!found.gains_to)
		snprintf(text, TIPS_TEXT,
			 "Inline data helps at %zu of the %zu sizes, but at %llu bytes, the "
			 "smallest, the verdict is %s: no size limit can be recommended.",
			 gains, turns->n_pairs, (unsigned long long)found.least_without,
			 verdict_name(found.without->judged.verdict));
	else
		snprintf(text, TIPS_TEXT,
			 "Post messages of up to %llu bytes inline: at %llu the verdict is %s.",
			 (unsigned long long)found.gains_to,
			 (unsigned long long)found.least_without,
			 verdict_name(found.without->judged.verdict));
}

static const struct tips_pair *find_mode(const struct tips_list *turns, const char *cq,
					 bool is_work)
{
	for (size_t i = 0; i < turns->n_pairs; i++) {
		const struct tips_pair *pair = &turns->pairs[i];

		if ((pair->figure == &compared_figure_client_cpu) == is_work &&
		    !strcmp(pair->line->cq, cq))
			return pair;
	}
	return NULL;
}

/* If client and server share a CPU, the one that polls delays the other. */
static const char *choose_cq(enum verdict latency, enum verdict work)
{
	if (latency == VERDICT_UNCLEAR || work == VERDICT_UNCLEAR)
		return "use more --trials to decide";
	if (latency == VERDICT_BETTER && work == VERDICT_WORSE)
		return "wait for events if latency matters, and poll if the CPU has other work";
	if (latency == VERDICT_BETTER || (latency == VERDICT_SAME && work == VERDICT_BETTER))
		return "wait for events";
	if (work == VERDICT_BETTER)
		return "poll if latency matters, and wait for events if the CPU has other work";
	return "poll; use events on CPUs that wait long for each message";
}

#define TIMES_TEXT 96

/* "worse (1.40..1.60 times)", or "unclear". */
static void describe_times(char text[static TIMES_TEXT], const struct tips_pair *pair)
{
	enum verdict verdict = pair->judged.verdict;
	char interval[TIPS_INTERVAL];

	tips_interval(interval, pair);
	if (verdict == VERDICT_UNCLEAR)
		snprintf(text, TIMES_TEXT, "%s", verdict_name(verdict));
	else
		snprintf(text, TIMES_TEXT, "%s (%s times)", verdict_name(verdict), interval);
}

static void advise_cq(const struct tips_list *turns, char text[static TIPS_TEXT])
{
	const struct tips_pair *const pairs[2][2] = {
		{find_mode(turns, "event",    false), find_mode(turns, "event",    true)},
		{find_mode(turns, "adaptive", false), find_mode(turns, "adaptive", true)}
        };
	char times[2][2][TIMES_TEXT];
	char adaptive[256] = "";

	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 2 && pairs[i][0] && pairs[i][1]; j++)
			describe_times(times[i][j], pairs[i][j]);
	if (!pairs[0][0] || !pairs[0][1])
		return;
	if (pairs[1][0] && pairs[1][1])
		snprintf(adaptive, sizeof(adaptive), "; adaptive mode: latency %s, CPU time %s",
			 times[1][0], times[1][1]);
	snprintf(text, TIPS_TEXT,
		 "Events compared with polling: latency %s, CPU time per message %s%s: "
		 "%s.",
		 times[0][0], times[0][1], adaptive,
		 choose_cq(pairs[0][0]->judged.verdict, pairs[0][1]->judged.verdict));
}

static void advise_pin(const struct tips_list *turns, char text[static TIPS_TEXT])
{
	const struct tips_pair *good = find_deciding(turns, false);
	char times[TIMES_TEXT];

	describe_times(times, good);
	if (good->judged.verdict == VERDICT_BETTER)
		snprintf(text, TIPS_TEXT, "Pin the thread as %s does: %s than %s.", good->line->id,
			 times, good->beside->id);
	else if (good->judged.verdict == VERDICT_WORSE)
		snprintf(text, TIPS_TEXT, "Leave the thread to the scheduler: %s is %s than %s.",
			 good->line->id, times, good->beside->id);
	else if (good->judged.verdict == VERDICT_UNCLEAR)
		advise_unclear(good, text);
	else
		snprintf(text, TIPS_TEXT,
			 "Pinning does not help while nothing else uses the CPUs.");
}

/* The tips, with advice for each verdict. */
// clang-format off
static const struct tip {
	const char *by;
	const char *op; /* NULL: any */
	const char *title;
	const char *base; /* the value to compare with; NULL: any smaller number */
	bool is_cost;     /* the compared value is the one to avoid */
	void (*advise)(const struct tips_list *turns, char text[static TIPS_TEXT]);
	const char *says[VERDICTS];
} tips[] = {
	{.by = "inline", .title = "inline data", .base = "0", .advise = advise_inline},
	{.by = "post-list", .title = "batching",
	 .base = "1",
	 .says = {[VERDICT_SAME] = "Post operations one at a time: lists do not help",
		  [VERDICT_BETTER] = "Post several operations with one call",
		  [VERDICT_WORSE] = "Post operations one at a time: lists are slower"}},
	{.by = "cq", .title = "polling or events", .base = "poll", .advise = advise_cq},
	{.by = "registration", .title = "registering once or each time",
	 .base = "once",
	 .is_cost = true,
	 .says = {[VERDICT_SAME] = "Registering each time costs nothing",
		  [VERDICT_BETTER] = "Register memory when it is needed",
		  [VERDICT_WORSE] = "Register memory once and reuse it"}},
	{.by = "cq-depth", .title = "size of a completion queue",
	 .is_cost = true,
	 .says = {[VERDICT_SAME] = "Size a completion queue for all outstanding operations: more "
		  "costs nothing",
		  [VERDICT_BETTER] = "A longer completion queue is even faster",
		  [VERDICT_WORSE] = "Size a completion queue for all outstanding operations, and no "
		  "more"}},
	{.by = "tx-depth",
	 .op = "create-cq",
	 .title = "creating a long completion queue",
	 .is_cost = true,
	 .says = {[VERDICT_SAME] = "Long completion queues are created as fast as short ones",
		  [VERDICT_BETTER] = "Long completion queues are created even faster",
		  [VERDICT_WORSE] = "Create long completion queues ahead of time"}},
	{.by = "pin", .title = "affinity", .base = "off", .advise = advise_pin},
	{.by = "hugepages", .title = "huge pages",
	 .base = "false",
	 .says = {[VERDICT_SAME] = "Use normal pages: huge pages do not help",
		  [VERDICT_BETTER] = "Use huge pages for buffers",
		  [VERDICT_WORSE] = "Use normal pages: huge pages are slower"}},
};
// clang-format on

/* Returns NULL if no tip is about the parameter. */
static const struct tip *find_tip(const struct tips_list *turns)
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

const char *tips_title(const struct tips_list *turns)
{
	const struct tip *tip = find_tip(turns);

	return tip ? tip->title : NULL;
}

/* Whether the pair is compared with the tip's base value. */
static bool is_base(const struct tip *tip, const struct tips_pair *pair)
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

static bool has_bases(const struct tip *tip, const struct tips_list *turns)
{
	for (size_t i = 0; i < turns->n_pairs; i++)
		if (!is_base(tip, &turns->pairs[i]) || isnan(turns->pairs[i].judged.low))
			return false;
	return true;
}

void tips_advise(const struct tips_list *turns, char text[static TIPS_TEXT])
{
	const struct tip *tip = find_tip(turns);
	bool has_advice = tip && has_bases(tip, turns);
	const struct tips_pair *good = has_advice ? find_deciding(turns, tip->is_cost) : NULL;
	char interval[TIPS_INTERVAL];

	text[0] = '\0';
	if (!good)
		return;
	if (tip->advise)
		tip->advise(turns, text);
	else if (good->judged.verdict == VERDICT_UNCLEAR)
		advise_unclear(good, text);
	if (tip->advise || good->judged.verdict == VERDICT_UNCLEAR)
		return;
	tips_interval(interval, good);
	snprintf(text, TIPS_TEXT, "%s (%s: %s times the %s of %s).",
		 tip->says[good->judged.verdict], good->line->id, interval,
		 good->figure->more_is_good ? "rate" : "time", good->beside->id);
}
