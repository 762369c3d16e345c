/* SPDX-License-Identifier: MIT */
/* Judging and blame of small fleets, with figures computed by hand. */
#include <stdlib.h>

#include "core/test/lib/check.h"
#include "reports/fleet/blame/blame.h"
#include "reports/fleet/blame/judge.h"

#define GBPS (1e9 / 8)

static struct fleet fleet;
static struct error error;

static int finish(void **unused)
{
	fleet_finish(&fleet);
	return 0;
}

/* A fleet with a rail of 100 Gb/s per node and one unidirectional bandwidth case. */
static void build(size_t n_nodes, double floor)
{
	fleet_finish(&fleet);
	fleet.nodes = calloc(n_nodes, sizeof(*fleet.nodes));
	fleet.cases = calloc(1, sizeof(*fleet.cases));
	assert_non_null(fleet.nodes);
	assert_non_null(fleet.cases);
	fleet.n_nodes = n_nodes;
	fleet.n_cases = 1;
	fleet.cases[0] = (struct fleet_case){.id = "w", .floor = floor, .floor_is_line = true};
	for (size_t i = 0; i < n_nodes; i++) {
		snprintf(fleet.nodes[i].name, sizeof(fleet.nodes[i].name), "n%zu", i);
		fleet.nodes[i].presence = FLEET_PRESENT;
		fleet.nodes[i].n_rails = 1;
		fleet.nodes[i].rails[0].rate_mbps = 100000;
	}
}

static void add(uint32_t from, uint32_t to, uint8_t retest, double gbps)
{
	struct fleet_pair *pair = fleet_add_pair(&fleet);

	assert_non_null(pair);
	pair->from = from;
	pair->to = to;
	pair->retest = retest;
	pair->status = FLEET_FAILED;
	if (gbps <= 0)
		return;
	assert_int_equal(fleet_add_figures(&fleet, pair), 0);
	pair->status = FLEET_MEASURED;
	pair->figures[0] = gbps * GBPS;
}

static void judge(void)
{
	assert_int_equal(fleet_judge(&fleet, &error), 0);
	assert_int_equal(fleet_find_blame(&fleet, &error), 0);
}

static void check_blame(size_t number, enum fleet_culprit culprit, uint32_t node, uint32_t peer,
			const char *reason)
{
	assert_true(number < fleet.n_blames);
	assert_int_equal(fleet.blames[number].culprit, culprit);
	assert_int_equal(fleet.blames[number].node, node);
	assert_int_equal(fleet.blames[number].peer, peer);
	assert_string_equal(fleet.blames[number].reason, reason);
}

/*
 * Median of 90, 96, 97, 98, 98, 99, 100, 101: 98. Deviations 8, 2, 1, 0, 0, 1, 2, 3: MAD 1.5, so an
 * outlier is below 98 - 3.5 * 1.4826 * 1.5 = 90.22.
 */
static void test_outlier(void **unused)
{
	static const double gbps[] = {90, 96, 97, 98, 98, 99, 100, 101};

	build(9, (double)NAN);
	for (uint32_t i = 0; i < 8; i++)
		add(i, i + 1, 0, gbps[i]);
	assert_int_equal(fleet_judge(&fleet, &error), 0);
	assert_int_equal(fleet.n_spreads, 1);
	assert_near(fleet.spreads[0].median, 98 * GBPS, 1);
	assert_near(fleet.spreads[0].mad, 1.5 * GBPS, 1);
	assert_near(fleet.spreads[0].least, 90 * GBPS, 1);
	assert_int_equal(fleet.pairs[0].faults, FLEET_FAULT_OUTLIER);
	assert_int_equal(fleet_pair_verdict(&fleet, &fleet.pairs[0]), VERDICT_WORSE);
	assert_int_equal(fleet_pair_verdict(&fleet, &fleet.pairs[1]), VERDICT_SAME);
	fleet.pairs[0].figures[0] = 90.3 * GBPS;
	assert_int_equal(fleet_judge(&fleet, &error), 0);
	assert_int_equal(fleet.pairs[0].faults, 0);
}

/* Seven figures show no outlier, but a floor still does. */
static void test_few(void **unused)
{
	build(8, (double)NAN);
	for (uint32_t i = 0; i < 7; i++)
		add(i, i + 1, 0, i ? 98 : 50);
	assert_int_equal(fleet_judge(&fleet, &error), 0);
	assert_int_equal(fleet.pairs[0].faults, 0);
	assert_int_equal(fleet_pair_verdict(&fleet, &fleet.pairs[0]), VERDICT_UNCLEAR);
	fleet.cases[0].floor = 0.9;
	assert_int_equal(fleet_judge(&fleet, &error), 0);
	assert_int_equal(fleet.pairs[0].faults, FLEET_FAULT_FLOOR);
}

/* In a fleet of two, nothing tells the ends apart. */
static void test_two(void **unused)
{
	build(2, 0.9);
	add(0, 1, 0, 40);
	judge();
	assert_int_equal(fleet.n_blames, 1);
	assert_int_equal(fleet.blames[0].culprit, FLEET_CULPRIT_PAIR);
}

/* n0 fails with two partners that are good with each other. */
static void test_node(void **unused)
{
	build(3, 0.9);
	add(0, 1, 0, 0);
	add(0, 2, 0, 0);
	add(1, 2, 0, 98);
	judge();
	assert_int_equal(fleet.n_blames, 1);
	check_blame(0, FLEET_CULPRIT_NODE, 0, 0, "failed (2 of 2 pairs)");
	assert_int_equal(fleet.blames[0].bad, 2);
	assert_int_equal(fleet.blames[0].good, 0);
}

