/* SPDX-License-Identifier: MIT */
/* Measures one pair of nodes in a round: all its rails, in the steps of the schedule. */
#ifndef BENCH_FLEET_ROUND_H
#define BENCH_FLEET_ROUND_H

#include "bench/fleet/pair.h"
#include "bench/fleet/schedule.h"

/* How long a measurement that was stopped may take to end. */
#define ROUND_GRACE_MS 10000

struct round_settings {
	const struct plan *plan;
	const struct schedule *schedule;
	const struct pair_server *servers; /* by node */
	unsigned int timeout_ms;           /* for each step */
	int stop;                          /* readable on a signal */
	bool with_histograms;
};

/* A pair of nodes to measure, with this node as client. */
struct round_pair {
	uint32_t round;
	uint32_t from; /* this node */
	uint32_t to;
	uint8_t retest; /* of a single pair of rails; 0: of the schedule, with all rails */
	uint8_t from_rail;
	uint8_t to_rail;
};

/* Adds the measurements to the fleet. Fails only without memory, or with -EINTR on a signal. */
int round_measure(const struct round_settings *settings, const struct round_pair *pair,
		  struct fleet *fleet, struct error *error);

/* Adds the pair as failed, without measuring it. */
int round_fail(const struct round_settings *settings, const struct round_pair *pair,
	       const char *reason, struct fleet *fleet, struct error *error);

#endif
