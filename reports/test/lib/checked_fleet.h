/* SPDX-License-Identifier: MIT */
/*
 * A checked fleet of four nodes with two rails and two cases, made by hand: n017 is slow, n003 has
 * a bad second rail, n004 is lost.
 */
#ifndef REPORTS_TEST_LIB_CHECKED_FLEET_H
#define REPORTS_TEST_LIB_CHECKED_FLEET_H

#include <stdlib.h>

#include "core/base/compiler.h"
#include "core/test/lib/check.h"
#include "reports/fleet/document.h"
#include "reports/fleet/fleet.h"

enum {
	N001,
	N003,
	N004,
	N017,
	CHECKED_NODES
};

#define CHECKED_GBPS(value) ((value)*1e9 / 8)

static struct fleet fleet;

static inline void checked_add_node(size_t number, const char *name)
{
	struct fleet_node *node = &fleet.nodes[number];

	snprintf(node->name, sizeof(node->name), "%s", name);
	snprintf(node->host, sizeof(node->host), "%s", name);
	snprintf(node->group, sizeof(node->group), "leaf1");
	snprintf(node->fingerprint, sizeof(node->fingerprint), "0123456789abcdef");
	node->presence = FLEET_PRESENT;
	node->n_rails = 2;
	for (size_t i = 0; i < node->n_rails; i++) {
		struct fleet_rail *rail = &node->rails[i];

		snprintf(rail->device, sizeof(rail->device), "mlx5_%zu", i);
		snprintf(rail->address, sizeof(rail->address), "10.0.%zu.%zu", i, number + 1);
		snprintf(rail->link_layer, sizeof(rail->link_layer), "InfiniBand");
		snprintf(rail->pci, sizeof(rail->pci), "0000:%c7:00.0", i ? '2' : '1');
		rail->port = 1;
		rail->rate_mbps = 100000;
		rail->numa_node = i ? -1 : 0;
		rail->pkey = 0xffff;
	}
}

static inline struct fleet_pair *checked_add_pair(uint32_t from, uint32_t to, uint8_t rail,
						  enum fleet_status status)
{
	struct fleet_pair *pair = fleet_add_pair(&fleet);

	assert_non_null(pair);
	pair->round = (uint32_t)(fleet.n_pairs - 1) / 4;
	pair->from = from;
	pair->to = to;
	pair->from_rail = pair->to_rail = rail;
	pair->status = status;
	return pair;
}

static inline void checked_measure(uint32_t from, uint32_t to, uint8_t rail, double gbps,
				   double back_gbps, double ns, uint8_t faults)
{
	struct fleet_pair *pair = checked_add_pair(from, to, rail, FLEET_MEASURED);

	assert_int_equal(fleet_add_figures(&fleet, pair), 0);
	pair->figures[0] = CHECKED_GBPS(gbps);
	pair->figures[1] = CHECKED_GBPS(back_gbps);
	pair->figures[2] = ns;
	pair->faults = faults;
}

static inline void checked_add_cases(void)
{
	static const struct fleet_case cases[] = {
		{.id = "write/bw/1m/poll",
		 .is_both_ways = true,
		 .size = 1048576,
		 .floor = 0.9,
		 .floor_is_line = true},
		{.id = "send/lat/8/poll",    .is_latency = true, .size = 8},
	};

	fleet.n_cases = ARRAY_LENGTH(cases);
	fleet.cases = calloc(fleet.n_cases, sizeof(*fleet.cases));
	assert_non_null(fleet.cases);
	memcpy(fleet.cases, cases, sizeof(cases));
	fleet.cases[1].floor = (double)NAN;
}

