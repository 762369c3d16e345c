/* SPDX-License-Identifier: MIT */
/*
 * rdma_cm port numbers, shared by all processes of a user: a table in the registry. Entries of dead
 * processes are ignored. Each network namespace has its own ports. Functions return 0 or a negative
 * errno.
 */
#ifndef CORE_SOFT_CM_PORT_H
#define CORE_SOFT_CM_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/soft/cm/address.h"

/* A requested port. Port 0 means any free one. */
struct soft_cm_claim {
	struct soft_cm_address address;
	uint32_t space; /* enum rdma_port_space */
	bool is_sharing;
	bool is_v6_only;
};

/*
 * Stores the port in the claim and a nonzero entry in *entry. Fails with -EADDRINUSE,
 * -EADDRNOTAVAIL or -ENOBUFS.
 */
int soft_cm_port_take(struct soft_cm_claim *claim, uint32_t *entry);

/* Accepts 0. */
void soft_cm_port_release(uint32_t entry);

/*
 * Makes the entry visible to connecting processes. Returns -EADDRINUSE if another one already
 * listens.
 */
int soft_cm_port_listen(uint32_t entry);

/* Finds the listener for an address and sets its slot and entry, or returns -ECONNREFUSED. */
int soft_cm_port_find(const struct soft_cm_address *to, uint32_t space, uint32_t *slot,
		      uint32_t *entry);

/* Returns whether any listening process has the address. */
bool soft_cm_port_is_known(const struct soft_cm_address *address);

#endif
