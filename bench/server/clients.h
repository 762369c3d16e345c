/* SPDX-License-Identifier: MIT */
/*
 * The clients of a server, one thread each. Decides which clients are admitted, disconnects those
 * that exceed their time limit, and determines when the server may exit. All functions are called
 * from one thread, which waits for `done` and the next timeout. A client that fails is logged and
 * does not affect the others.
 */
#ifndef BENCH_SERVER_CLIENTS_H
#define BENCH_SERVER_CLIENTS_H

#include "bench/server/refused_clients.h"
#include "bench/server/responder.h"

struct client;

struct clients {
	struct client *latest;
	size_t count;
	int done; /* eventfd, readable when a client is done; -1: not open */
	const struct responder_terms *terms;
	struct refused_clients refused;
	bool is_private; /* started for one client: ending it is not logged */
	bool is_silent;  /* logs nothing */
	bool is_once;
	bool has_served;
	unsigned int idle_ms;   /* 0: no limit */
	uint64_t idle_until_ns; /* valid while no authenticated client is connected */
};

/* Creates the eventfd. The caller has filled in the settings. */
int clients_open(struct clients *clients, struct error *error);

/* Waits for the threads of all clients. */
void clients_close(struct clients *clients);

/* Starts the idle timeout. */
void clients_begin(struct clients *clients);

/* Accepts a client that waits at the listener. */
void clients_admit(struct clients *clients, int listener);

/* Releases clients that are done. */
void clients_reap(struct clients *clients);

/* Ends all clients, with that reason. */
void clients_end(struct clients *clients, const char *reason);

/* Returns whether the server may exit: no client is connected, and none is expected any longer. */
bool clients_are_through(const struct clients *clients);

/*
 * Ends clients that exceed their time limit. Returns the milliseconds until the next deadline of a
 * client or, without clients, the idle timeout; -1: none.
 */
int clients_timeout(struct clients *clients);

#endif
