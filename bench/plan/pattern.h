/* SPDX-License-Identifier: MIT */
/*
 * Traffic patterns: who talks to whom. Within a process, each of the many is a thread with its own
 * lane, on the client or on the server. Two that talk to each other are connected by --qps queue
 * pairs: a flow. A queue pair has the same number on both sides, in the order of the client's
 * lanes.
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

/* Returns whether a pattern was requested. Without one, threads are connected one-to-one. */
static inline bool pattern_is_on(const struct parameters *p)
{
	return p->pattern != PARAMETER_AUTO;
}

/*
 * Returns whether the client has one queue pair, which sends to a multicast group. All queue pairs
 * of the server receive from it.
 */
static inline bool pattern_is_multicast(const struct parameters *p)
{
	return p->multicast != PARAMETER_AUTO;
}

/* Returns the number of queue pairs that get a copy of each message. */
unsigned int pattern_receivers(const struct parameters *p);

/* Returns the number of lanes (threads) of a side. */
unsigned int pattern_lanes(const struct parameters *p, bool is_server);

/* Returns the number of queue pairs in each lane of a side. */
unsigned int pattern_lane_pairs(const struct parameters *p, bool is_server);

/* Returns the larger of the two sides' queue pairs per lane. */
unsigned int pattern_most_pairs(const struct parameters *p);

/* Returns whether a side that receives messages has several queue pairs per lane. */
bool pattern_shares_receives(const struct parameters *p);

/* Returns the total number of queue pairs of a side; with multicast, of the server. */
unsigned int pattern_pairs(const struct parameters *p);

/* Returns the number of a lane's queue pair. */
unsigned int pattern_number(const struct parameters *p, bool is_server, unsigned int lane,
			    unsigned int pair);

/* Returns the index of a lane's queue pair within the peer's lane. */
unsigned int pattern_peer_pair(const struct parameters *p, bool is_server, unsigned int lane,
			       unsigned int pair);

/*
 * Returns the number of rounds in which the server accepts. The client connects queue pairs in the
 * order of their numbers. To accept in the same order, each server lane in turn accepts a part of
 * its queue pairs, once per round.
 */
unsigned int pattern_rounds(const struct parameters *p);

/*
 * Computes each flow's share of the traffic from the shares of the client's queue pairs. flows
 * must be zeroed.
 */
int pattern_flows(const struct parameters *p, const struct shares *shares, struct flows *flows,
		  struct error *error);

#endif
