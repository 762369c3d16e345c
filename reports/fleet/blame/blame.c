/* SPDX-License-Identifier: MIT */
#include "reports/fleet/blame/blame.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/fleet/blame/reason.h"
#include "reports/fleet/blame/suspects.h"

/* Links and pairs beyond these, and warnings, are only counted. */
#define MOST_LINKS    256
#define MOST_FAILURES 20
#define MOST_SLOW     3

/* A bad link has at least this z-score each time. */
#define STEADY_Z 2.5
/* Noise may make one figure of a healthy fleet bad enough for blame with this probability. */
#define CHANCE 0.05

/* Live state while blames are found. */
struct finder {
	struct fleet *fleet;
	struct suspects suspects;
	struct fleet_blame *blames;
	size_t count;
	size_t room;
	bool is_repeated; /* bad pairs were measured again */
	/* Bad pairs without blame. */
	size_t n_listed[2]; /* with a warning each: failures and errors; bad figures */
	size_t n_unlisted;
	size_t n_single; /* measured once */
	double *values;  /* room for a figure of each measurement of a rail */
};

static struct fleet_blame *add_blame(struct finder *finder)
{
	if (finder->count == finder->room) {
		size_t room = finder->room ? 2 * finder->room : 16;
		struct fleet_blame *grown = reallocarray(finder->blames, room, sizeof(*grown));

		if (!grown)
			return NULL;
		finder->blames = grown;
		finder->room = room;
	}
	finder->blames[finder->count] = (struct fleet_blame){0};
	return &finder->blames[finder->count++];
}

/* Returns "n003", or with several rails "n003 mlx5_1". Returns text. */
static const char *rail_name(const struct finder *finder, uint32_t rail, char *text, size_t size)
{
	uint32_t number = finder->suspects.node[rail];
	const struct fleet_node *node = &finder->fleet->nodes[number];
	uint32_t own = rail - suspects_rail(&finder->suspects, number, 0);

	if (node->n_rails > 1 && own < node->n_rails)
		snprintf(text, size, "%s %s", node->name, node->rails[own].device);
	else
		snprintf(text, size, "%s", node->name);
	return text;
}

static void count_measurements(const struct finder *finder, const uint64_t *meets, size_t count,
			       struct fleet_blame *blame)
{
	for (size_t i = 0; i < count; i++) {
		const struct fleet_pair *pair = suspects_pair(&finder->suspects, meets[i]);

		if (pair->faults)
			blame->bad++;
		else if (pair->status == FLEET_MEASURED)
			blame->good++;
		blame->faults |= pair->faults;
	}
}

/* Appends how often a reason was seen. */
static void add_count(struct fleet_blame *blame, uint32_t bad, uint32_t all, const char *unit)
{
	size_t used = strlen(blame->reason);

	snprintf(blame->reason + used, sizeof(blame->reason) - used,
		 " (%" PRIu32 " of %" PRIu32 " %s)", bad, all, unit);
}

/* Counts the measurements of a rail, and gives the reason that shows in most pairs. */
static void add_rail(const struct finder *finder, uint32_t rail, uint32_t *most,
		     struct fleet_blame *blame)
{
	const struct suspects *suspects = &finder->suspects;
	const uint64_t *meets = &suspects->meets[suspects->start[rail]];
	size_t count = suspects->start[rail + 1] - suspects->start[rail];
	size_t channel = suspects->channel[rail];
	struct suspect_tally tally = suspects_tally(suspects, rail, channel);
	uint32_t bad = tally.bad + tally.low;

	count_measurements(finder, meets, count, blame);
	if (bad <= *most)
		return;
	*most = bad;
	reason_print(&(struct reason){.suspects = suspects,
				      .rail = rail,
				      .channel = channel,
				      .meets = meets,
				      .count = count,
				      .with_side = true,
				      .values = finder->values},
		     blame);
	add_count(blame, bad, bad + tally.good, "pairs");
}

