/* SPDX-License-Identifier: MIT */
/*
 * Who talks to whom of several ends: in one process each of the many is a thread with a
 * lane of its own, at the client or at the server, and between two that talk to each
 * other there are --qps queue pairs: a flow. Queue pairs have one number at both ends, in
 * the order of the client's lanes.
 */
#ifndef BENCH_PLAN_PATTERN_H
#define BENCH_PLAN_PATTERN_H

#include "bench/plan/parameters.h"
#include "reports/result/flows.h"
#include "reports/result/shares.h"

enum pattern {
	PATTERN_ONE_TO_ONE,
	PATTERN_MANY_TO_ONE,
	PATTERN_ONE_TO_MANY,
	PATTERN_ALL_TO_ALL,
};

/* Whether there is one: else each thread has its own at the other end, as one-to-one. */
static inline bool pattern_is_on(const struct parameters *p)
{
	return p->pattern != PARAMETER_AUTO;
}

/* Threads of that end, each with a lane. */
unsigned int pattern_lanes(const struct parameters *p, bool is_server);

/* Queue pairs of each lane there. */
unsigned int pattern_lane_pairs(const struct parameters *p, bool is_server);

/* Of the larger lane of the two ends. */
unsigned int pattern_most_pairs(const struct parameters *p);

/* Of an end, all together. */
unsigned int pattern_pairs(const struct parameters *p);

/* That of a lane's queue pair. */
unsigned int pattern_number(const struct parameters *p, bool is_server, unsigned int lane,
			    unsigned int pair);

/* What it is in the lane of the other end. */
unsigned int pattern_far_pair(const struct parameters *p, bool is_server, unsigned int lane,
			      unsigned int pair);

/*
 * The client connects in the order of the numbers. For the server to accept in the same
 * one, each of its lanes in turn takes a part of its queue pairs, so many times.
 */
unsigned int pattern_rounds(const struct parameters *p);

/* What each flow had of what the client's queue pairs had. flows is zeroed. */
int pattern_flows(const struct parameters *p, const struct shares *shares, struct flows *flows,
		  struct error *error);

#endif
