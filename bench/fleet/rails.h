/* SPDX-License-Identifier: MIT */
/* Which of a node's ports are its rails, in which order, and how nodes differ. Pure functions. */
#ifndef BENCH_FLEET_RAILS_H
#define BENCH_FLEET_RAILS_H

#include "reports/fleet/fleet.h"

/* Lists of DEVICE or DEVICE/PORT, separated by commas; NULL: not given. */
struct rails_choice {
	const char *devices; /* only these */
	const char *exclude; /* not these */
};

/*
 * Drops rails that were not chosen, and sorts the others in the same order on all nodes: by PCI
 * address, name and port, software devices last. Fails if a chosen device does not exist or no rail
 * is left. An excluded device need not exist.
 */
int rails_choose(struct fleet_node *node, const struct rails_choice *choice, struct error *error);

/* Keeps the part of a rank that shares a host with others: every local_size-th rail. */
void rails_share(struct fleet_node *node, uint32_t local_rank, uint32_t local_size);

/*
 * Warns of nodes whose rails differ from those of most nodes, once per group of nodes that differ
 * in the same way. Nodes without rails are not compared. Ranks that share a host are compared with
 * those that have the same number on other hosts.
 */
void rails_compare(struct fleet *fleet);

#endif