static int blame_node(struct finder *finder, uint32_t node)
{
	const struct fleet_node *named = &finder->fleet->nodes[node];
	struct fleet_blame *blame = add_blame(finder);
	uint32_t most = 0;

	if (!blame)
		return -ENOMEM;
	*blame = (struct fleet_blame){.culprit = FLEET_CULPRIT_NODE,
				      .node = node,
				      .rail = FLEET_ALL_RAILS,
				      .peer = node,
				      .peer_rail = FLEET_ALL_RAILS};
	for (uint32_t rail = finder->suspects.first[node]; rail < finder->suspects.first[node + 1];
	     rail++)
		add_rail(finder, rail, &most, blame);
	if (suspects_is_out(named))
		snprintf(blame->reason, sizeof(blame->reason), "%s",
			 named->error[0]                   ? named->error
			 : named->presence == FLEET_ABSENT ? "never started"
							   : "stopped responding");
	return 0;
}

static int blame_rail(struct finder *finder, uint32_t node, uint32_t rail)
{
	struct fleet_blame *blame = add_blame(finder);
	uint32_t most = 0;

	if (!blame)
		return -ENOMEM;
	blame->culprit = FLEET_CULPRIT_RAIL;
	blame->node = blame->peer = node;
	blame->rail = blame->peer_rail = (uint8_t)(rail - finder->suspects.first[node]);
	add_rail(finder, rail, &most, blame);
	return 0;
}

/* Blames a node if it is out, or if all its rails that were measured are bad; else its bad ones. */
static int blame_rails(struct finder *finder, uint32_t node)
{
	const struct suspects *suspects = &finder->suspects;
	uint32_t end = suspects->first[node + 1];
	size_t n_measured = 0;
	size_t n_bad = 0;
	int code = 0;

	if (suspects_is_out(&finder->fleet->nodes[node]))
		return blame_node(finder, node);
	for (uint32_t rail = suspects->first[node]; rail < end; rail++) {
		n_measured += suspects->start[rail + 1] > suspects->start[rail];
		n_bad += suspects->is_culprit[rail];
	}
	if (n_bad && n_bad == n_measured && n_bad >= finder->fleet->nodes[node].n_rails)
		return blame_node(finder, node);
	for (uint32_t rail = suspects->first[node]; rail < end && !code; rail++)
		if (suspects->is_culprit[rail])
			code = blame_rail(finder, node, rail);
	return code;
}

static const char *times(size_t count, char *text, size_t size)
{
	if (count == 1)
		return "once";
	if (count == 2)
		return "twice";
	snprintf(text, size, "%zu times", count);
	return text;
}

/* Counts a bad pair without blame. Returns whether it has a warning of its own. */
static bool is_listed(struct finder *finder, const struct fleet_blame *seen)
{
	bool is_slow = !(seen->faults & (FLEET_FAULT_FAILED | FLEET_FAULT_COUNTERS));

	if (seen->bad + seen->good == 1) {
		finder->n_single++;
		return false;
	}
	if (finder->n_listed[is_slow] == (is_slow ? MOST_SLOW : MOST_FAILURES)) {
		finder->n_unlisted++;
		return false;
	}
	finder->n_listed[is_slow]++;
	return true;
}

/* Warns of bad measurements that did not repeat. */
static void warn(struct finder *finder, uint32_t rail, const struct suspect_run *run)
{
	struct fleet_blame seen = {0};
	char names[2][2 * FLEET_NAME];
	char counts[2][32];
	const char *from = rail_name(finder, rail, names[0], sizeof(names[0]));
	const char *to = rail_name(finder, run->peer, names[1], sizeof(names[1]));

	count_measurements(finder, run->meets, run->count, &seen);
	if (!seen.bad || !is_listed(finder, &seen))
		return;
	if (seen.good)
		fleet_warn(finder->fleet, "%s-%s %s %s and passed %s when repeated", from, to,
			   seen.faults == FLEET_FAULT_FAILED ? "failed" : "was bad",
			   times(seen.bad, counts[0], sizeof(counts[0])),
			   times(seen.good, counts[1], sizeof(counts[1])));
	else
		fleet_warn(finder->fleet, "%s-%s was bad %s, in different figures", from, to,
			   times(seen.bad, counts[0], sizeof(counts[0])));
}

/* Returns whether both ends of a run are good with others. */
static bool is_link(const struct finder *finder, uint32_t rail, const struct suspect_run *run,
		    size_t channel)
{
	const struct suspects *suspects = &finder->suspects;

	return suspects_tally(suspects, rail, channel).good &&
	       suspects_tally(suspects, run->peer, suspects_opposite(suspects, channel)).good;
}

