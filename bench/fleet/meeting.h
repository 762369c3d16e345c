/* SPDX-License-Identifier: MIT */
/* Connections to the servers of other ranks that measure nothing: meetings, and reports. */
#ifndef BENCH_FLEET_MEETING_H
#define BENCH_FLEET_MEETING_H

#include "bench/control/control.h"
#include "bench/fleet/pair.h"

/* A connection to a rank's server. Zeroed: closed. */
struct meeting {
	bool is_open;
	const char *who;
	struct control control;
};

/* Connects and authenticates. Returns an error if the rank is dead or does not answer. */
int meeting_open(struct meeting *meeting, const struct pair_server *server, const char *who,
		 const struct dial_stop *stop, struct error *error);
void meeting_close(struct meeting *meeting);

/* Waits until the rank has reached that round. The meeting then lasts until it is closed. */
int meeting_begin(struct meeting *meeting, uint32_t round, unsigned int timeout_ms,
		  const struct dial_stop *stop, struct error *error);

/*
 * Sends pairs, an array, to rank 0, which may have them already. first: how many this rank has sent
 * before them. is_last: nothing follows.
 */
int meeting_report(struct meeting *meeting, uint32_t rank, size_t first, json_t *pairs,
		   bool is_last, struct error *error);

#endif
