/* SPDX-License-Identifier: MIT */
#include "bench/fleet/simulate.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"
#include "reports/fleet/blame/blame.h"
#include "reports/fleet/blame/judge.h"

/* Figures of a healthy fleet. */
#define RATE_MBPS  100000
#define BANDWIDTH  (0.975 * RATE_MBPS * 1e6 / 8)
#define LATENCY_NS 1500
#define RETESTS    2

#define PLANT_FACTOR 0.6
#define DISTURBANCE  8

/* The place that follows the colon of a plant. */
enum plant_place {
	PLACE_NONE,
	PLACE_NODE,
	PLACE_RAIL,
	PLACE_LINK,
};

static const struct {
	const char *name;
	enum plant_place place;
	bool is_slow; /* accepts a factor */
} kinds[PLANT_KINDS] = {
	[PLANT_SLOW_NODE] = {"slow-node",     PLACE_NODE, true },
	[PLANT_SLOW_RAIL] = {"slow-rail",     PLACE_RAIL, true },
	[PLANT_SLOW_RECEIVER] = {"slow-receiver", PLACE_NODE, true },
	[PLANT_SLOW_SENDER] = {"slow-sender",   PLACE_NODE, true },
	[PLANT_SLOW_LINK] = {"slow-link",     PLACE_LINK, true },
	[PLANT_SLOW_HALF] = {"slow-half",     PLACE_NONE, true },
	[PLANT_SLOW_SPINE] = {"slow-spine",    PLACE_NONE, true },
	[PLANT_DEAD_RAIL] = {"dead-rail",     PLACE_RAIL, false},
	[PLANT_DEAD_LINK] = {"dead-link",     PLACE_LINK, false},
	[PLANT_LOST_NODE] = {"lost-node",     PLACE_NODE, false},
};

static bool read_number(const char **text, unsigned long most, unsigned long *number)
{
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	errno = 0;
	*number = strtoul(*text, &end, 10);
	*text = end;
	return !errno && *number <= most;
}

static bool read_place(const char **text, enum plant_place place, struct plant *plant)
{
	unsigned long number = 0;

	if (place == PLACE_NONE)
		return true;
	if (*(*text)++ != ':' || !read_number(text, UINT32_MAX, &number))
		return false;
	plant->node = (uint32_t)number;
	if (place == PLACE_NODE)
		return true;
	if (*(*text)++ != (place == PLACE_RAIL ? '/' : '-') ||
	    !read_number(text, place == PLACE_RAIL ? FLEET_MOST_RAILS - 1 : UINT32_MAX, &number))
		return false;
	if (place == PLACE_RAIL)
		plant->rail = (uint8_t)number;
	else
		plant->peer = (uint32_t)number;
	return place == PLACE_RAIL || plant->peer != plant->node;
}

static bool read_factor(const char **text, struct plant *plant)
{
	char *end;

	if (**text != 'x')
		return true;
	plant->factor = strtod(*text + 1, &end);
	*text = end;
	return plant->factor > 0 && plant->factor <= 1;
}

static const char *parse_plant(const char **text, struct plant *plant)
{
	size_t length = strcspn(*text, ":x,");

	for (size_t i = 0; i < PLANT_KINDS; i++) {
		if (strlen(kinds[i].name) != length || strncmp(*text, kinds[i].name, length) != 0)
			continue;
		*plant = (struct plant){.kind = (enum plant_kind)i, .factor = PLANT_FACTOR};
		*text += length;
		if (!read_place(text, kinds[i].place, plant))
			return "has no valid place, as in slow-node:17, dead-rail:3/1, slow-link:5-9";
		if (kinds[i].is_slow && !read_factor(text, plant))
			return "has no valid factor, as in slow-node:17x0.85";
		return **text && **text != ',' ? "does not end after a fault" : NULL;
	}
	return "is not slow-node, slow-rail, slow-receiver, slow-sender, slow-link, slow-half, "
	       "slow-spine, dead-rail, dead-link or lost-node";
}

const char *plants_parse(const char *text, void *field)
{
	struct plants *plants = field;

	plants->count = 0;
	for (;;) {
		const char *complaint;

		if (plants->count == PLANTS_MOST)
			return "has more than 16 faults";
		complaint = parse_plant(&text, &plants->all[plants->count]);
		if (complaint)
			return complaint;
		plants->count++;
		if (!*text)
			return NULL;
		text++;
	}
}

/* Live state of a simulation. */
struct run {
	const struct simulation *settings;
	struct fleet *fleet;
	uint64_t random;
	uint32_t round;
};

/* Returns a number between 0 and 1, both excluded. */
static double uniform(struct run *run)
{
	return ((double)(random_next(&run->random) >> 12) + 0.5) / (double)(UINT64_C(1) << 52);
}

/* Returns a normally distributed number (Box and Muller). */
static double gaussian(struct run *run)
{
	double radius = sqrt(-2 * log(uniform(run)));

	return radius * cos(2 * M_PI * uniform(run));
}

