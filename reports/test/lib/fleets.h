/* SPDX-License-Identifier: MIT */
/*
 * Made-up fleets for tests: every pair of nodes is measured on every rail with about 1 % of noise,
 * the first case in both directions, the second in one. Faults are planted into some.
 * The blames are the planted ones, so that a test needs no judge.
 */
#ifndef REPORTS_TEST_LIB_FLEETS_H
#define REPORTS_TEST_LIB_FLEETS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/test/lib/check.h"
#include "reports/fleet/fleet.h"
#include "reports/stats/median.h"

#define FLEETS_NONE UINT32_MAX

struct fleet_plan {
	uint32_t n_nodes;
	uint8_t n_rails;
	uint32_t n_groups; /* of adjacent nodes; 0: none */
	uint32_t slow;     /* a node with a third of the bandwidth; FLEETS_NONE */
	uint32_t dead;     /* a node whose last rail cannot connect; FLEETS_NONE */
	uint32_t link[2];  /* with two thirds of the bandwidth between them; FLEETS_NONE */
	unsigned int seed;
};

static inline double fleets_noise(unsigned int *seed)
{
	return 0.985 + 0.03 * (double)rand_r(seed) / RAND_MAX;
}

static inline void fleets_add_nodes(struct fleet *fleet, const struct fleet_plan *plan)
{
	fleet->n_nodes = plan->n_nodes;
	fleet->nodes = calloc(plan->n_nodes, sizeof(*fleet->nodes));
	assert_non_null(fleet->nodes);
	for (uint32_t i = 0; i < plan->n_nodes; i++) {
		struct fleet_node *node = &fleet->nodes[i];

		snprintf(node->name, sizeof(node->name), "n%03u", i + 1);
		snprintf(node->host, sizeof(node->host), "n%03u", i + 1);
		if (plan->n_groups)
			snprintf(node->group, sizeof(node->group), "leaf%u",
				 i * plan->n_groups / plan->n_nodes + 1);
		node->presence = FLEET_PRESENT;
		node->n_rails = plan->n_rails;
		for (uint8_t rail = 0; rail < plan->n_rails; rail++) {
			snprintf(node->rails[rail].device, FLEET_NAME, "mlx5_%u", rail);
			node->rails[rail].port = 1;
			node->rails[rail].rate_mbps = 100000;
		}
	}
}

static inline void fleets_add_cases(struct fleet *fleet)
{
	fleet->n_cases = 2;
	fleet->cases = calloc(2, sizeof(*fleet->cases));
	assert_non_null(fleet->cases);
	fleet->cases[0] = (struct fleet_case){.id = "write/bw/1m/poll/bidir",
					      .is_both_ways = true,
					      .size = 1048576,
					      .floor = 0.8,
					      .floor_is_line = true};
	fleet->cases[1] = (struct fleet_case){
		.id = "send/lat/8/poll", .is_latency = true, .size = 8, .floor = (double)NAN};
}

static inline void fleets_measure(struct fleet *fleet, const struct fleet_plan *plan,
				  struct fleet_pair *pair, unsigned int *seed)
{
	double speed = 1;

	if (pair->from_rail == plan->n_rails - 1 &&
	    (pair->from == plan->dead || pair->to == plan->dead)) {
		pair->status = FLEET_FAILED;
		pair->faults = FLEET_FAULT_FAILED;
		pair->error = strdup("no reply for 10 s: transport retry counter exceeded");
		return;
	}
	if (pair->from == plan->slow || pair->to == plan->slow)
		speed = 0.35;
	if ((pair->from == plan->link[0] && pair->to == plan->link[1]) ||
	    (pair->from == plan->link[1] && pair->to == plan->link[0]))
		speed = 0.65;
	pair->status = FLEET_MEASURED;
	if (speed < 1)
		pair->faults = FLEET_FAULT_FLOOR | FLEET_FAULT_OUTLIER;
	assert_int_equal(fleet_add_figures(fleet, pair), 0);
	pair->figures[0] = 12.1e9 * speed * fleets_noise(seed);
	pair->figures[1] = 12.1e9 * speed * fleets_noise(seed);
	pair->figures[2] = (speed < 0.5 ? 3200 : 1600) * fleets_noise(seed);
}

