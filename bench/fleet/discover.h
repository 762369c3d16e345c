/* SPDX-License-Identifier: MIT */
/* Finds the rails of this node: the active ports of its RDMA devices. */
#ifndef BENCH_FLEET_DISCOVER_H
#define BENCH_FLEET_DISCOVER_H

#include "reports/fleet/fleet.h"

/* Fills in the rails, in no particular order, and the fingerprint. Fails without devices. */
int discover_rails(struct fleet_node *node, struct error *error);

#endif
