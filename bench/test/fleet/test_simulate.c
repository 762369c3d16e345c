/* SPDX-License-Identifier: MIT */
/*
 * How often the blame is right, from simulated fleets with planted faults. FLEETS=1000 in the
 * environment sets the number of fleets for each fault, ONLY=test_confusion the test.
 */
#include <errno.h>
#include <stdlib.h>

#include "bench/fleet/simulate.h"
#include "core/test/lib/check.h"

#define NODES 64

/* The circle method: node n - 1 stays, the others rotate. For an even number of nodes. */
static uint32_t circle(const void *context, uint32_t round, uint32_t rank)
{
	uint32_t n = *(const uint32_t *)context;
	uint32_t last = n - 1;

	if (rank == last)
		return round % last;
	if (rank == round % last)
		return last;
	return (2 * (round % last) + last - rank) % last;
}

/* Faults, and what must be blamed for them. */
static const struct row {
	const char *plants; /* NULL: none */
	uint32_t rails;
	struct fleet_blame expected[2];
	size_t count;
	double share; /* of fleets with exactly this blame, at least */
} rows[] = {
	{NULL,			     1, {},											 0, 0.98},
	{NULL,			     2, {},											 0, 0.98},
	{"slow-node:17",                   1, {{.culprit = FLEET_CULPRIT_NODE, .node = 17}},                                              1, 0.99},
	{"slow-node:17x0.85",              1, {{.culprit = FLEET_CULPRIT_NODE, .node = 17}},                                              1, 0.99},
	{"slow-node:17x0.85",              2, {{.culprit = FLEET_CULPRIT_NODE, .node = 17}},                                              1, 0.99},
	{"slow-receiver:17",               1, {{.culprit = FLEET_CULPRIT_NODE, .node = 17}},                                              1, 0.99},
	{"slow-receiver:17x0.85",          1, {{.culprit = FLEET_CULPRIT_NODE, .node = 17}},                                              1, 0.99},
	{"slow-sender:17x0.85",            1, {{.culprit = FLEET_CULPRIT_NODE, .node = 17}},                                              1, 0.99},
	{"dead-rail:3/1",                  2, {{.culprit = FLEET_CULPRIT_RAIL, .node = 3, .rail = 1}},                                    1, 0.99},
	{"slow-rail:3/1x0.85",             2, {{.culprit = FLEET_CULPRIT_RAIL, .node = 3, .rail = 1}},                                    1, 0.99},
	{"slow-link:5-9",                  1, {{.culprit = FLEET_CULPRIT_LINK, .node = 5, .peer = 9}},                                    1, 0.99},
	{"slow-link:5-9x0.8",              1, {{.culprit = FLEET_CULPRIT_LINK, .node = 5, .peer = 9}},                                    1, 0.8 },
	{"dead-link:5-9",                  1, {{.culprit = FLEET_CULPRIT_LINK, .node = 5, .peer = 9}},                                    1, 0.99},
	{"lost-node:7",                    1, {{.culprit = FLEET_CULPRIT_NODE, .node = 7}},                                               1, 0.99},
	{"slow-node:17,slow-node:40x0.85",
	 1,				   {{.culprit = FLEET_CULPRIT_NODE, .node = 17}, {.culprit = FLEET_CULPRIT_NODE, .node = 40}},
	 2,																  0.98},
	{"slow-node:17,dead-rail:3/1",
	 2,				   {{.culprit = FLEET_CULPRIT_NODE, .node = 17},
	  {.culprit = FLEET_CULPRIT_RAIL, .node = 3, .rail = 1}},
	 2,																  0.98},
	{"slow-node:17,slow-link:5-9",
	 1,				   {{.culprit = FLEET_CULPRIT_NODE, .node = 17},
	  {.culprit = FLEET_CULPRIT_LINK, .node = 5, .peer = 9}},
	 2,																  0.98},
};

static const struct {
	double noise;
	double floor;
} noises[] = {
	{0.02, 0.9},
        {0.05, 0.7}
};

/* Fleets by what was blamed. */
struct outcome {
	uint32_t fleets;
	uint32_t exact;     /* the planted faults and nothing else */
	uint32_t missed;    /* not all planted faults */
	uint32_t others[4]; /* others too, by enum fleet_culprit */
};

static struct fleet fleet;
static struct error error;

static uint32_t fleets_wanted(uint32_t by_default)
{
	const char *text = getenv("FLEETS");

	return text ? (uint32_t)strtoul(text, NULL, 10) : by_default;
}

/* Takes the simulation without its schedule. */
static void simulate(struct simulation simulation, const char *plants)
{
	simulation.n_rounds = simulation.n_nodes - 1;
	simulation.partner = circle;
	simulation.context = &simulation.n_nodes;
	if (!simulation.n_rails)
		simulation.n_rails = 1;
	fleet_finish(&fleet);
	if (plants)
		assert_null(plants_parse(plants, &simulation.plants));
	assert_int_equal(simulate_fleet(&simulation, &fleet, &error), 0);
}

static bool is_expected(const struct fleet_blame *blame, const struct fleet_blame *expected)
{
	if (blame->culprit != expected->culprit || blame->node != expected->node)
		return false;
	if (blame->culprit == FLEET_CULPRIT_RAIL)
		return blame->rail == expected->rail;
	return blame->culprit != FLEET_CULPRIT_LINK || blame->peer == expected->peer;
}

