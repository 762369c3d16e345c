/* SPDX-License-Identifier: MIT */
/*
 * Memory windows: parts of a region with their own key and rights. A window has a region's number
 * and image. All queue pairs of its protection domain can use a window of type 1, which may be
 * bound again at any time. Only the queue pair that bound a window of type 2 can use it (as type
 * 2B), until the window is invalidated by a work request or by the peer's SEND. Peers cannot write
 * region images, so they revoke the key: see soft_image.
 */
#ifndef CORE_SOFT_MEMORY_MW_H
#define CORE_SOFT_MEMORY_MW_H

#include <infiniband/verbs.h>
#include <stdbool.h>

#include "core/soft/op/execute.h"

/* Verbs that the context calls by pointer. */
struct ibv_mw *soft_mw_alloc(struct ibv_pd *pd, enum ibv_mw_type type);
int soft_mw_dealloc(struct ibv_mw *mw);
int soft_mw_bind(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);

/*
 * Makes a region's key invalid, and the keys of windows that were bound to the region and then
 * invalidated: a peer could make those valid again. Returns 0, or EBUSY if a window is still bound.
 */
int soft_mw_close_region(uint32_t key);

/* Unbinds the type 2 windows of a queue pair, whose index another one may get. */
void soft_mw_close_qp(uint32_t qp);

/* Sets what an operation binds. */
static inline void soft_mw_set_bind(struct soft_operation *operation, struct ibv_mw *mw,
				    uint32_t rkey, const struct ibv_mw_bind_info *info)
{
	operation->rkey = rkey;
	operation->mw = mw;
	operation->bound = *info;
}

/* Executes an operation that soft_model_is_local, with the queue pair's lock held. */
enum soft_outcome soft_mw_execute(const struct soft_qp *qp, const struct soft_operation *operation);

/* Returns whether the queue pair's peer may invalidate the key. */
bool soft_mw_may_revoke(const struct soft_target *target, uint32_t key);

/* Invalidates it, for a SEND of the peer. */
void soft_mw_revoke(const struct soft_target *target, uint32_t key);

#endif
