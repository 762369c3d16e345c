/* SPDX-License-Identifier: MIT */
/*
 * Rejects clients from networks that the server does not serve. They get the reason in one message,
 * sent without blocking and without keeping any state. Rejections are logged, at a limited rate.
 */
#ifndef BENCH_SERVER_REFUSED_CLIENTS_H
#define BENCH_SERVER_REFUSED_CLIENTS_H

#include <stdint.h>

/* Zeroed: no client was rejected yet. */
struct refused_clients {
	uint64_t reported_ns;  /* when a rejection was last logged */
	uint64_t n_unreported; /* rejections since then */
};

/* Sends the reason and closes the socket. name: of the client, for the log. */
void refused_clients_turn(struct refused_clients *refused, int fd, const char *name);

#endif