static void count(const struct row *row, struct outcome *outcome)
{
	bool has_others[4] = {false};
	size_t found = 0;

	for (size_t i = 0; i < fleet.n_blames; i++) {
		bool is_right = false;

		for (size_t k = 0; k < row->count; k++)
			is_right = is_right || is_expected(&fleet.blames[i], &row->expected[k]);
		found += is_right;
		if (!is_right)
			has_others[fleet.blames[i].culprit] = true;
	}
	outcome->fleets++;
	outcome->missed += found < row->count;
	outcome->exact += found == row->count && fleet.n_blames == row->count;
	for (size_t i = 0; i < 4; i++)
		outcome->others[i] += has_others[i];
}

static void test_confusion(void **unused)
{
	uint32_t wanted = fleets_wanted(5);

	print_message("# %-31s rails noise fleets  exact missed  node  rail  link  pair\n",
		      "planted");
	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(*rows); i++) {
		const struct row *row = &rows[i / 2];
		struct outcome outcome = {0};

		for (uint32_t seed = 0; seed < wanted; seed++) {
			simulate((struct simulation){.n_nodes = NODES,
						     .n_rails = row->rails,
						     .noise = noises[i % 2].noise,
						     .floor = noises[i % 2].floor,
						     .seed = (uint64_t)i << 32 | seed},
				 row->plants);
			count(row, &outcome);
		}
		print_message(
			"# %-31s %5u %4.0f%% %6u %6u %6u %5u %5u %5u %5u\n",
			row->plants ? row->plants : "nothing", row->rails,
			100 * noises[i % 2].noise, outcome.fleets, outcome.exact, outcome.missed,
			outcome.others[FLEET_CULPRIT_NODE], outcome.others[FLEET_CULPRIT_RAIL],
			outcome.others[FLEET_CULPRIT_LINK], outcome.others[FLEET_CULPRIT_PAIR]);
		assert_true(outcome.exact >= ceil(row->share * outcome.fleets));
	}
}

/* No healthy node is blamed, and no rail. */
static void test_healthy(void **unused)
{
	uint32_t wanted = fleets_wanted(20);

	for (uint32_t seed = 0; seed < wanted; seed++) {
		simulate(
			(struct simulation){
				.n_nodes = NODES, .noise = 0.02, .floor = 0.9, .seed = seed},
			NULL);
		for (size_t i = 0; i < fleet.n_blames; i++)
			assert_true(fleet.blames[i].culprit > FLEET_CULPRIT_RAIL);
	}
}

/*
 * Of the 374,250 figures of 500 nodes, 1 % are disturbed, some of them twice in a row. Too many pairs
 * are bad to repeat them all. None is blamed.
 */
static void test_disturbed(void **unused)
{
	size_t n_bad = 0;

	simulate((struct simulation){.n_nodes = 500,
				     .noise = 0.02,
				     .disturbed = 0.01,
				     .floor = (double)NAN,
				     .seed = 1},
		 NULL);
	for (size_t i = 0; i < fleet.n_pairs; i++)
		n_bad += !fleet.pairs[i].retest && fleet.pairs[i].faults;
	assert_true(n_bad > 1024);
	assert_int_equal(fleet.n_blames, 0);
}

/* Half of the nodes are slow: each is blamed, none of the others, and retests are few. */
static void test_slow_half(void **unused)
{
	size_t n_retests = 0;

	simulate((struct simulation){.n_nodes = NODES, .noise = 0.02, .floor = 0.9, .seed = 1},
		 "slow-half");
	assert_int_equal(fleet.n_blames, NODES / 2);
	for (size_t i = 0; i < fleet.n_blames; i++) {
		assert_int_equal(fleet.blames[i].culprit, FLEET_CULPRIT_NODE);
		assert_true(fleet.blames[i].node >= NODES / 2);
	}
	for (size_t i = 0; i < fleet.n_pairs; i++)
		n_retests += fleet.pairs[i].retest > 0;
	assert_true(n_retests <= (size_t)2 * 4 * NODES);
}

/* Pairs between two halves are slow, and all nodes are good within their half. */
static void test_slow_spine(void **unused)
{
	simulate((struct simulation){.n_nodes = NODES, .noise = 0.02, .floor = 0.9, .seed = 1},
		 "slow-spine");
	assert_true(fleet.n_blames > 0);
	for (size_t i = 0; i < fleet.n_blames; i++)
		assert_int_equal(fleet.blames[i].culprit, FLEET_CULPRIT_LINK);
}

static void test_plants(void **unused)
{
	static const char *const wrong[] = {"",
					    "slow",
					    "slow-node",
					    "slow-node:",
					    "slow-node:x2",
					    "slow-node:1x2",
					    "slow-link:5",
					    "slow-link:5-5",
					    "dead-rail:3/99",
					    "lost-node:1x0.5",
					    "slow-node:1,",
					    "slow-node:-1"};
	struct plants plants;

	assert_null(plants_parse("slow-node:17x0.85,dead-rail:3/1,slow-link:5-9", &plants));
	assert_int_equal(plants.count, 3);
	assert_int_equal(plants.all[0].kind, PLANT_SLOW_NODE);
	assert_int_equal(plants.all[0].node, 17);
	assert_near(plants.all[0].factor, 0.85, 1e-12);
	assert_int_equal(plants.all[1].rail, 1);
	assert_int_equal(plants.all[2].peer, 9);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_non_null(plants_parse(wrong[i], &plants));
}

static int finish(void **unused)
{
	fleet_finish(&fleet);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_confusion, finish),
		cmocka_unit_test_teardown(test_healthy, finish),
		cmocka_unit_test_teardown(test_disturbed, finish),
		cmocka_unit_test_teardown(test_slow_half, finish),
		cmocka_unit_test_teardown(test_slow_spine, finish),
		cmocka_unit_test(test_plants),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