/* Returns what noise makes of a figure, as a factor. */
static double noise(struct run *run)
{
	double deviation = run->settings->noise;

	if (run->settings->disturbed > 0 && uniform(run) < run->settings->disturbed)
		deviation *= DISTURBANCE;
	return 1 + deviation * gaussian(run);
}

static bool is_link(const struct plant *plant, const struct fleet_pair *pair)
{
	return (plant->node == pair->from && plant->peer == pair->to) ||
	       (plant->node == pair->to && plant->peer == pair->from);
}

static bool is_rail(const struct plant *plant, const struct fleet_pair *pair)
{
	return (plant->node == pair->from && plant->rail == pair->from_rail) ||
	       (plant->node == pair->to && plant->rail == pair->to_rail);
}

/* Returns whether a fault lets a pair fail. */
static bool is_dead(const struct plant *plant, const struct fleet_pair *pair)
{
	return (plant->kind == PLANT_DEAD_RAIL && is_rail(plant, pair)) ||
	       (plant->kind == PLANT_DEAD_LINK && is_link(plant, pair));
}

static bool is_slow(const struct run *run, const struct plant *plant, const struct fleet_pair *pair,
		    uint32_t sender, uint32_t receiver)
{
	uint32_t half = run->settings->n_nodes / 2;

	switch (plant->kind) {
	case PLANT_SLOW_NODE:
		return sender == plant->node || receiver == plant->node;
	case PLANT_SLOW_RAIL:
		return is_rail(plant, pair);
	case PLANT_SLOW_RECEIVER:
		return receiver == plant->node;
	case PLANT_SLOW_SENDER:
		return sender == plant->node;
	case PLANT_SLOW_LINK:
		return is_link(plant, pair);
	case PLANT_SLOW_HALF:
		return sender >= half || receiver >= half;
	case PLANT_SLOW_SPINE:
		return (sender >= half) != (receiver >= half);
	case PLANT_DEAD_RAIL:
	case PLANT_DEAD_LINK:
	case PLANT_LOST_NODE:
	case PLANT_KINDS:
		break;
	}
	return false;
}

/* Returns the slowest factor of the faults between two nodes. */
static double factor(const struct run *run, const struct fleet_pair *pair, bool is_back)
{
	const struct plants *plants = &run->settings->plants;
	uint32_t sender = is_back ? pair->to : pair->from;
	uint32_t receiver = is_back ? pair->from : pair->to;
	double least = 1;

	for (size_t i = 0; i < plants->count; i++)
		if (plants->all[i].factor < least &&
		    is_slow(run, &plants->all[i], pair, sender, receiver))
			least = plants->all[i].factor;
	return least;
}

static int measure(struct run *run, struct fleet_pair *pair)
{
	const struct plants *plants = &run->settings->plants;

	for (size_t i = 0; i < plants->count; i++)
		if (is_dead(&plants->all[i], pair)) {
			pair->status = FLEET_FAILED;
			pair->error = strdup("connection timed out");
			return pair->error ? 0 : -ENOMEM;
		}
	if (fleet_add_figures(run->fleet, pair))
		return -ENOMEM;
	pair->status = FLEET_MEASURED;
	pair->figures[0] = BANDWIDTH * factor(run, pair, false) * noise(run);
	pair->figures[1] = BANDWIDTH * factor(run, pair, true) * noise(run);
	pair->figures[2] = LATENCY_NS / factor(run, pair, false) * noise(run);
	return 0;
}

static bool is_lost(const struct run *run, uint32_t node)
{
	return run->fleet->nodes[node].presence == FLEET_LOST;
}

static int add(struct run *run, const struct fleet_retest *wish, uint8_t retest)
{
	struct fleet_pair *pair = fleet_add_pair(run->fleet);

	if (!pair)
		return -ENOMEM;
	pair->round = run->round + wish->round;
	pair->from = wish->from;
	pair->to = wish->to;
	pair->from_rail = wish->from_rail;
	pair->to_rail = wish->to_rail;
	pair->retest = retest;
	pair->status = FLEET_SKIPPED;
	return is_lost(run, wish->from) || is_lost(run, wish->to) ? 0 : measure(run, pair);
}

static void lose_nodes(struct run *run)
{
	const struct plants *plants = &run->settings->plants;

	for (size_t i = 0; i < plants->count; i++)
		if (plants->all[i].kind == PLANT_LOST_NODE) {
			struct fleet_node *node = &run->fleet->nodes[plants->all[i].node];

			node->presence = FLEET_LOST;
			snprintf(node->error, sizeof(node->error),
				 "stopped responding in round %" PRIu32, run->round + 1);
		}
}