static int blame_link(struct finder *finder, uint32_t rail, const struct suspect_run *run,
		      size_t channel, const struct suspect_tally *tally)
{
	const struct suspects *suspects = &finder->suspects;
	struct fleet_blame *blame = add_blame(finder);

	if (!blame)
		return -ENOMEM;
	blame->culprit =
		is_link(finder, rail, run, channel) ? FLEET_CULPRIT_LINK : FLEET_CULPRIT_PAIR;
	blame->node = suspects->node[rail];
	blame->rail = (uint8_t)(rail - suspects->first[blame->node]);
	blame->peer = suspects->node[run->peer];
	blame->peer_rail = (uint8_t)(run->peer - suspects->first[blame->peer]);
	count_measurements(finder, run->meets, run->count, blame);
	reason_print(&(struct reason){.suspects = suspects,
				      .rail = rail,
				      .channel = channel,
				      .meets = run->meets,
				      .count = run->count,
				      .values = finder->values},
		     blame);
	add_count(blame, tally->bad, tally->bad + tally->low + tally->good, "times");
	return 0;
}

/* Returns the least z-score of a run's figures in a channel. */
static double least_z(const struct finder *finder, uint32_t rail, const struct suspect_run *run,
		      size_t channel)
{
	const struct suspects *suspects = &finder->suspects;
	double least = (double)INFINITY;

	for (size_t i = 0; i < run->count; i++) {
		uint64_t meet = run->meets[i];
		size_t figure = suspects_figure(suspects, rail, meet, channel);

		if (suspects_state(suspects, rail, meet, channel) != SUSPECT_UNKNOWN)
			least = fmin(least, yardstick_judge(&suspects->yardsticks,
							    suspects_pair(suspects, meet),
							    figure / 2, (int)(figure % 2))
						    .z);
	}
	return least;
}

/* Returns whether noise alone makes some figure of this fleet that bad. */
static bool is_chance(const struct finder *finder, double z)
{
	return erfc(z / M_SQRT2) / 2 * (double)finder->suspects.yardsticks.n_figures > CHANCE;
}

/*
 * Returns whether a run shows more than noise. Most measurements must be bad. Some of many figures
 * are bad twice by chance, so none must be good or nearly good. One that was measured once counts
 * only if the check ended before bad pairs were repeated.
 */
static bool is_steady(const struct finder *finder, uint32_t rail, const struct suspect_run *run,
		      size_t channel, const struct suspect_tally *tally)
{
	uint32_t all = tally->bad + tally->low + tally->good;
	double z;

	if (2 * tally->bad <= all || channel < SUSPECT_CASES)
		return 2 * tally->bad > all;
	z = least_z(finder, rail, run, channel);
	if (all == 1)
		return !finder->is_repeated && !is_chance(finder, z);
	return !tally->good && z > STEADY_Z;
}

/* Blames the link between two rails, or both, if it is bad in the same way again and again. */
static int blame_run(struct finder *finder, uint32_t rail, const struct suspect_run *run)
{
	struct suspect_tally worst = {0};
	size_t channel = 0;

	for (size_t i = 0; i < finder->suspects.n_channels; i++) {
		struct suspect_tally tally = suspects_count(&finder->suspects, rail, run, i);

		if (tally.bad > worst.bad && is_steady(finder, rail, run, i, &tally)) {
			worst = tally;
			channel = i;
		}
	}
	if (worst.bad)
		return blame_link(finder, rail, run, channel, &worst);
	warn(finder, rail, run);
	return 0;
}

static int blame_links(struct finder *finder)
{
	const struct suspects *suspects = &finder->suspects;

	for (uint32_t rail = 0; rail < suspects->n_rails; rail++) {
		struct suspect_run run = {0};

		while (!suspects->is_culprit[rail] && suspects_next(suspects, rail, &run))
			if (run.peer > rail && !suspects->is_culprit[run.peer] &&
			    blame_run(finder, rail, &run))
				return -ENOMEM;
	}
	if (finder->n_unlisted)
		fleet_warn(finder->fleet, "%zu more pair%s bad and passed when repeated",
			   finder->n_unlisted, finder->n_unlisted == 1 ? " was" : "s were");
	if (finder->n_single)
		fleet_warn(finder->fleet, "%zu pair%s bad once and not measured again",
			   finder->n_single, finder->n_single == 1 ? " was" : "s were");
	return 0;
}

