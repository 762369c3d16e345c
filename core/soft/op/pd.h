/* SPDX-License-Identifier: MIT */
/*
 * Protection domains, thread domains and address handles. Each object created in a domain counts as
 * a user, so that the domain is not freed before it. A parent domain is another handle of its
 * protection domain. Thread domains change nothing: the device's locks cost little when only one
 * thread takes them.
 */
#ifndef CORE_SOFT_OP_PD_H
#define CORE_SOFT_OP_PD_H

#include <infiniband/verbs.h>
#include <stdatomic.h>

#include "core/base/compiler.h"

struct soft_td {
	struct ibv_td verbs;
	_Atomic uint32_t users;
};

struct soft_pd {
	struct ibv_pd verbs;
	_Atomic uint32_t users;
	struct soft_pd *inner; /* parent domains only */
	struct soft_td *td;    /* of a parent domain, or NULL */
};

struct soft_ah {
	struct ibv_ah verbs;
	struct ibv_ah_attr attr;
};

static inline struct soft_pd *soft_pd_of(struct ibv_pd *pd)
{
	return CONTAINER_OF(pd, struct soft_pd, verbs);
}

static inline struct soft_ah *soft_pd_ah(struct ibv_ah *ah)
{
	return CONTAINER_OF(ah, struct soft_ah, verbs);
}

/* Verbs that the context calls by pointer. */
struct ibv_td *soft_pd_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr);
int soft_pd_dealloc_td(struct ibv_td *td);
struct ibv_pd *soft_pd_alloc_parent(struct ibv_context *context,
				    struct ibv_parent_domain_init_attr *attr);

/* Returns 0, or EINVAL if the address is not usable: RoCE addresses need a GID. */
int soft_pd_check_address(const struct ibv_ah_attr *attr);

#endif
