/* SPDX-License-Identifier: MIT */
/*
 * Who is of no network that a server serves is turned away: told why in one sentence, for
 * which nothing is kept, so that it goes at once or not at all. The journal tells of them.
 */
#ifndef BENCH_SERVER_REFUSED_CLIENTS_H
#define BENCH_SERVER_REFUSED_CLIENTS_H

#include <stdint.h>

/* Zeroed: nobody was. */
struct refused_clients {
	uint64_t reported_ns; /* when the last one was reported */
	uint64_t n_untold;    /* since then */
};

/* Closes the socket of who goes by that name. */
void refused_clients_turn(struct refused_clients *refused, int fd, const char *name);

#endif
