/* SPDX-License-Identifier: MIT */
/*
 * The server of a rank: a thread of this process that responds to the other ranks, as 'verbmark
 * serve' responds to clients. Only ranks that know its token are served.
 *
 * It also takes part in meetings: the client of a pair opens a meeting with the server's rank, which
 * begins once that rank has reached the same round, and ends when the client closes it. And it takes
 * reports of other ranks.
 */
#ifndef BENCH_FLEET_NODE_SERVER_H
#define BENCH_FLEET_NODE_SERVER_H

#include <pthread.h>

#include "bench/control/secret.h"
#include "bench/server/clients.h"
#include "bench/server/places.h"

#define NODE_SERVER_GUESTS 4

struct node_server {
	bool is_open;
	uint16_t port; /* TCP port that it listens on */
	char token[SECRET_HEX];
	int listener;
	int stop;    /* eventfd: ends the thread */
	int changed; /* eventfd: a guest has left, or a report has arrived */
	pthread_t thread;
	struct secret secret;
	struct quota quota;
	struct places places;
	struct allowed_networks allowed;
	struct responder_terms terms;
	struct responder_extension extension;
	struct clients clients;
	pthread_mutex_t lock; /* protects the members below */
	pthread_cond_t moved; /* round or is_ending has changed */
	bool is_ending;
	uint32_t round;                                   /* of this rank, counted from 1 */
	const struct control *guests[NODE_SERVER_GUESTS]; /* in meetings of this round */
	size_t n_guests;
	size_t n_came; /* meetings of this round, including those that are over */
	json_t *reports; /* of other ranks, not taken yet: an array of {"rank", "first", "pairs", "last"} */
};

/* Starts the thread, which listens on a free port. */
int node_server_open(struct node_server *server, struct error *error);

/* Ends all clients and the thread. Accepts a zeroed server. */
void node_server_close(struct node_server *server);

/* This rank has reached the round: admits meetings of it, and refuses those of earlier rounds. */
void node_server_begin_round(struct node_server *server, uint32_t round);

/*
 * Waits until that number of meetings of this round is over. Fails with -ETIMEDOUT, and with -EINTR
 * when stop_fd becomes readable.
 */
int node_server_await_guests(struct node_server *server, size_t count, unsigned int timeout_ms,
			     int stop_fd, struct error *error);

/* Waits until there is a report to take, likewise. */
int node_server_await_report(struct node_server *server, unsigned int timeout_ms, int stop_fd,
			     struct error *error);

/* Returns the reports so far, and forgets them. The caller owns them. */
json_t *node_server_take_reports(struct node_server *server);

#endif