static const char *warning(void)
{
	assert_int_equal(json_array_size(fleet.warnings), 1);
	return json_string_value(json_array_get(fleet.warnings, 0));
}

/* One bad pair is the link's fault if it repeats, and nobody's if it does not. */
static void test_link(void **unused)
{
	build(3, 0.9);
	add(0, 1, 0, 40);
	add(0, 2, 0, 98);
	add(2, 1, 0, 98);
	add(0, 1, 1, 42);
	add(0, 1, 2, 44);
	judge();
	assert_int_equal(fleet.n_blames, 1);
	check_blame(0, FLEET_CULPRIT_LINK, 0, 1,
		    "42.0 Gb/s, median 98.0 Gb/s, floor 90.0 Gb/s (3 of 3 times)");
	fleet.pairs[3].figures[0] = fleet.pairs[4].figures[0] = 98 * GBPS;
	judge();
	assert_int_equal(fleet.n_blames, 0);
	assert_string_equal(warning(), "n0-n1 was bad once and passed twice when repeated");
}

/*
 * 325 figures with median 98 and MAD 1. The standard normal distribution function is 0.99982 at
 * (98 - 92.7) / 1.4826 = 3.57, so that 325 figures have such an outlier with a probability of 0.057;
 * of 92, it is 0.008.
 */
static void test_single(void **unused)
{
	static const double gbps[] = {96, 97, 98, 98, 98, 99, 100};

	build(26, (double)NAN);
	for (uint32_t i = 0, k = 0; i < 26; i++)
		for (uint32_t j = i + 1; j < 26; j++)
			add((i + j) % 2 ? i : j, (i + j) % 2 ? j : i, 0, gbps[k++ % 7]);
	fleet.pairs[0].figures[0] = 92.7 * GBPS;
	judge();
	assert_int_equal(fleet.pairs[0].faults, FLEET_FAULT_OUTLIER);
	assert_int_equal(fleet.n_blames, 0);
	assert_string_equal(warning(), "1 pair was bad once and not measured again");
	fleet.pairs[0].figures[0] = 92 * GBPS;
	judge();
	assert_int_equal(fleet.n_blames, 1);
	check_blame(0, FLEET_CULPRIT_LINK, 0, 1, "92.0 Gb/s, median 98.0 Gb/s (1 of 1 times)");
	/* Where others were repeated, once is too little. */
	add(2, 3, 1, 98);
	judge();
	assert_int_equal(fleet.n_blames, 0);
	/* 93.5 has a z-score of 3, but is within 5 % of the median. */
	add(0, 1, 1, 92);
	add(0, 1, 2, 93.5);
	judge();
	assert_int_equal(fleet.n_blames, 0);
}

/* The figures of test_outlier. A z-score of 2.5 is at 98 - 2.5 * 1.4826 * 1.5 = 92.44. */
static void test_nearly_good(void **unused)
{
	static const double gbps[] = {90, 96, 97, 98, 98, 99, 100, 101};

	build(9, (double)NAN);
	for (uint32_t i = 0; i < 8; i++)
		add(i, i + 1, 0, gbps[i]);
	add(0, 1, 1, 90);
	add(0, 1, 2, 92.5);
	judge();
	assert_int_equal(fleet.n_blames, 0);
	assert_string_equal(warning(), "n0-n1 was bad twice and passed once when repeated");
	fleet.pairs[9].figures[0] = 92.3 * GBPS;
	judge();
	assert_int_equal(fleet.n_blames, 1);
	check_blame(0, FLEET_CULPRIT_PAIR, 0, 1, "90.0 Gb/s, median 98.0 Gb/s (2 of 3 times)");
}

static void test_lost(void **unused)
{
	build(3, 0.9);
	fleet.nodes[2].presence = FLEET_LOST;
	add(0, 1, 0, 98);
	add(0, 2, 0, 0);
	judge();
	assert_int_equal(fleet.n_blames, 1);
	check_blame(0, FLEET_CULPRIT_NODE, 2, 2, "stopped responding");
}

/* Rounds of retests have no node twice, and leave out nodes that are lost. */
static void test_retests(void **unused)
{
	struct fleet_retest *wishes;
	size_t count;

	build(6, 0.9);
	fleet.nodes[5].presence = FLEET_LOST;
	add(0, 1, 0, 40);
	add(2, 3, 0, 98);
	add(4, 5, 0, 0);
	assert_int_equal(fleet_judge(&fleet, &error), 0);
	assert_int_equal(fleet_choose_retests(&fleet, 1, &wishes, &count, &error), 0);
	/* The pair again, and each end with n2 and n3. */
	assert_int_equal(count, 5);
	for (size_t i = 0; i < count; i++) {
		assert_true(wishes[i].from < 4 && wishes[i].to < 4);
		for (size_t k = 0; k < i; k++)
			assert_false(wishes[k].round == wishes[i].round &&
				     (wishes[k].from == wishes[i].from ||
				      wishes[k].from == wishes[i].to ||
				      wishes[k].to == wishes[i].from ||
				      wishes[k].to == wishes[i].to));
	}
	free(wishes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_outlier, finish),
		cmocka_unit_test_teardown(test_few, finish),
		cmocka_unit_test_teardown(test_two, finish),
		cmocka_unit_test_teardown(test_node, finish),
		cmocka_unit_test_teardown(test_link, finish),
		cmocka_unit_test_teardown(test_single, finish),
		cmocka_unit_test_teardown(test_nearly_good, finish),
		cmocka_unit_test_teardown(test_lost, finish),
		cmocka_unit_test_teardown(test_retests, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
