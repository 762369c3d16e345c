/* SPDX-License-Identifier: MIT */
/*
 * Domains of XRC: the target queue pairs of a domain receive into its SRQs. A domain belongs to one
 * process. All domains that the process opens for a file are the same, each with a handle of its
 * own, and objects count as users of their handle.
 */
#ifndef CORE_SOFT_OP_XRC_H
#define CORE_SOFT_OP_XRC_H

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "core/base/compiler.h"

struct soft_xrcd {
	struct ibv_xrcd verbs;
	uint32_t number; /* of the domain */
	bool has_file;
	dev_t device;
	ino_t inode;
	_Atomic uint32_t users;
	struct soft_xrcd *next;
};

static inline struct soft_xrcd *soft_xrc_of(struct ibv_xrcd *xrcd)
{
	return CONTAINER_OF(xrcd, struct soft_xrcd, verbs);
}

/* Returns whether an SRQ of the domain uses the completion queue. */
bool soft_xrc_uses(const struct soft_xrcd *xrcd, uint32_t cq);

/* Verbs that the context calls by pointer. */
struct ibv_xrcd *soft_xrc_open(struct ibv_context *context, struct ibv_xrcd_init_attr *attr);
int soft_xrc_close(struct ibv_xrcd *xrcd);

#endif
