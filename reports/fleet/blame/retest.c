/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "core/base/random.h"
#include "reports/fleet/blame/blame.h"
#include "reports/fleet/blame/suspects.h"

/* Limits of a retest, so that a bad half of a large fleet costs seconds, not hours. */
#define MOST_REPEATS  8 /* bad pairs measured again, per rail */
#define MOST_PARTNERS 2 /* partners that passed, per bad rail, and times that one is chosen */
#define ENOUGH_GOOD   3 /* a rail that is good with this number of partners needs no more */
#define MOST_ROUNDS   64
#define MOST_RETESTS  1024

/* A pair that was bad. */
struct candidate {
	uint32_t rail;
	uint32_t peer;
	uint32_t weight; /* bad pairs of the end that has more: low for what no node explains */
	bool is_new;     /* not measured again before */
	const struct fleet_pair *pair;
};

struct rail_use {
	uint32_t n_bad; /* partners */
	uint32_t n_good;
	uint8_t repeats; /* chosen in this retest */
	uint8_t partners;
};

struct chooser {
	const struct fleet *fleet;
	unsigned int retest;
	struct suspects suspects;
	struct rail_use *uses;
	uint64_t *busy; /* by node: its rounds, a bit each */
	struct candidate *candidates;
	size_t n_candidates;
	struct fleet_retest *wishes;
	size_t count;
};

static bool is_bad(const struct chooser *chooser, const struct suspect_run *run)
{
	for (size_t i = 0; i < run->count; i++)
		if (suspects_pair(&chooser->suspects, run->meets[i])->faults)
			return true;
	return false;
}

static bool is_good(const struct chooser *chooser, const struct suspect_run *run)
{
	for (size_t i = 0; i < run->count; i++) {
		const struct fleet_pair *pair = suspects_pair(&chooser->suspects, run->meets[i]);

		if (pair->status == FLEET_MEASURED && !pair->faults)
			return true;
	}
	return false;
}

static bool is_out(const struct chooser *chooser, uint32_t rail)
{
	return suspects_is_out(&chooser->fleet->nodes[chooser->suspects.node[rail]]);
}

static uint32_t number_in_node(const struct chooser *chooser, uint32_t rail)
{
	return rail - chooser->suspects.first[chooser->suspects.node[rail]];
}

/* Adds a measurement in the first round in which both nodes are free. */
static bool wish(struct chooser *chooser, uint32_t from, uint32_t to)
{
	const struct suspects *suspects = &chooser->suspects;
	uint64_t *busy_from = &chooser->busy[suspects->node[from]];
	uint64_t *busy_to = &chooser->busy[suspects->node[to]];
	uint64_t is_free = ~(*busy_from | *busy_to);
	uint32_t round;

	if (!is_free || chooser->count == MOST_RETESTS)
		return false;
	round = (uint32_t)__builtin_ctzll(is_free);
	*busy_from |= UINT64_C(1) << round;
	*busy_to |= UINT64_C(1) << round;
	chooser->wishes[chooser->count++] = (struct fleet_retest){
		.round = round,
		.from = suspects->node[from],
		.to = suspects->node[to],
		.from_rail = (uint8_t)number_in_node(chooser, from),
		.to_rail = (uint8_t)number_in_node(chooser, to),
	};
	return true;
}

static void count_partners(struct chooser *chooser)
{
	for (uint32_t rail = 0; rail < chooser->suspects.n_rails; rail++) {
		struct suspect_run run = {0};

		while (suspects_next(&chooser->suspects, rail, &run)) {
			if (is_bad(chooser, &run)) {
				chooser->uses[rail].n_bad++;
				chooser->n_candidates += run.peer > rail;
			} else if (is_good(chooser, &run)) {
				chooser->uses[rail].n_good++;
			}
		}
	}
}

static void add_candidate(struct chooser *chooser, uint32_t rail, const struct suspect_run *run)
{
	uint32_t own = chooser->uses[rail].n_bad;
	uint32_t other = chooser->uses[run->peer].n_bad;
	uint8_t latest = 0;

	for (size_t i = 0; i < run->count; i++) {
		uint8_t retest = suspects_pair(&chooser->suspects, run->meets[i])->retest;

		latest = retest > latest ? retest : latest;
	}
	if (latest >= chooser->retest)
		return;
	chooser->candidates[chooser->n_candidates++] = (struct candidate){
		.rail = rail,
		.peer = run->peer,
		.weight = own > other ? own : other,
		.is_new = !latest,
		.pair = suspects_pair(&chooser->suspects, run->meets[0]),
	};
}

static int order(const void *left, const void *right)
{
	const struct candidate *a = left;
	const struct candidate *b = right;

	if (a->is_new != b->is_new)
		return a->is_new ? 1 : -1;
	if (a->weight != b->weight)
		return a->weight < b->weight ? -1 : 1;
	if (a->rail != b->rail)
		return a->rail < b->rail ? -1 : 1;
	return (a->peer > b->peer) - (a->peer < b->peer);
}

