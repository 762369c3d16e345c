/* SPDX-License-Identifier: MIT */
#include "reports/fleet/blame/suspects.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "reports/fleet/blame/judge.h"
#include "reports/stats/median.h"

/* A rail that is bad with this share of its partners explains them... */
#define SHARE 0.75
#define LEAST 2
/* ...and so does one with a lower share, if it stands out from the other rails. */
#define FLAKY_SHARE      0.25
#define FLAKY_LEAST      3
#define FLAKY_BACKGROUND 4

bool suspects_is_out(const struct fleet_node *node)
{
	return node->presence != FLEET_PRESENT || node->error[0];
}

uint32_t suspects_rail(const struct suspects *suspects, uint32_t node, uint8_t rail)
{
	return suspects->first[node] + rail;
}

const struct fleet_pair *suspects_pair(const struct suspects *suspects, uint64_t meet)
{
	return &suspects->fleet->pairs[(uint32_t)meet];
}

static uint32_t peer_of(uint64_t meet)
{
	return (uint32_t)(meet >> 32);
}

static bool is_latency(const struct suspects *suspects, size_t channel)
{
	return channel >= SUSPECT_CASES &&
	       suspects->fleet->cases[(channel - SUSPECT_CASES) / 2].is_latency;
}

size_t suspects_opposite(const struct suspects *suspects, size_t channel)
{
	if (channel < SUSPECT_CASES || is_latency(suspects, channel))
		return channel;
	return SUSPECT_CASES + ((channel - SUSPECT_CASES) ^ 1);
}

/* Returns the place in the pair's states of what is this channel for a rail. */
static size_t place(const struct suspects *suspects, uint32_t rail, uint64_t meet, size_t channel)
{
	const struct fleet_pair *pair = suspects_pair(suspects, meet);

	if (suspects_rail(suspects, pair->from, pair->from_rail) == rail)
		return channel;
	return suspects_opposite(suspects, channel);
}

size_t suspects_figure(const struct suspects *suspects, uint32_t rail, uint64_t meet,
		       size_t channel)
{
	return place(suspects, rail, meet, channel) - SUSPECT_CASES;
}

enum suspect_state suspects_state(const struct suspects *suspects, uint32_t rail, uint64_t meet,
				  size_t channel)
{
	return suspects->states[(uint32_t)meet * suspects->n_channels +
				place(suspects, rail, meet, channel)];
}

static void set_states(struct suspects *suspects, const struct fleet_pair *pair, uint8_t *states)
{
	if (pair->status == FLEET_FAILED)
		states[SUSPECT_FAILURES] = SUSPECT_BAD;
	if (pair->status != FLEET_MEASURED)
		return;
	states[SUSPECT_FAILURES] = SUSPECT_GOOD;
	states[SUSPECT_COUNTERS] = fleet_counters_rose(pair) ? SUSPECT_BAD : SUSPECT_GOOD;
	for (size_t i = 0; pair->figures && i < 2 * suspects->fleet->n_cases; i++) {
		struct judged_figure judged;

		if (isnan(pair->figures[i]))
			continue;
		judged = yardstick_judge(&suspects->yardsticks, pair, i / 2, (int)(i % 2));
		states[SUSPECT_CASES + i] = judged.faults   ? SUSPECT_BAD
					    : judged.is_low ? SUSPECT_LOW
							    : SUSPECT_GOOD;
	}
}

static int order(const void *left, const void *right)
{
	const uint64_t *a = left;
	const uint64_t *b = right;

	return (*a > *b) - (*a < *b);
}

/* Lists the measurements of each rail, sorted by partner. Loopback is in no list. */
static void list_meets(struct suspects *suspects)
{
	const struct fleet *fleet = suspects->fleet;
	size_t *start = suspects->start;

	for (int is_filling = 0; is_filling < 2; is_filling++) {
		for (size_t i = 0; i < fleet->n_pairs; i++) {
			const struct fleet_pair *pair = &fleet->pairs[i];
			uint64_t from = suspects_rail(suspects, pair->from, pair->from_rail);
			uint64_t to = suspects_rail(suspects, pair->to, pair->to_rail);

			if (pair->from == pair->to)
				continue;
			if (is_filling) {
				suspects->meets[start[from]++] = to << 32 | i;
				suspects->meets[start[to]++] = from << 32 | i;
			} else {
				start[from + 1]++;
				start[to + 1]++;
			}
		}
		for (size_t i = 0; !is_filling && i < suspects->n_rails; i++)
			start[i + 1] += start[i];
	}
	/* Filling moved each start to the next one's. */
	for (size_t i = suspects->n_rails; i > 0; i--)
		start[i] = start[i - 1];
	start[0] = 0;
	for (size_t i = 0; i < suspects->n_rails; i++)
		qsort(&suspects->meets[start[i]], start[i + 1] - start[i], sizeof(*suspects->meets),
		      order);
}

