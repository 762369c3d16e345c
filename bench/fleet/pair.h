/* SPDX-License-Identifier: MIT */
/*
 * Measures all cases between a rail of this node and a rail of another, as client of its server, in
 * a thread of its own. Several can run at once.
 */
#ifndef BENCH_FLEET_PAIR_H
#define BENCH_FLEET_PAIR_H

#include "bench/client/sweep.h"
#include "bench/plan/plan.h"
#include "reports/fleet/fleet.h"

/* How to reach the server of a rank. */
struct pair_server {
	char host[FLEET_NAME]; /* name or address */
	uint16_t port;
	char token[SECRET_HEX];
};

struct pair_settings {
	const struct plan *plan;
	const struct pair_server *server;
	const char *who; /* name of the server's node, for messages */
	const struct fleet_rail *from;
	const struct fleet_rail *to;
	bool with_histograms;
};

struct pair;

/* Starts the measurement. done is an eventfd, to which it adds 1 when it is over. */
int pair_start(struct pair **pair, const struct pair_settings *settings, int done,
	       struct error *error);

bool pair_is_done(const struct pair *pair);

/* Ends the measurement early, with that reason. */
void pair_stop(struct pair *pair, int code, const char *reason);

/*
 * Moves the outcome into found, which must have its numbers set, and frees the pair. A measurement
 * that does not end, because a call of the device's driver hangs, is left behind: it failed.
 */
void pair_finish(struct pair *pair, const struct fleet *fleet, struct fleet_pair *found);

#endif
