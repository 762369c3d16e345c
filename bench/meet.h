/* SPDX-License-Identifier: MIT */
/*
 * How the queue pairs of two lanes find each other for one trial: by the calls of the
 * specification over rdma_cm, or by numbers that are exchanged over the control
 * connection. What a peer says is checked before it is used.
 */
#ifndef BENCH_MEET_H
#define BENCH_MEET_H

#include <jansson.h>

#include "bench/lane.h"

/* One end of it. */
struct meet_end {
	const char *address; /* of the port */
	unsigned int port;   /* of the device */
};

/* At the client, first: what the server has to know is put into the case's message. */
int meet_offer(struct lane *lane, const struct meet_end *own, json_t *message, struct error *error);

/* At the server: makes ready for the client, and puts into the answer how to connect. */
int meet_answer(struct lane *lane, const struct meet_end *own, json_t *message, json_t *answer,
		struct error *error);

/* At the client: connects as the answer says. */
int meet_connect(struct lane *lane, const struct meet_end *own, json_t *answer,
		 struct error *error);

/* At the server: waits for the client's connections, if there are to be any. */
int meet_accept(struct lane *lane, struct error *error);

#endif
