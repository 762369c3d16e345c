/* SPDX-License-Identifier: MIT */
/* The entry that each rank publishes: its rails, and how to reach its server. */
#ifndef BENCH_FLEET_ROSTER_H
#define BENCH_FLEET_ROSTER_H

#include "bench/fleet/node_server.h"
#include "bench/fleet/pair.h"

/* Returns this rank's entry as text, which the caller frees; NULL: out of memory. */
char *roster_write(const struct fleet_node *node, const struct node_server *server);

/* Reads the entry of a rank, and chooses the address under which this rank reaches its server. */
int roster_read(const char *text, struct fleet_node *node, struct pair_server *server,
		struct error *error);

#endif