static void list_candidates(struct chooser *chooser)
{
	chooser->n_candidates = 0;
	for (uint32_t rail = 0; rail < chooser->suspects.n_rails; rail++) {
		struct suspect_run run = {0};

		while (!is_out(chooser, rail) && suspects_next(&chooser->suspects, rail, &run))
			if (run.peer > rail && !is_out(chooser, run.peer) && is_bad(chooser, &run))
				add_candidate(chooser, rail, &run);
	}
	qsort(chooser->candidates, chooser->n_candidates, sizeof(*chooser->candidates), order);
}

/* Repeats bad pairs, in the same direction. */
static void repeat_pairs(struct chooser *chooser)
{
	for (size_t i = 0; i < chooser->n_candidates; i++) {
		const struct candidate *candidate = &chooser->candidates[i];
		const struct fleet_pair *pair = candidate->pair;
		struct rail_use *own = &chooser->uses[candidate->rail];
		struct rail_use *other = &chooser->uses[candidate->peer];

		if (own->repeats == MOST_REPEATS || other->repeats == MOST_REPEATS)
			continue;
		if (!wish(chooser, suspects_rail(&chooser->suspects, pair->from, pair->from_rail),
			  suspects_rail(&chooser->suspects, pair->to, pair->to_rail)))
			continue;
		own->repeats++;
		other->repeats++;
	}
}

/* Returns whether two rails have been measured. */
static bool has_met(const struct chooser *chooser, uint32_t rail, uint32_t peer)
{
	const struct suspects *suspects = &chooser->suspects;
	size_t low = suspects->start[rail];
	size_t high = suspects->start[rail + 1];

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (suspects->meets[middle] >> 32 < peer)
			low = middle + 1;
		else
			high = middle;
	}
	return low < suspects->start[rail + 1] && suspects->meets[low] >> 32 == peer;
}

/* Measures a bad rail with partners that passed, on the same rail, that it has not met yet. */
static void try_partners(struct chooser *chooser, uint32_t rail)
{
	const struct suspects *suspects = &chooser->suspects;
	size_t n_nodes = chooser->fleet->n_nodes;
	size_t begin = random_mix(rail) % n_nodes;
	unsigned int found = 0;

	for (size_t i = 0; i < n_nodes && found < MOST_PARTNERS; i++) {
		uint32_t node = (uint32_t)((begin + i) % n_nodes);
		uint32_t peer = suspects->first[node] + number_in_node(chooser, rail);
		struct rail_use *use = &chooser->uses[peer];

		if (node == suspects->node[rail] || is_out(chooser, peer) ||
		    use->n_good <= use->n_bad || use->partners == MOST_PARTNERS ||
		    has_met(chooser, rail, peer) || !wish(chooser, rail, peer))
			continue;
		use->partners++;
		found++;
	}
}

static int allocate(struct chooser *chooser)
{
	chooser->uses = calloc(chooser->suspects.n_rails + 1, sizeof(*chooser->uses));
	chooser->busy = calloc(chooser->fleet->n_nodes + 1, sizeof(*chooser->busy));
	chooser->wishes = calloc(MOST_RETESTS, sizeof(*chooser->wishes));
	if (!chooser->uses || !chooser->busy || !chooser->wishes)
		return -ENOMEM;
	count_partners(chooser);
	chooser->candidates = calloc(chooser->n_candidates + 1, sizeof(*chooser->candidates));
	return chooser->candidates ? 0 : -ENOMEM;
}

static void choose(struct chooser *chooser)
{
	list_candidates(chooser);
	repeat_pairs(chooser);
	for (uint32_t rail = 0; rail < chooser->suspects.n_rails; rail++)
		if (chooser->uses[rail].n_bad && chooser->uses[rail].n_good < ENOUGH_GOOD &&
		    !is_out(chooser, rail))
			try_partners(chooser, rail);
}

int fleet_choose_retests(const struct fleet *fleet, unsigned int retest,
			 struct fleet_retest **wishes, size_t *count, struct error *error)
{
	struct chooser chooser = {.fleet = fleet, .retest = retest};
	int code = suspects_open(&chooser.suspects, fleet, error);

	*wishes = NULL;
	*count = 0;
	if (code)
		return code;
	code = allocate(&chooser);
	if (code)
		error_set(error, code, "no memory to choose retests among %zu nodes",
			  fleet->n_nodes);
	else
		choose(&chooser);
	if (chooser.count) {
		*wishes = chooser.wishes;
		*count = chooser.count;
	} else {
		free(chooser.wishes);
	}
	free(chooser.uses);
	free(chooser.busy);
	free(chooser.candidates);
	suspects_close(&chooser.suspects);
	return code;
}
