/* SPDX-License-Identifier: MIT */
/*
 * Host names in the notation of Slurm, such as n[003,017-018], and the bad nodes of a fleet in it.
 *
 * Bad nodes are the hosts of nodes that a blame names as node or rail, and of lost nodes. A link
 * or a pair does not make its two nodes bad: draining both would take a good node out of service.
 */
#ifndef REPORTS_FLEET_HOSTLIST_H
#define REPORTS_FLEET_HOSTLIST_H

#include "reports/fleet/fleet.h"

/*
 * Returns the names as one list, each once and in order. The caller frees it. Names with text after
 * their last digit, such as n01-ib, are listed in full, since not every Slurm reads a suffix after
 * brackets. NULL: out of memory.
 */
char *hostlist_make(const char *const *names, size_t count);

/* Returns the list of bad nodes, which the caller frees; empty: all are good. */
char *fleet_bad_nodes(const struct fleet *fleet);

/* Writes the list and a newline to a file, or an empty file if all nodes are good. */
int fleet_bad_nodes_write(const struct fleet *fleet, const char *path, struct error *error);

#endif