static int run_schedule(struct run *run)
{
	const struct simulation *settings = run->settings;

	for (run->round = 0; run->round < settings->n_rounds; run->round++) {
		if (run->round == settings->n_rounds / 2)
			lose_nodes(run);
		for (uint32_t rank = 0; rank < settings->n_nodes; rank++) {
			uint32_t peer = settings->partner(settings->context, run->round, rank);

			for (uint8_t rail = 0; peer > rank && rail < settings->n_rails; rail++)
				if (add(run,
					&(struct fleet_retest){.from = rank,
							       .to = peer,
							       .from_rail = rail,
							       .to_rail = rail},
					0))
					return -ENOMEM;
		}
	}
	return 0;
}

static int run_retest(struct run *run, uint8_t retest, struct error *error)
{
	struct fleet_retest *wishes;
	size_t count;
	uint32_t last = 0;
	int code = fleet_choose_retests(run->fleet, retest, &wishes, &count, error);

	for (size_t i = 0; i < count && !code; i++) {
		code = add(run, &wishes[i], retest);
		last = wishes[i].round > last ? wishes[i].round : last;
	}
	run->round += last + (count > 0);
	free(wishes);
	if (code)
		return error_set(error, code, "no memory for retests");
	return fleet_judge(run->fleet, error);
}

static void name_node(const struct simulation *settings, uint32_t number, struct fleet_node *node)
{
	snprintf(node->name, sizeof(node->name), "n%03" PRIu32, number);
	snprintf(node->host, sizeof(node->host), "n%03" PRIu32, number);
	if (settings->group_size)
		snprintf(node->group, sizeof(node->group), "leaf%" PRIu32,
			 number / settings->group_size);
	node->presence = FLEET_PRESENT;
	node->n_rails = settings->n_rails;
	for (uint32_t i = 0; i < settings->n_rails; i++) {
		struct fleet_rail *rail = &node->rails[i];

		snprintf(rail->device, sizeof(rail->device), "mlx5_%" PRIu32, i);
		snprintf(rail->link_layer, sizeof(rail->link_layer), "InfiniBand");
		rail->port = 1;
		rail->rate_mbps = RATE_MBPS;
		rail->numa_node = -1;
	}
}

static int build(struct run *run)
{
	const struct simulation *settings = run->settings;
	struct fleet *fleet = run->fleet;

	fleet->nodes = calloc(settings->n_nodes, sizeof(*fleet->nodes));
	fleet->cases = calloc(SIMULATION_CASES, sizeof(*fleet->cases));
	if (!fleet->nodes || !fleet->cases)
		return -ENOMEM;
	fleet->n_nodes = settings->n_nodes;
	fleet->n_cases = SIMULATION_CASES;
	fleet->n_rounds = settings->n_rounds;
	fleet->is_simulated = true;
	snprintf(fleet->pattern, sizeof(fleet->pattern), "pairs");
	snprintf(fleet->rails, sizeof(fleet->rails), "same");
	for (uint32_t i = 0; i < settings->n_nodes; i++)
		name_node(settings, i, &fleet->nodes[i]);
	fleet->cases[0] = (struct fleet_case){.id = "write/bw/1048576/poll",
					      .is_both_ways = true,
					      .size = 1048576,
					      .floor = settings->floor,
					      .floor_is_line = true};
	fleet->cases[1] = (struct fleet_case){
		.id = "send/lat/8/poll", .is_latency = true, .size = 8, .floor = (double)NAN};
	return 0;
}

static int check(const struct simulation *settings, struct error *error)
{
	if (settings->n_nodes < 1 || settings->n_rails < 1 || settings->n_rails > FLEET_MOST_RAILS)
		return error_set(error, -EINVAL, "a simulated fleet has nodes, and 1 to %d rails",
				 FLEET_MOST_RAILS);
	for (size_t i = 0; i < settings->plants.count; i++) {
		const struct plant *plant = &settings->plants.all[i];

		if (plant->node >= settings->n_nodes || plant->peer >= settings->n_nodes ||
		    plant->rail >= settings->n_rails)
			return error_set(error, -EINVAL,
					 "%s: the simulated fleet has nodes 0 to %" PRIu32
					 " and rails 0 to %" PRIu32,
					 kinds[plant->kind].name, settings->n_nodes - 1,
					 settings->n_rails - 1);
	}
	return 0;
}

int simulate_fleet(const struct simulation *simulation, struct fleet *fleet, struct error *error)
{
	struct run run = {
		.settings = simulation, .fleet = fleet, .random = random_mix(simulation->seed)};
	int code = check(simulation, error);

	if (code)
		return code;
	if (build(&run) || run_schedule(&run))
		return error_set(error, -ENOMEM, "no memory for a fleet of %" PRIu32 " nodes",
				 simulation->n_nodes);
	code = fleet_judge(fleet, error);
	for (uint8_t retest = 1; retest <= RETESTS && !code; retest++)
		code = run_retest(&run, retest, error);
	return code ? code : fleet_find_blame(fleet, error);
}
