/* SPDX-License-Identifier: MIT */
#include "reports/finding/contests.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/stats/ratio.h"

/* Cases with fewer trials have no interval either. */
#define TRIALS_LEAST 6

/* Preferred to the smallest size: perftest measures latency at it. */
#define USUAL_SIZE 64

/* The sizes between which a typical one is chosen. */
#define MIDDLE_LEAST (4U << 10)
#define MIDDLE_MOST  (64U << 10)

static bool is_bandwidth(const struct result_case *line)
{
	return !strcmp(line->metric, "bw");
}

/* Returns the part of the id behind its first `n` words; NULL: it has fewer. */
static const char *behind(const struct result_case *line, int n)
{
	const char *text = line->id;

	for (int i = 0; i < n && text; i++) {
		text = strchr(text, '/');
		text += text ? 1 : 0;
	}
	return text;
}

static double find_value(const struct result_case *line)
{
	if (line->status != RESULT_COMPLETE || !line->n_trials || line->kind == RESULT_CALL)
		return (double)NAN;
	if (is_bandwidth(line))
		return result_rate(line, false) * result_payload(line);
	return !strcmp(line->metric, "lat") && result_has_latency(line) ? result_named(line, "p50")
									: (double)NAN;
}

double contests_value(const struct contests *contests, const struct result_case *line)
{
	return contests->values[line - contests->result->cases];
}

static bool can_compare(const struct contests *contests, const struct result_case *line)
{
	return contests_value(contests, line) > 0 && line->n_trials >= TRIALS_LEAST &&
	       behind(line, 3);
}

/* Whether two cases differ in nothing but the operation. */
static bool is_rival(const struct result_case *a, const struct result_case *b)
{
	return a->kind == b->kind && !strcmp(behind(a, 1), behind(b, 1));
}

/* Returns the values of the trials; NULL: a trial lacks the figure, or memory runs out. */
static double *list_values(const struct result_case *line, const struct compared_figure *figure)
{
	double *values = calloc(line->n_trials, sizeof(*values));

	for (size_t i = 0; i < line->n_trials && values; i++) {
		values[i] = figure->value(&line->trials[i]);
		if (values[i] > 0 && isfinite(values[i]))
			continue;
		free(values);
		values = NULL;
	}
	return values;
}

/* Fills in the ratio of the contest and the chance that there is no difference. */
static void measure(struct contest *contest, const double *rival, const double *own)
{
	const struct ratio_side base = {rival, contest->rival->n_trials};
	const struct ratio_side now = {own, contest->line->n_trials};
	bool more_is_good = contest->figure->more_is_good;
	struct judged_ratio *judged = &contest->judged;
	struct ratio ratio;
	double chance;

	ratio_of(&ratio, &base, &now, 0);
	*judged = (struct judged_ratio){
		.ratio = ratio.ratio,
		.low = ratio.low,
		.high = ratio.high,
		.threshold = contest->figure->threshold,
		/* A nanosecond more or less is no difference. */
		.resolution = !strcmp(contest->figure->measure, "ns") ? 1 / ratio.base : 0,
		.more_is_good = more_is_good,
	};
	chance = ratio_beyond(&ratio, verdict_distance(judged));
	judged->better = (ratio.ratio > 1) == more_is_good ? chance : 1;
	judged->worse = (ratio.ratio > 1) == more_is_good ? 1 : chance;
}

static void add_contest(struct contests *contests, struct contest_list *list,
			const struct contest *contest)
{
	struct contest *added = &contests->contest[contests->count];
	double *rival = list_values(contest->rival, contest->figure);
	double *own = list_values(contest->line, contest->figure);

	if (rival && own && contests->count < CONTESTS_MOST) {
		*added = *contest;
		measure(added, rival, own);
		if (!list->count++)
			list->first = contests->count;
		contests->count++;
	}
	free(rival);
	free(own);
}

bool contests_is_faster(const struct contests *contests, const struct result_case *line,
			const struct result_case *other)
{
	double value = contests_value(contests, line);

	return is_bandwidth(line) ? value > contests_value(contests, other)
				  : value < contests_value(contests, other);
}

static size_t count_rivals(const struct contests *contests, const struct result_case *line)
{
	const struct result *result = contests->result;
	size_t n = 0;

	for (size_t i = 0; i < result->n_cases; i++)
		n += can_compare(contests, &result->cases[i]) && is_rival(&result->cases[i], line);
	return n;
}

/* Finds the fastest operation of this size, in the settings that most operations have in common. */
static void add_race(struct contests *contests, struct contest_list *list, bool wants_bandwidth,
		     uint64_t size)
{
	const struct result *result = contests->result;
	const struct result_case *best = NULL;
	size_t most = 0;

	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];
		size_t n;

		if (!can_compare(contests, line) || is_bandwidth(line) != wants_bandwidth ||
		    line->size != size)
			continue;
		n = count_rivals(contests, line);
		if (n > most ||
		    (best && is_rival(line, best) && contests_is_faster(contests, line, best)))
			best = line;
		most = n > most ? n : most;
	}
	for (size_t i = 0; i < result->n_cases && best; i++) {
		const struct result_case *rival = &result->cases[i];
		const struct contest contest = {
			.line = best,
			.rival = rival,
			.figure = wants_bandwidth ? &compared_figure_messages
						  : &compared_figure_median,
		};

		if (rival != best && can_compare(contests, rival) && is_rival(rival, best))
			add_contest(contests, list, &contest);
	}
}