static inline void checked_add_pairs(void)
{
	struct fleet_pair *pair;

	checked_measure(N001, N003, 0, 97.5, 97.25, 1810, 0);
	pair = checked_add_pair(N001, N003, 1, FLEET_FAILED);
	pair->faults = FLEET_FAULT_FAILED;
	pair->error = strdup("cannot connect: timed out, no reply");
	checked_measure(N004, N017, 0, 41.5, 97, 1900, FLEET_FAULT_FLOOR | FLEET_FAULT_OUTLIER);
	checked_measure(N001, N017, 0, 41.25, 96.5, 1850, FLEET_FAULT_FLOOR);
	pair = &fleet.pairs[fleet.n_pairs - 1];
	pair->faults |= FLEET_FAULT_COUNTERS;
	pair->errors = json_pack("{s:{s:i}}", "to", "symbol_error", 7);
	pair = checked_add_pair(N004, N003, 0, FLEET_SKIPPED);
	pair->error = strdup("n004 was lost");
}

static inline void checked_add_findings(void)
{
	static const struct fleet_spread spreads[] = {
		{.number = 0,
		 .count = 6,
		 .median = CHECKED_GBPS(97.1234567),
		 .mad = CHECKED_GBPS(0.25),
		 .least = CHECKED_GBPS(41.25),
		 .most = CHECKED_GBPS(97.5)						     },
		{.number = 1, .count = 3, .median = 1850, .mad = 40, .least = 1810, .most = 1900},
	};
	static const struct fleet_blame blames[] = {
		{.culprit = FLEET_CULPRIT_NODE,
		 .node = N017,
		 .rail = FLEET_ALL_RAILS,
		 .bad = 2,
		 .faults = FLEET_FAULT_FLOOR | FLEET_FAULT_OUTLIER,
		 .reason = "41.25 Gb/s, median 97.1 Gb/s (2 of 2 pairs)"},
		{.culprit = FLEET_CULPRIT_RAIL,
		 .node = N003,
		 .rail = 1,
		 .bad = 1,
		 .faults = FLEET_FAULT_FAILED,
		 .reason = "cannot connect: timed out (1 of 1 pairs)"   },
	};

	fleet.n_spreads = ARRAY_LENGTH(spreads);
	fleet.spreads = calloc(fleet.n_spreads, sizeof(*fleet.spreads));
	fleet.n_blames = ARRAY_LENGTH(blames);
	fleet.blames = calloc(fleet.n_blames, sizeof(*fleet.blames));
	assert_non_null(fleet.spreads);
	assert_non_null(fleet.blames);
	memcpy(fleet.spreads, spreads, sizeof(spreads));
	memcpy(fleet.blames, blames, sizeof(blames));
}

static inline int checked_open(void **unused)
{
	static const char *const names[CHECKED_NODES] = {"n001", "n003", "n004", "n017"};

	fleet = (struct fleet){
		.version = "1.2.3",
		.started = "2001-02-03T04:05:06Z",
		.finished = "2001-02-03T04:07:11Z",
		.launcher = "slurm",
		.pattern = "pairs",
		.rails = "same",
		.n_rounds = 3,
		.n_nodes = CHECKED_NODES,
	};
	fleet.command = json_pack("[s, s]", "verbmark", "fleet");
	fleet.nodes = calloc(fleet.n_nodes, sizeof(*fleet.nodes));
	assert_non_null(fleet.nodes);
	for (size_t i = 0; i < CHECKED_NODES; i++)
		checked_add_node(i, names[i]);
	fleet.nodes[N004].presence = FLEET_LOST;
	snprintf(fleet.nodes[N004].error, sizeof(fleet.nodes[N004].error), "no answer for 10 s");
	checked_add_cases();
	checked_add_pairs();
	checked_add_findings();
	fleet_warn(&fleet, "n003 has rails that differ: mlx5_1 at 50 Gb/s");
	return 0;
}

static inline int checked_close(void **unused)
{
	fleet_finish(&fleet);
	return 0;
}

/* Returns the document as it is written. */
static inline json_t *checked_document(const struct fleet *of)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	json_t *document;

	assert_non_null(out);
	assert_int_equal(fleet_document_print(out, of), 0);
	assert_int_equal(fclose(out), 0);
	document = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(document);
	free(text);
	return document;
}

#endif