static inline void fleets_add_pairs(struct fleet *fleet, const struct fleet_plan *plan)
{
	unsigned int seed = plan->seed;

	for (uint32_t from = 0; from < plan->n_nodes; from++)
		for (uint32_t to = from + 1; to < plan->n_nodes; to++)
			for (uint8_t rail = 0; rail < plan->n_rails; rail++) {
				struct fleet_pair *pair = fleet_add_pair(fleet);

				assert_non_null(pair);
				pair->from = from;
				pair->to = to;
				pair->from_rail = pair->to_rail = rail;
				fleets_measure(fleet, plan, pair, &seed);
			}
}

static inline void fleets_add_spread(struct fleet *fleet, uint32_t number, uint8_t rail,
				     bool is_between)
{
	double *values = calloc(2 * fleet->n_pairs, sizeof(*values));
	struct fleet_spread *spread = &fleet->spreads[fleet->n_spreads];
	size_t count = 0;

	assert_non_null(values);
	for (size_t i = 0; i < 2 * fleet->n_pairs; i++) {
		const struct fleet_pair *pair = &fleet->pairs[i / 2];

		if (pair->from_rail == rail && pair->figures &&
		    !isnan(pair->figures[2 * number + i % 2]) &&
		    (strcmp(fleet->nodes[pair->from].group, fleet->nodes[pair->to].group) != 0) ==
			    is_between)
			values[count++] = pair->figures[2 * number + i % 2];
	}
	if (count) {
		median_sort(values, count);
		*spread = (struct fleet_spread){.number = number,
						.rail = rail,
						.is_between = is_between,
						.count = count,
						.median = median_of_sorted(values, count),
						.least = values[0],
						.most = values[count - 1]};
		for (size_t i = 0; i < count; i++)
			values[i] = fabs(values[i] - spread->median);
		median_sort(values, count);
		spread->mad = median_of_sorted(values, count);
		fleet->n_spreads++;
	}
	free(values);
}

static inline void fleets_blame(struct fleet *fleet, const struct fleet_blame *blame,
				const char *reason)
{
	fleet->blames[fleet->n_blames] = *blame;
	snprintf(fleet->blames[fleet->n_blames++].reason, 256, "%s", reason);
}

static inline void fleets_judge(struct fleet *fleet, const struct fleet_plan *plan)
{
	uint8_t last = (uint8_t)(plan->n_rails - 1);

	fleet->spreads = calloc((size_t)plan->n_rails * 4, sizeof(*fleet->spreads));
	fleet->blames = calloc(3, sizeof(*fleet->blames));
	assert_non_null(fleet->spreads);
	assert_non_null(fleet->blames);
	for (uint8_t rail = 0; rail < plan->n_rails; rail++)
		for (uint32_t i = 0; i < 4; i++)
			fleets_add_spread(fleet, i / 2, rail, i % 2);
	if (plan->slow != FLEETS_NONE)
		fleets_blame(fleet,
			     &(struct fleet_blame){.culprit = FLEET_CULPRIT_NODE,
						   .node = plan->slow,
						   .rail = FLEET_ALL_RAILS,
						   .bad = plan->n_nodes - 1},
			     "33.9 Gb/s, median 96.8 Gb/s (all pairs)");
	if (plan->dead != FLEETS_NONE)
		fleets_blame(fleet,
			     &(struct fleet_blame){.culprit = FLEET_CULPRIT_RAIL,
						   .node = plan->dead,
						   .rail = last,
						   .bad = plan->n_nodes - 1},
			     "no reply for 10 s (all pairs)");
	if (plan->link[0] != FLEETS_NONE)
		fleets_blame(fleet,
			     &(struct fleet_blame){.culprit = FLEET_CULPRIT_LINK,
						   .node = plan->link[0],
						   .rail = 0,
						   .peer = plan->link[1],
						   .bad = 1},
			     "62.9 Gb/s, median 96.8 Gb/s (1 of 1 pair)");
}

static inline void fleets_make(struct fleet *fleet, const struct fleet_plan *plan)
{
	*fleet = (struct fleet){.version = "0.1",
				.started = "2001-02-03T04:05:06Z",
				.finished = "2001-02-03T04:15:06Z",
				.pattern = "pairs",
				.rails = "same",
				.n_rounds = plan->n_nodes - 1};
	fleets_add_nodes(fleet, plan);
	fleets_add_cases(fleet);
	fleets_add_pairs(fleet, plan);
	fleets_judge(fleet, plan);
}

#endif