/* A loopback that is bad shows a bad rail, or a bad path between two rails of a node. */
static int blame_loopback(struct finder *finder, const struct fleet_pair *pair)
{
	const struct suspects *suspects = &finder->suspects;
	struct fleet_blame *blame;

	if (pair->from != pair->to || !pair->faults ||
	    suspects->is_culprit[suspects_rail(suspects, pair->from, pair->from_rail)] ||
	    suspects->is_culprit[suspects_rail(suspects, pair->to, pair->to_rail)])
		return 0;
	blame = add_blame(finder);
	if (!blame)
		return -ENOMEM;
	*blame = (struct fleet_blame){
		.culprit =
			pair->from_rail == pair->to_rail ? FLEET_CULPRIT_RAIL : FLEET_CULPRIT_PAIR,
		.node = pair->from,
		.rail = pair->from_rail,
		.peer = pair->to,
		.peer_rail = pair->to_rail,
		.bad = 1,
		.faults = pair->faults,
	};
	reason_print_loopback(suspects, pair, blame);
	return 0;
}

/* Warns if most of the fleet is bad: then good ones stand out, not bad ones. */
static void warn_if_most(struct finder *finder)
{
	size_t n_bad = 0;
	size_t n_all = 0;

	for (size_t i = 0; i < finder->fleet->n_pairs; i++) {
		const struct fleet_pair *pair = &finder->fleet->pairs[i];

		if (pair->retest ||
		    (pair->status != FLEET_MEASURED && pair->status != FLEET_FAILED))
			continue;
		n_all++;
		n_bad += pair->faults != 0;
	}
	if (2 * n_bad > n_all && n_all > 1)
		fleet_warn(finder->fleet,
			   "%zu of %zu measurements are bad: the floor is too high, or the whole "
			   "fabric is slow",
			   n_bad, n_all);
}

static int order(const void *left, const void *right)
{
	const struct fleet_blame *a = left;
	const struct fleet_blame *b = right;

	if (a->culprit != b->culprit)
		return a->culprit < b->culprit ? -1 : 1;
	/* A node without bad measurements is out, which is worse than slow. */
	if (!a->faults != !b->faults)
		return a->faults ? 1 : -1;
	if (a->bad != b->bad)
		return a->bad > b->bad ? -1 : 1;
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return (a->peer > b->peer) - (a->peer < b->peer);
}

static void keep_most_serious(struct finder *finder)
{
	size_t n_nodes = 0;

	if (finder->count)
		qsort(finder->blames, finder->count, sizeof(*finder->blames), order);
	while (n_nodes < finder->count && finder->blames[n_nodes].culprit <= FLEET_CULPRIT_RAIL)
		n_nodes++;
	if (finder->count <= n_nodes + MOST_LINKS)
		return;
	fleet_warn(finder->fleet, "%zu more pairs are bad", finder->count - n_nodes - MOST_LINKS);
	finder->count = n_nodes + MOST_LINKS;
}

static bool is_repeated(const struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->n_pairs && !fleet->is_interrupted; i++)
		if (fleet->pairs[i].retest)
			return true;
	return false;
}

static int find(struct finder *finder)
{
	struct fleet *fleet = finder->fleet;

	finder->is_repeated = is_repeated(fleet);
	finder->values = calloc(fleet->n_pairs + 1, sizeof(*finder->values));
	if (!finder->values)
		return -ENOMEM;
	for (uint32_t node = 0; node < fleet->n_nodes; node++)
		if (blame_rails(finder, node))
			return -ENOMEM;
	for (size_t i = 0; i < fleet->n_pairs; i++)
		if (blame_loopback(finder, &fleet->pairs[i]))
			return -ENOMEM;
	return blame_links(finder);
}

int fleet_find_blame(struct fleet *fleet, struct error *error)
{
	struct finder finder = {.fleet = fleet};
	int code = suspects_open(&finder.suspects, fleet, error);

	if (code)
		return code;
	code = find(&finder);
	if (code) {
		free(finder.blames);
		error_set(error, code, "no memory for the blame of %zu nodes", fleet->n_nodes);
	} else {
		warn_if_most(&finder);
		keep_most_serious(&finder);
		free(fleet->blames);
		fleet->blames = finder.blames;
		fleet->n_blames = finder.count;
	}
	free(finder.values);
	suspects_close(&finder.suspects);
	return code;
}
