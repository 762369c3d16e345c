/* SPDX-License-Identifier: MIT */
/*
 * Multicast groups: a table in the registry of all attached datagram queue pairs of the user's
 * processes. Senders read it without a lock. Entries of dead processes are ignored. A queue pair that
 * is attached gets its own messages too, as on hardware: see IBV_QP_CREATE_BLOCK_SELF_MCAST_LB in
 * ibv_create_qp_ex(3).
 */
#ifndef CORE_SOFT_OP_MULTICAST_H
#define CORE_SOFT_OP_MULTICAST_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

/* The queue pair number of all groups. */
#define SOFT_MULTICAST_QPN 0xffffff

struct soft_multicast_member {
	uint32_t entry;
	uint32_t owner; /* as in locks */
	uint32_t qp_num;
};

/* Tests for the GID of a group, which may be an IPv4-mapped one. */
bool soft_multicast_is_group(const union ibv_gid *gid);

/* Finds the next member of a group from entry *at on and updates *at. Returns false at the end. */
bool soft_multicast_next(const union ibv_gid *group, uint32_t *at,
			 struct soft_multicast_member *member);

/* Returns whether a queue pair of this process is attached to any group. */
bool soft_multicast_is_attached(uint32_t qp_num);

/* Removes a member if its process is dead. */
void soft_multicast_drop_dead(const struct soft_multicast_member *member);

#endif