/* Returns the usual small size, or the smallest one; UINT64_MAX: there are no cases. */
static uint64_t find_small(const struct contests *contests, bool is_bw)
{
	const struct result *result = contests->result;
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];

		if (!can_compare(contests, line) || is_bandwidth(line) != is_bw)
			continue;
		if (line->size == USUAL_SIZE)
			return USUAL_SIZE;
		least = line->size < least ? line->size : least;
	}
	return least;
}

static void add_races(struct contests *contests, struct contest_list lists[CONTESTS_SIZES],
		      bool is_bw)
{
	const struct result *result = contests->result;
	uint64_t least = find_small(contests, is_bw);
	uint64_t most = 0;
	uint64_t middle = UINT64_MAX;

	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];

		if (!can_compare(contests, line) || is_bandwidth(line) != is_bw)
			continue;
		most = line->size > most ? line->size : most;
	}
	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];

		if (can_compare(contests, line) && is_bandwidth(line) == is_bw &&
		    line->size > least && line->size < most && line->size >= MIDDLE_LEAST &&
		    line->size <= MIDDLE_MOST && line->size < middle)
			middle = line->size;
	}
	if (least <= most)
		add_race(contests, &lists[CONTESTS_SMALLEST], is_bw, least);
	if (middle < most)
		add_race(contests, &lists[CONTESTS_MIDDLE], is_bw, middle);
	if (most > least)
		add_race(contests, &lists[CONTESTS_LARGEST], is_bw, most);
}

/* Whether both sides wait in this mode. */
static bool waits(const struct result_case *line, const char *cq)
{
	return !strcmp(line->cq, cq) && !strcmp(line->server_cq, cq);
}

/* Returns whether the cases are a latency with events and the same one with polling. */
static bool is_event_pair(const struct result_case *event, const struct result_case *poll)
{
	const char *a = behind(event, 4);
	const char *b = behind(poll, 4);

	return !strcmp(event->op, poll->op) && event->kind == poll->kind &&
	       event->size == poll->size && waits(poll, "poll") && !strcmp(a ? a : "", b ? b : "");
}

static bool is_latency(const struct contests *contests, const struct result_case *line)
{
	return can_compare(contests, line) && !is_bandwidth(line);
}

/* Makes the case with events one side of the contest if there is one with polling. */
static void find_polling(const struct contests *contests, const struct result_case *event,
			 struct contest *found)
{
	const struct result *result = contests->result;

	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *poll = &result->cases[i];

		if (!is_latency(contests, poll) || !is_event_pair(event, poll))
			continue;
		found->line = event;
		found->rival = poll;
		return;
	}
}

/* Compares polling with events, for the first operation at the small or a larger size. */
static void add_events(struct contests *contests)
{
	const struct result *result = contests->result;
	uint64_t least = find_small(contests, false);
	struct contest found = {0};

	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *event = &result->cases[i];

		if (is_latency(contests, event) && waits(event, "event") && event->size >= least &&
		    (!found.line || event->size < found.line->size))
			find_polling(contests, event, &found);
	}
	if (!found.line)
		return;
	found.figure = &compared_figure_median;
	add_contest(contests, &contests->events, &found);
	found.figure = &compared_figure_client_cpu;
	if (contests->events.count)
		add_contest(contests, &contests->events, &found);
}

/* Compares send with write at the smallest size, unless the fastest operation is one of only two. */
static void add_sides(struct contests *contests)
{
	const struct contest_list *list = &contests->latency[CONTESTS_SMALLEST];
	const struct result *result = contests->result;
	struct contest contest = {.figure = &compared_figure_median};
	const struct result_case *best;

	if (list->count < 2)
		return;
	best = contests->contest[list->first].line;
	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];

		if (!is_latency(contests, line) || !is_rival(line, best))
			continue;
		if (!strcmp(line->op, "send"))
			contest.line = line;
		if (!strcmp(line->op, "write"))
			contest.rival = line;
	}
	if (contest.line && contest.rival)
		add_contest(contests, &contests->sides, &contest);
}

static int judge(struct contests *contests)
{
	struct judged_ratio *family[CONTESTS_MOST];
	struct error ignored = {0};

	for (size_t i = 0; i < contests->count; i++)
		family[i] = &contests->contest[i].judged;
	return verdict_judge(family, contests->count, &ignored);
}

int contests_open(struct contests *contests, const struct result *result)
{
	*contests = (struct contests){.result = result};
	contests->values = calloc(result->n_cases + 1, sizeof(*contests->values));
	if (!contests->values)
		return -ENOMEM;
	for (size_t i = 0; i < result->n_cases; i++)
		contests->values[i] = find_value(&result->cases[i]);
	add_races(contests, contests->latency, false);
	add_races(contests, contests->bandwidth, true);
	add_events(contests);
	add_sides(contests);
	return judge(contests);
}

void contests_close(struct contests *contests)
{
	free(contests->values);
	contests->values = NULL;
}
