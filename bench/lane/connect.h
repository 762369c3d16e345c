/* SPDX-License-Identifier: MIT */
/*
 * How the queue pairs of two lanes connect for one trial: with the specification's calls over
 * rdma_cm, or by exchanging addresses over the control connection. Whatever the peer sends is
 * checked before it is used. If a side has several lanes, each calls these functions in turn;
 * lists in messages are in the order of the queue pairs' numbers.
 */
#ifndef BENCH_LANE_CONNECT_H
#define BENCH_LANE_CONNECT_H

#include <jansson.h>

#include "bench/control/allowed_networks.h"
#include "bench/control/secret.h"
#include "bench/lane/lane.h"
#include "core/rdma/manual_qp.h"

/* One side of the connection. */
struct lane_end {
	const char *address; /* of the port */
	unsigned int port;   /* of the device */
	const uint8_t *key;  /* for rdma_cm tickets; NULL: no tickets */
	const struct allowed_networks
		*allowed; /* where the peer's queue pairs may be; NULL: anywhere */
};

/* Parses the peer's description of one queue pair. */
int lane_read_pair(struct manual_qp_address *pair, const json_t *json, struct error *error);

/* Where the server listens for one flow. The address belongs to the reply. */
struct lane_target {
	const char *address;
	struct sockaddr_storage place; /* the same address, parsed */
	uint16_t port;
	bool has_salt; /* the reply has a salt for the secret */
	uint8_t salt[SECRET_NONCE];
};

int lane_read_target(struct lane_target *target, const json_t *answer, unsigned int flow,
		     unsigned int n_flows, struct error *error);

/* Client, first step: adds what the server must know to the case's message. */
int lane_offer(struct lane *lane, const struct lane_end *own, json_t *message, struct error *error);

/* Server: prepares for the client, and adds to the reply how to connect. */
int lane_answer(struct lane *lane, const struct lane_end *own, json_t *message, json_t *answer,
		struct error *error);

/* Client: connects as the reply says. */
int lane_connect(struct lane *lane, const struct lane_end *own, json_t *answer,
		 struct error *error);

/*
 * Server: waits for the client's connections, if any. Called for all lanes in turn, once per round
 * of the pattern.
 */
int lane_accept(struct lane *lane, unsigned int round, struct error *error);

#endif
