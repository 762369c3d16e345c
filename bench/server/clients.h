/* SPDX-License-Identifier: MIT */
/*
 * The clients of a server, each with a thread of its own: who is let in, who has to go
 * because the time is over, and when there has been none for so long that the server is
 * through. All of it is for one thread, which waits for `done` and for the next timeout.
 * Nothing that goes wrong with one client ends the others: the journal tells of it.
 */
#ifndef BENCH_SERVER_CLIENTS_H
#define BENCH_SERVER_CLIENTS_H

#include "bench/server/refused_clients.h"
#include "bench/server/responder.h"

struct client;

struct clients {
	struct client *latest;
	size_t count;
	int done; /* an eventfd: some client is done; -1: it is not open */
	const struct responder_terms *terms;
	struct refused_clients refused;
	bool is_private; /* who has started the server for himself ends it, and knows */
	bool is_once;
	bool has_served;
	unsigned int idle_ms;   /* 0: for ever */
	uint64_t idle_until_ns; /* where there is no client that is known */
};

/* Of what its owner has filled in. */
int clients_open(struct clients *clients, struct error *error);

/* Waits for all of them. */
void clients_close(struct clients *clients);

/* From now on there is none. */
void clients_begin(struct clients *clients);

/* Takes who waits at the listener. */
void clients_admit(struct clients *clients, int listener);

/* Releases those that are done. */
void clients_reap(struct clients *clients);

/* Tells all of them to go, and why. */
void clients_end(struct clients *clients, const char *reason);

/* Whether nobody is served, and nobody is waited for any longer. */
bool clients_are_through(const struct clients *clients);

/*
 * Ends those whose time is over. Milliseconds until the next one's is, or without clients
 * the server's; -1: none.
 */
int clients_timeout(struct clients *clients);

#endif
