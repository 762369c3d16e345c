/* SPDX-License-Identifier: MIT */
#include "reports/finding/tips.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"

/* How many times as good it is. */
static double gain(const struct tips_pair *pair)
{
	return pair->figure->more_is_good ? pair->ratio.median : 1 / pair->ratio.median;
}

/* Of those with that verdict the one that gains, or loses, most; NULL: there is none. */
static const struct tips_pair *most(const struct tips_list *turns, enum tips_verdict verdict,
				    bool is_loss)
{
	const struct tips_pair *found = NULL;

	for (size_t i = 0; i < turns->n_pairs; i++) {
		const struct tips_pair *pair = &turns->pairs[i];

		/* Processor time is no part of it. */
		if (pair->figure == &compared_figure_client_cpu || tips_judge(pair) != verdict)
			continue;
		if (!found || (gain(pair) < gain(found)) == is_loss)
			found = pair;
	}
	return found;
}

/* What the sentence goes by: what is to gain shows in the best one, a cost in the worst. */
static const struct tips_pair *telling(const struct tips_list *turns, bool is_cost)
{
	enum tips_verdict first = is_cost ? TURNS_WORSE : TURNS_BETTER;
	enum tips_verdict second = is_cost ? TURNS_BETTER : TURNS_WORSE;
	const struct tips_pair *found = most(turns, first, is_cost);

	if (!found)
		found = most(turns, TURNS_SAME, is_cost);
	return found ? found : most(turns, second, !is_cost);
}

/* Sizes at which data inline gain, and at which they do not. */
struct inlined {
	size_t n_gains;
	size_t n_losses; /* that show */
	uint64_t gains_to;
	uint64_t least_without;
};

static struct inlined look_inline(const struct tips_list *turns)
{
	struct inlined found = {.least_without = UINT64_MAX};

	for (size_t i = 0; i < turns->n_pairs; i++) {
		uint64_t size = turns->pairs[i].line->size;
		enum tips_verdict verdict = tips_judge(&turns->pairs[i]);

		found.n_gains += verdict == TURNS_BETTER;
		found.n_losses += verdict == TURNS_WORSE;
		if (verdict != TURNS_BETTER && size < found.least_without)
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
static void advise_inline(const struct tips_list *turns, char text[static TIPS_TEXT])
{
	const struct inlined found = look_inline(turns);

	if (!turns->n_pairs)
		return;
	if (!found.n_gains && !found.n_losses)
		snprintf(text, TIPS_TEXT,
			 "Data inline gain nothing that shows at any size that was tried: post "
			 "them as is simplest.");
	else if (!found.n_gains)
		snprintf(text, TIPS_TEXT,
			 "Do not post data inline: they lose at %zu of the %zu sizes that were "
			 "tried, and gain at none.",
			 found.n_losses, turns->n_pairs);
	else if (!found.gains_to)
		snprintf(
			text, TIPS_TEXT,
			"Data inline gain at %zu of the %zu sizes that were tried, but not at %llu "
			"bytes, the least: there is no size up to which to go.",
			found.n_gains, turns->n_pairs, (unsigned long long)found.least_without);
	else if (found.least_without != UINT64_MAX)
		snprintf(text, TIPS_TEXT,
			 "Post messages of up to %llu bytes inline: at %llu nothing is gained that "
			 "shows.",
			 (unsigned long long)found.gains_to,
			 (unsigned long long)found.least_without);
	else
		snprintf(text, TIPS_TEXT,
			 "Post messages inline: it still gains at %llu bytes, the largest that was "
			 "tried.",
			 (unsigned long long)found.gains_to);
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

/* Where both ends share a processor, the one that polls keeps the other one waiting. */
static const char *choose_cq(enum tips_verdict latency, enum tips_verdict work)
{
	if (latency == TURNS_BETTER && work == TURNS_WORSE)
		return "wait for events where latency counts, and poll where the processor has "
		       "other work";
	if (latency == TURNS_BETTER || (latency == TURNS_SAME && work == TURNS_BETTER))
		return "wait for events";
	if (work == TURNS_BETTER)
		return "poll where latency counts, and wait for events where the processor has "
		       "other work";
	return "poll; events are for processors that wait long for each message";
}

static void advise_cq(const struct tips_list *turns, char text[static TIPS_TEXT])
{
	const struct tips_pair *slow = find_mode(turns, "event", false);
	const struct tips_pair *idle = find_mode(turns, "event", true);
	const struct tips_pair *both = find_mode(turns, "adaptive", false);
	const struct tips_pair *work = find_mode(turns, "adaptive", true);
	char adaptive[64] = "";

	if (!slow || !idle)
		return;
	if (both && work)
		snprintf(adaptive, sizeof(adaptive), ", adaptive waiting %.2f and %.2f times",
			 both->ratio.median, work->ratio.median);
	snprintf(text, TIPS_TEXT,
		 "Events take %.2f times the latency of polling and %.2f times its CPU time for a "
		 "message%s: %s.",
		 slow->ratio.median, idle->ratio.median, adaptive,
		 choose_cq(tips_judge(slow), tips_judge(idle)));
}

static void advise_pin(const struct tips_list *turns, char text[static TIPS_TEXT])
{
	const struct tips_pair *good = telling(turns, false);

	if (good && tips_judge(good) == TURNS_BETTER)
		snprintf(text, TIPS_TEXT, "Pin the thread as %s does: %.2f times the time of %s.",
			 good->line->id, good->ratio.median, good->beside->id);
	else if (good && tips_judge(good) == TURNS_WORSE)
		snprintf(text, TIPS_TEXT,
			 "Leave the thread to the scheduler: %s takes %.2f times the time of %s.",
			 good->line->id, good->ratio.median, good->beside->id);
	else
		snprintf(text, TIPS_TEXT,
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
	void (*advise)(const struct tips_list *turns, char text[static TIPS_TEXT]);
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

/* Whether the value is that of a case that has what the sentences call without. */
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
		if (!is_base(tip, &turns->pairs[i]) || tips_judge(&turns->pairs[i]) == TURNS_FEW)
			return false;
	return true;
}

void tips_advise(const struct tips_list *turns, char text[static TIPS_TEXT])
{
	const struct tip *tip = find_tip(turns);
	bool is_told = tip && has_bases(tip, turns);
	const struct tips_pair *good = is_told ? telling(turns, tip->is_cost) : NULL;

	text[0] = '\0';
	if (!good)
		return;
	if (tip->advise)
		tip->advise(turns, text);
	else
		snprintf(text, TIPS_TEXT, "%s (%s: %.2f times the %s of %s).",
			 tip->says[tips_judge(good)], good->line->id, good->ratio.median,
			 good->figure->more_is_good ? "rate" : "time", good->beside->id);
}
