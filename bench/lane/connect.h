/* SPDX-License-Identifier: MIT */
/*
 * How the queue pairs of two lanes find each other for one trial: by the calls of the
 * specification over rdma_cm, or by numbers that are exchanged over the control
 * connection. What a peer says is checked before it is used. Of several lanes each does
 * these in its turn: what a message lists is in the order of the queue pairs' numbers.
 */
#ifndef BENCH_LANE_CONNECT_H
#define BENCH_LANE_CONNECT_H

#include <jansson.h>

#include "bench/control/allowed_networks.h"
#include "bench/control/secret.h"
#include "bench/lane/lane.h"
#include "core/rdma/manual_qp.h"

/* One end of it. */
struct lane_end {
	const char *address; /* of the port */
	unsigned int port;   /* of the device */
	const uint8_t *key;  /* for tickets of rdma_cm; NULL: there are none */
	const struct allowed_networks
		*allowed; /* where the other end's queue pairs may be; NULL: anywhere */
};

/* What the other end says of one queue pair. */
int lane_read_pair(struct manual_qp_address *pair, const json_t *json, struct error *error);

/* Where the server listens for one of so many flows of all lanes. The address is the answer's. */
struct lane_target {
	const char *address;
	struct sockaddr_storage place; /* which is that */
	uint16_t port;
	bool has_salt; /* for what its secret makes of it */
	uint8_t salt[SECRET_NONCE];
};

int lane_read_target(struct lane_target *target, const json_t *answer, unsigned int flow,
		     unsigned int n_flows, struct error *error);

/* At the client, first: what the server has to know is put into the case's message. */
int lane_offer(struct lane *lane, const struct lane_end *own, json_t *message, struct error *error);

/* At the server: makes ready for the client, and puts into the answer how to connect. */
int lane_answer(struct lane *lane, const struct lane_end *own, json_t *message, json_t *answer,
		struct error *error);

/* At the client: connects as the answer says. */
int lane_connect(struct lane *lane, const struct lane_end *own, json_t *answer,
		 struct error *error);

/*
 * At the server: waits for the client's connections, if there are to be any. Of all lanes in
 * turn, in so many rounds as the pattern has.
 */
int lane_accept(struct lane *lane, unsigned int round, struct error *error);

#endif
