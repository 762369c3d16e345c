/* SPDX-License-Identifier: MIT */
#include "reports/fleet/worst.h"

#include <math.h>
#include <string.h>

#define FAILURES_MOST (FLEET_WORST / 2)

static double median_of(const struct fleet *fleet, const struct fleet_worst *at)
{
	const struct fleet_pair *pair = at->pair;
	const char *from = fleet->nodes[pair->from].group;
	const char *to = fleet->nodes[pair->to].group;
	bool is_between = *from && *to && strcmp(from, to) != 0;
	uint8_t rail = at->is_back ? pair->to_rail : pair->from_rail;

	for (size_t i = 0; i < fleet->n_spreads; i++) {
		const struct fleet_spread *spread = &fleet->spreads[i];

		if (spread->number == at->number && spread->rail == rail &&
		    spread->is_between == is_between &&
		    spread->is_loopback == (pair->from == pair->to))
			return spread->median;
	}
	return (double)NAN;
}

/* Fills in a measurement; its pair, case and direction are set. */
static void rate(const struct fleet *fleet, struct fleet_worst *at)
{
	double share;

	at->figure = at->pair->figures[2 * at->number + at->is_back];
	share = at->of_median = at->figure / median_of(fleet, at);
	if (fleet->cases[at->number].is_latency)
		at->goodness = 1 / share;
	else
		at->goodness = at->figure > 0 ? share : 0;
}

/* Inserts in order of goodness, and drops the best one if there are more than most. */
static size_t insert(struct fleet_worst *worst, size_t count, size_t most,
		     const struct fleet_worst *at)
{
	size_t i = count < most ? count : most - 1;

	if (count == most && !(at->goodness < worst[most - 1].goodness))
		return count;
	for (; i > 0 && at->goodness < worst[i - 1].goodness; i--)
		worst[i] = worst[i - 1];
	worst[i] = *at;
	return count < most ? count + 1 : most;
}

static struct fleet_worst worst_of_pair(const struct fleet *fleet, const struct fleet_pair *pair)
{
	struct fleet_worst found = {.pair = pair, .goodness = (double)INFINITY};

	for (size_t i = 0; i < 2 * fleet->n_cases; i++) {
		struct fleet_worst at = {.pair = pair, .number = i / 2, .is_back = i % 2};

		if (isnan(pair->figures[i]))
			continue;
		rate(fleet, &at);
		if (!(at.goodness >= found.goodness))
			found = at;
		if (isnan(found.goodness))
			found.goodness = 1;
	}
	return found;
}

size_t fleet_find_worst(const struct fleet *fleet, struct fleet_worst worst[static FLEET_WORST])
{
	struct fleet_worst failed[FLEET_WORST];
	struct fleet_worst slow[FLEET_WORST];
	size_t n_failed = 0;
	size_t n_slow = 0;

	for (size_t i = 0; i < fleet->n_pairs; i++) {
		const struct fleet_pair *pair = &fleet->pairs[i];
		struct fleet_worst at = {
			.pair = pair, .figure = (double)NAN, .of_median = (double)NAN};

		if (pair->retest || !pair->faults)
			continue;
		if (pair->status == FLEET_FAILED) {
			n_failed = insert(failed, n_failed, FLEET_WORST, &at);
		} else if (pair->figures) {
			at = worst_of_pair(fleet, pair);
			n_slow = insert(slow, n_slow, FLEET_WORST, &at);
		}
	}
	if (n_failed > FAILURES_MOST && n_failed + n_slow > FLEET_WORST)
		n_failed = n_slow < FAILURES_MOST ? FLEET_WORST - n_slow : FAILURES_MOST;
	if (n_slow > FLEET_WORST - n_failed)
		n_slow = FLEET_WORST - n_failed;
	memcpy(worst, failed, n_failed * sizeof(*worst));
	memcpy(worst + n_failed, slow, n_slow * sizeof(*worst));
	return n_failed + n_slow;
}
