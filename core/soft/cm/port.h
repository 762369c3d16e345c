/* SPDX-License-Identifier: MIT */
/*
 * The port numbers of rdma_cm, of all processes of a user: a table in the registry.
 * What a process held that is dead counts no more. Each network namespace has its own
 * ports. Functions return 0 or a negative errno.
 */
#ifndef CORE_SOFT_CM_PORT_H
#define CORE_SOFT_CM_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/soft/cm/address.h"

/* What is asked for: an address, where port 0 means any that is free. */
struct soft_cm_claim {
	struct soft_cm_address address;
	uint32_t space; /* enum rdma_port_space */
	bool is_sharing;
	bool is_v6_only;
};

/* The port goes into the claim. entry is not 0. -EADDRINUSE, -ENOBUFS. */
int soft_cm_port_take(struct soft_cm_claim *claim, uint32_t *entry);

/* Accepts 0. */
void soft_cm_port_release(uint32_t entry);

/* From now on it is found; -EADDRINUSE if another one listens there. */
int soft_cm_port_listen(uint32_t entry);

/* Who listens at an address: its slot and entry; -ECONNREFUSED: nobody. */
int soft_cm_port_find(const struct soft_cm_address *to, uint32_t space, uint32_t *slot,
		      uint32_t *entry);

/* Whether any process that listens has the address. */
bool soft_cm_port_is_known(const struct soft_cm_address *address);

#endif
