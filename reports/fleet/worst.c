/* SPDX-License-Identifier: MIT */
#include "reports/fleet/worst.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "reports/fleet/blame/yardstick.h"

#define FAILURES_MOST (FLEET_WORST / 2)

/* Fills in a measurement; its pair, case and direction are set. */
static void rate(const struct yardsticks *yardsticks, struct fleet_worst *at)
{
	double median = yardstick_of(yardsticks, at->pair, at->number, at->is_back)->median;
	double share;

	at->figure = at->pair->figures[2 * at->number + at->is_back];
	share = at->of_median = at->figure / median;
	if (yardsticks->fleet->cases[at->number].is_latency)
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

static struct fleet_worst worst_of_pair(const struct yardsticks *yardsticks,
					const struct fleet_pair *pair)
{
	struct fleet_worst found = {.pair = pair, .goodness = (double)INFINITY};

	for (size_t i = 0; i < 2 * yardsticks->fleet->n_cases; i++) {
		struct fleet_worst at = {.pair = pair, .number = i / 2, .is_back = i % 2};

		if (isnan(pair->figures[i]))
			continue;
		rate(yardsticks, &at);
		if (!(at.goodness >= found.goodness))
			found = at;
		if (isnan(found.goodness))
			found.goodness = 1;
	}
	return found;
}

static bool is_bad(const struct fleet_pair *pair)
{
	return !pair->retest && pair->faults;
}

/* Merges both lists, so that neither takes up all the room. */
static size_t merge(struct fleet_worst *worst, const struct fleet_worst *failed, size_t n_failed,
		    const struct fleet_worst *slow, size_t n_slow)
{
	if (n_failed > FAILURES_MOST && n_failed + n_slow > FLEET_WORST)
		n_failed = n_slow < FAILURES_MOST ? FLEET_WORST - n_slow : FAILURES_MOST;
	if (n_slow > FLEET_WORST - n_failed)
		n_slow = FLEET_WORST - n_failed;
	memcpy(worst, failed, n_failed * sizeof(*worst));
	memcpy(worst + n_failed, slow, n_slow * sizeof(*worst));
	return n_failed + n_slow;
}

static size_t find(const struct yardsticks *yardsticks, struct fleet_worst *worst)
{
	const struct fleet *fleet = yardsticks->fleet;
	struct fleet_worst failed[FLEET_WORST];
	struct fleet_worst slow[FLEET_WORST];
	size_t n_failed = 0;
	size_t n_slow = 0;

	for (size_t i = 0; i < fleet->n_pairs; i++) {
		const struct fleet_pair *pair = &fleet->pairs[i];
		struct fleet_worst at = {
			.pair = pair, .figure = (double)NAN, .of_median = (double)NAN};

		if (!is_bad(pair))
			continue;
		if (pair->status == FLEET_FAILED) {
			n_failed = insert(failed, n_failed, FLEET_WORST, &at);
		} else if (pair->figures) {
			at = worst_of_pair(yardsticks, pair);
			n_slow = insert(slow, n_slow, FLEET_WORST, &at);
		}
	}
	return merge(worst, failed, n_failed, slow, n_slow);
}

int fleet_find_worst(const struct fleet *fleet, struct fleet_worst worst[static FLEET_WORST],
		     size_t *count, struct error *error)
{
	struct yardsticks yardsticks;
	size_t first = 0;

	*count = 0;
	while (first < fleet->n_pairs && !is_bad(&fleet->pairs[first]))
		first++;
	if (first == fleet->n_pairs)
		return 0;
	if (yardsticks_open(&yardsticks, fleet, error))
		return -ENOMEM;
	*count = find(&yardsticks, worst);
	yardsticks_close(&yardsticks);
	return 0;
}