static void find_good(struct suspects *suspects)
{
	for (uint32_t rail = 0; rail < suspects->n_rails; rail++)
		for (size_t i = suspects->start[rail]; i < suspects->start[rail + 1]; i++)
			for (size_t channel = 0; channel < suspects->n_channels; channel++)
				if (suspects_state(suspects, rail, suspects->meets[i], channel) ==
				    SUSPECT_GOOD)
					suspects->has_good[rail * suspects->n_channels + channel] =
						true;
}

/* Adds one measurement to the counts with one partner. */
static void add(const struct suspects *suspects, uint32_t rail, uint64_t meet, size_t channel,
		struct suspect_tally *tally)
{
	enum suspect_state state = suspects_state(suspects, rail, meet, channel);
	uint32_t peer = peer_of(meet);

	if (state == SUSPECT_GOOD) {
		tally->good++;
		return;
	}
	if (state == SUSPECT_UNKNOWN || suspects->is_culprit[peer])
		return;
	if (state == SUSPECT_LOW) {
		tally->low++;
		return;
	}
	tally->bad++;
	if (suspects->has_good[peer * suspects->n_channels + suspects_opposite(suspects, channel)])
		tally->vouched++;
}

/* Decides by majority what the measurements with one partner show. */
static void decide(struct suspect_tally *total, const struct suspect_tally *partner)
{
	uint32_t all = partner->bad + partner->low + partner->good;

	if (!all)
		return;
	if (2 * partner->bad > all) {
		total->bad++;
		total->vouched += partner->vouched > 0;
	} else if (2 * (partner->bad + partner->low) > all) {
		total->low++;
	} else {
		total->good++;
	}
}

struct suspect_tally suspects_tally(const struct suspects *suspects, uint32_t rail, size_t channel)
{
	struct suspect_tally total = {0};
	struct suspect_tally partner = {0};
	uint32_t last = UINT32_MAX;

	for (size_t i = suspects->start[rail]; i < suspects->start[rail + 1]; i++) {
		uint64_t meet = suspects->meets[i];
		uint32_t node = suspects->node[peer_of(meet)];

		if (node != last)
			decide(&total, &partner);
		if (node != last)
			partner = (struct suspect_tally){0};
		last = node;
		add(suspects, rail, meet, channel, &partner);
	}
	decide(&total, &partner);
	return total;
}

static double share_of(const struct suspect_tally *tally)
{
	uint32_t all = tally->bad + tally->low + tally->good;

	return all ? (double)(tally->bad + tally->low) / all : 0;
}

bool suspects_explains(const struct suspects *suspects, size_t channel,
		       const struct suspect_tally *tally)
{
	double share = share_of(tally);

	if (tally->vouched >= LEAST && share >= SHARE)
		return true;
	return tally->vouched >= FLAKY_LEAST && share >= FLAKY_SHARE &&
	       share >= FLAKY_BACKGROUND * suspects->backgrounds[channel];
}

/* Returns how much the rail explains; 0: nothing. It never rises when culprits are added. */
static double evaluate(struct suspects *suspects, uint32_t rail)
{
	double best = 0;

	for (size_t channel = 0; channel < suspects->n_channels; channel++) {
		struct suspect_tally tally = suspects_tally(suspects, rail, channel);
		double score = tally.vouched * share_of(&tally);

		if (score > best && suspects_explains(suspects, channel, &tally)) {
			best = score;
			suspects->channel[rail] = (uint32_t)channel;
		}
	}
	return best;
}

static int find_backgrounds(struct suspects *suspects)
{
	double *shares = calloc(suspects->n_rails + 1, sizeof(*shares));

	if (!shares)
		return -ENOMEM;
	for (size_t channel = 0; channel < suspects->n_channels; channel++) {
		size_t count = 0;

		for (uint32_t rail = 0; rail < suspects->n_rails; rail++)
			if (suspects->start[rail + 1] > suspects->start[rail]) {
				struct suspect_tally tally =
					suspects_tally(suspects, rail, channel);

				shares[count++] = share_of(&tally);
			}
		median_sort(shares, count);
		suspects->backgrounds[channel] = count ? median_of_sorted(shares, count) : 0;
	}
	free(shares);
	return 0;
}

/* The rail that explains most becomes a culprit, then the one that explains most of the rest. */
static void find_culprits(struct suspects *suspects)
{
	for (uint32_t rail = 0; rail < suspects->n_rails; rail++)
		if (!suspects->is_culprit[rail])
			suspects->scores[rail] = evaluate(suspects, rail);
	for (;;) {
		uint32_t best = 0;
		double score;

		for (uint32_t rail = 1; rail < suspects->n_rails; rail++)
			if (suspects->scores[rail] > suspects->scores[best])
				best = rail;
		if (!suspects->n_rails || suspects->scores[best] <= 0)
			return;
		score = evaluate(suspects, best);
		/* Culprits found since the last evaluation may explain some of it. */
		if (score >= suspects->scores[best]) {
			suspects->is_culprit[best] = true;
			score = 0;
		}
		suspects->scores[best] = score;
	}
}

