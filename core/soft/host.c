/* SPDX-License-Identifier: MIT */
/*
 * Functions of libibverbs that need no work here: forking, and features that the soft device
 * does not support.
 */
#include <errno.h>
#include <infiniband/verbs.h>

#include "core/soft/export.h"

/* Nothing to do: writes go through the page tables, so copy-on-write is safe. */
SOFT_EXPORT int ibv_fork_init(void)
{
	return 0;
}

SOFT_EXPORT enum ibv_fork_status ibv_is_fork_initialized(void)
{
	return IBV_FORK_UNNEEDED;
}

SOFT_EXPORT int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	return EOPNOTSUPP;
}

SOFT_EXPORT int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	return EOPNOTSUPP;
}
