/* SPDX-License-Identifier: MIT */
/*
 * Simulates the check of a fleet with planted faults: measures with Gaussian noise what a schedule
 * asks for, judges, repeats what is bad, and finds who is to blame. Serves to find out how often
 * the blame is right. The same seed gives the same fleet. Pure functions without verbs.
 */
#ifndef BENCH_FLEET_SIMULATE_H
#define BENCH_FLEET_SIMULATE_H

#include "reports/fleet/fleet.h"

#define PLANTS_MOST      16
#define SIMULATION_CASES 2

enum plant_kind {
	PLANT_SLOW_NODE,     /* slow-node:17 or slow-node:17x0.85 */
	PLANT_SLOW_RAIL,     /* slow-rail:3/1x0.7 */
	PLANT_SLOW_RECEIVER, /* slow-receiver:17: a node that receives slowly */
	PLANT_SLOW_SENDER,   /* slow-sender:17 */
	PLANT_SLOW_LINK,     /* slow-link:5-9: between all rails of two nodes */
	PLANT_SLOW_HALF,     /* slow-half: the second half of the nodes */
	PLANT_SLOW_SPINE,    /* slow-spine: pairs between the two halves */
	PLANT_DEAD_RAIL,     /* dead-rail:3/1 */
	PLANT_DEAD_LINK,     /* dead-link:5-9 */
	PLANT_LOST_NODE,     /* lost-node:7: after half of the rounds */
	PLANT_KINDS,
};

struct plant {
	enum plant_kind kind;
	uint32_t node;
	uint32_t peer;
	uint8_t rail;
	double factor; /* of the bandwidth; the inverse of the latency */
};

struct plants {
	struct plant all[PLANTS_MOST];
	size_t count;
};

/* Parses "slow-node:17x0.85,dead-rail:3/1,slow-link:5-9" into struct plants: an option_parser. */
const char *plants_parse(const char *text, void *field);

/* Returns the partner of a rank in a round, or the rank itself if it is idle. */
typedef uint32_t simulation_partner(const void *context, uint32_t round, uint32_t rank);

struct simulation {
	uint32_t n_nodes;
	uint32_t n_rails;
	uint32_t n_rounds;
	simulation_partner *partner;
	const void *context;
	uint64_t seed;
	double noise;        /* standard deviation, as a fraction */
	double disturbed;    /* share of figures with eight times the noise */
	double floor;        /* of the line rate; NAN: none */
	uint32_t group_size; /* nodes per group; 0: no groups */
	struct plants plants;
};

/*
 * Fills in a zeroed fleet, judges it and finds who is to blame. Fails with -EINVAL if a plant names
 * a node or rail that the fleet lacks, and with -ENOMEM. The caller finishes the fleet.
 */
int simulate_fleet(const struct simulation *simulation, struct fleet *fleet, struct error *error);

#endif