static int number_rails(struct suspects *suspects)
{
	const struct fleet *fleet = suspects->fleet;
	uint32_t number = 0;

	suspects->first = calloc(fleet->n_nodes + 1, sizeof(*suspects->first));
	suspects->node =
		calloc(fleet->n_nodes * suspects->yardsticks.n_rails + 1, sizeof(*suspects->node));
	if (!suspects->first || !suspects->node)
		return -ENOMEM;
	for (uint32_t i = 0; i < fleet->n_nodes; i++) {
		suspects->first[i] = number;
		for (size_t rail = 0; rail < suspects->yardsticks.n_rails; rail++)
			suspects->node[number++] = i;
	}
	suspects->first[fleet->n_nodes] = number;
	suspects->n_rails = number;
	return 0;
}

static int allocate(struct suspects *suspects)
{
	size_t n_rails = suspects->n_rails;
	size_t n_pairs = suspects->fleet->n_pairs;

	suspects->start = calloc(n_rails + 1, sizeof(*suspects->start));
	suspects->meets = calloc(2 * n_pairs + 1, sizeof(*suspects->meets));
	suspects->states = calloc(n_pairs * suspects->n_channels + 1, sizeof(*suspects->states));
	suspects->has_good =
		calloc(n_rails * suspects->n_channels + 1, sizeof(*suspects->has_good));
	suspects->is_culprit = calloc(n_rails + 1, sizeof(*suspects->is_culprit));
	suspects->channel = calloc(n_rails + 1, sizeof(*suspects->channel));
	suspects->scores = calloc(n_rails + 1, sizeof(*suspects->scores));
	suspects->backgrounds = calloc(suspects->n_channels, sizeof(*suspects->backgrounds));
	return suspects->start && suspects->meets && suspects->states && suspects->has_good &&
			       suspects->is_culprit && suspects->channel && suspects->scores &&
			       suspects->backgrounds
		       ? 0
		       : -ENOMEM;
}

static int prepare(struct suspects *suspects)
{
	const struct fleet *fleet = suspects->fleet;

	if (number_rails(suspects) || allocate(suspects))
		return -ENOMEM;
	for (uint32_t i = 0; i < suspects->n_rails; i++)
		suspects->is_culprit[i] = suspects_is_out(&fleet->nodes[suspects->node[i]]);
	for (size_t i = 0; i < fleet->n_pairs; i++)
		set_states(suspects, &fleet->pairs[i], &suspects->states[i * suspects->n_channels]);
	list_meets(suspects);
	find_good(suspects);
	return find_backgrounds(suspects);
}

int suspects_open(struct suspects *suspects, const struct fleet *fleet, struct error *error)
{
	*suspects = (struct suspects){
		.fleet = fleet,
		.n_channels = SUSPECT_CASES + 2 * fleet->n_cases,
	};
	if (yardsticks_open(&suspects->yardsticks, fleet, error))
		return -ENOMEM;
	if (prepare(suspects)) {
		suspects_close(suspects);
		return error_set(error, -ENOMEM, "no memory to compare %zu measurements",
				 fleet->n_pairs);
	}
	find_culprits(suspects);
	return 0;
}

void suspects_close(struct suspects *suspects)
{
	yardsticks_close(&suspects->yardsticks);
	free(suspects->first);
	free(suspects->node);
	free(suspects->start);
	free(suspects->meets);
	free(suspects->states);
	free(suspects->has_good);
	free(suspects->is_culprit);
	free(suspects->channel);
	free(suspects->scores);
	free(suspects->backgrounds);
	*suspects = (struct suspects){0};
}

bool suspects_next(const struct suspects *suspects, uint32_t rail, struct suspect_run *run)
{
	const uint64_t *end = &suspects->meets[suspects->start[rail + 1]];
	const uint64_t *next =
		run->meets ? run->meets + run->count : &suspects->meets[suspects->start[rail]];

	if (next == end)
		return false;
	*run = (struct suspect_run){.peer = peer_of(*next), .meets = next};
	while (next + run->count < end && peer_of(next[run->count]) == run->peer)
		run->count++;
	return true;
}

struct suspect_tally suspects_count(const struct suspects *suspects, uint32_t rail,
				    const struct suspect_run *run, size_t channel)
{
	struct suspect_tally tally = {0};

	for (size_t i = 0; i < run->count; i++)
		add(suspects, rail, run->meets[i], channel, &tally);
	return tally;
}
