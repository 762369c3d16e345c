/* SPDX-License-Identifier: MIT */
#include "bench/plan/pattern.h"

#include <stdio.h>

/* Returns whether that side is the "one" of a one-to-many or many-to-one pattern. */
static bool is_single(const struct parameters *p, bool is_server)
{
	return p->pattern == (is_server ? PATTERN_MANY_TO_ONE : PATTERN_ONE_TO_MANY);
}

unsigned int pattern_lanes(const struct parameters *p, bool is_server)
{
	return is_single(p, is_server) ? 1 : (unsigned int)p->threads;
}

/* Returns how many lanes of the peer each lane talks to. */
static unsigned int peers(const struct parameters *p, bool is_server)
{
	bool has_all = is_single(p, is_server) || p->pattern == PATTERN_ALL_TO_ALL;

	return has_all ? (unsigned int)p->threads : 1;
}

unsigned int pattern_lane_pairs(const struct parameters *p, bool is_server)
{
	if (pattern_is_multicast(p) && !is_server)
		return 1;
	return peers(p, is_server) * (unsigned int)p->qps;
}

unsigned int pattern_most_pairs(const struct parameters *p)
{
	unsigned int near = pattern_lane_pairs(p, false);
	unsigned int far = pattern_lane_pairs(p, true);

	return near > far ? near : far;
}

bool pattern_shares_receives(const struct parameters *p)
{
	return pattern_lane_pairs(p, true) > 1 ||
	       (p->bidirectional && pattern_lane_pairs(p, false) > 1);
}

unsigned int pattern_receivers(const struct parameters *p)
{
	return pattern_is_multicast(p) ? (unsigned int)p->qps : 1;
}

unsigned int pattern_pairs(const struct parameters *p)
{
	if (pattern_is_multicast(p))
		return (unsigned int)p->qps;
	return pattern_lanes(p, false) * pattern_lane_pairs(p, false);
}

unsigned int pattern_number(const struct parameters *p, bool is_server, unsigned int lane,
			    unsigned int pair)
{
	unsigned int qps = (unsigned int)p->qps;

	if (!is_server || p->pattern != PATTERN_ALL_TO_ALL)
		return lane * pattern_lane_pairs(p, is_server) + pair;
	/* pair / qps is the client's lane. */
	return pair / qps * pattern_lane_pairs(p, false) + lane * qps + pair % qps;
}

unsigned int pattern_peer_pair(const struct parameters *p, bool is_server, unsigned int lane,
			       unsigned int pair)
{
	unsigned int qps = (unsigned int)p->qps;
	/* The peer's lane first has the pairs of the lanes before this one. */
	unsigned int before = peers(p, !is_server) > 1 ? lane * qps : 0;

	return before + pair % qps;
}

unsigned int pattern_rounds(const struct parameters *p)
{
	return p->pattern == PATTERN_ALL_TO_ALL ? (unsigned int)p->threads : 1;
}

/* The queue pairs of a flow are adjacent in a lane of the client. */
static void fill(const struct parameters *p, const struct shares *shares, struct flows *flows)
{
	unsigned int n_peers = peers(p, false);
	unsigned int qps = (unsigned int)p->qps;

	for (unsigned int i = 0; i < flows->count; i++) {
		struct flow_share *flow = &flows->flow[i];
		unsigned int lane = i / n_peers;
		unsigned int peer = i % n_peers;
		const uint64_t *messages =
			&shares->messages[(size_t)lane * shares->qps + (size_t)peer * qps];
		unsigned int to = n_peers > 1 ? peer : lane;

		snprintf(flow->from, sizeof(flow->from), "client %u", lane);
		snprintf(flow->to, sizeof(flow->to), "server %u", is_single(p, true) ? 0 : to);
		flow->duration_ns = shares->duration_ns[lane];
		for (unsigned int pair = 0; pair < qps; pair++)
			flow->messages += messages[pair];
	}
}

int pattern_flows(const struct parameters *p, const struct shares *shares, struct flows *flows,
		  struct error *error)
{
	if (!pattern_is_on(p) || !shares->threads)
		return 0;
	if (flows_open(flows, (size_t)pattern_pairs(p) / p->qps, error))
		return error->code;
	fill(p, shares, flows);
	return 0;
}
