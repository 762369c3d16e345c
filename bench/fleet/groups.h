/* SPDX-License-Identifier: MIT */
#ifndef BENCH_FLEET_GROUPS_H
#define BENCH_FLEET_GROUPS_H

#include "reports/fleet/fleet.h"

/*
 * Sets the groups of nodes from a file with lines of NODE GROUP, where NODE is the host or the name
 * of a node. Returns 0 or a negative errno.
 */
int groups_read(struct fleet *fleet, const char *path, struct error *error);

#endif
