/* SPDX-License-Identifier: MIT */
/*
 * Executes one operation: finds the target, checks the request, moves the data and puts the
 * target's completion. Every operation of a queue pair passes through soft_execute(), in queue
 * order.
 */
#ifndef CORE_SOFT_OP_EXECUTE_H
#define CORE_SOFT_OP_EXECUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/soft/memory/copy.h"
#include "core/soft/op/send.h"
#include "core/soft/peer/image.h"
#include "core/soft/peer/peer.h"

struct soft_qp;

/* A status (enum ibv_wc_status), or: */
enum soft_outcome {
	SOFT_LATER = -3,   /* postponed by a fault */
	SOFT_REFUSED = -2, /* the target has no receive posted */
	SOFT_SILENT = -1,  /* no answer */
	SOFT_DONE = IBV_WC_SUCCESS,
};

/* The target of an operation. */
struct soft_target {
	struct soft_peer *peer;
	struct soft_qp_image *qp;
	uint32_t index;
	uint32_t srq;    /* XRC: the number of the SRQ that the request names; else 0 */
	uint32_t sender; /* the local queue pair's sender */
};

/* Returns whether the target is of XRC, so that its SRQ is the one that a request names. */
static inline bool soft_target_is_xrc(const struct soft_target *target)
{
	return target->qp->type == IBV_QPT_XRC_RECV;
}

static inline struct soft_srq_image *soft_target_xrc_srq(const struct soft_target *target)
{
	return &target->peer->arena->image->srq[target->srq];
}

/* Returns whether a request of XRC names an SRQ of the target's domain. True without XRC. */
static inline bool soft_target_has_srq(const struct soft_target *target)
{
	uint32_t xrcd;

	if (likely(!soft_target_is_xrc(target)))
		return true;
	xrcd = atomic_load(&soft_target_xrc_srq(target)->xrcd);
	return xrcd && xrcd == soft_image_read(&target->qp->xrcd);
}

/* Returns the protection domain that a request may access. With XRC, its SRQ has it. */
static inline uint32_t soft_target_pd(const struct soft_target *target)
{
	return unlikely(soft_target_is_xrc(target)) ? soft_target_xrc_srq(target)->pd
						    : target->qp->pd;
}

/* Returns the number of the completion queue that reports receives. */
static inline uint32_t soft_target_cq(const struct soft_target *target)
{
	return soft_image_read(unlikely(soft_target_is_xrc(target))
				       ? &soft_target_xrc_srq(target)->cq
				       : &target->qp->recv_cq);
}

/*
 * Executes an operation with the queue pair's lock held. Sets rnr_timer if it returns SOFT_REFUSED.
 */
enum soft_outcome soft_execute(struct soft_qp *qp, struct soft_operation *operation,
			       uint32_t *rnr_timer);

/*
 * Returns whether an operation can be executed before it arrives: the target accepts it, has a
 * receive, and is not armed for an event that would wake it early.
 */
bool soft_execute_is_ready(const struct soft_qp *qp, const struct soft_operation *operation);

/*
 * Connects to the processes that a datagram goes to. The service thread, which may execute it, cannot
 * connect to new peers.
 */
void soft_execute_meet(const struct soft_operation *operation);

/*
 * Gives the operation this outcome without executing it. The target sees its part of the outcome.
 */
enum soft_outcome soft_execute_refuse(const struct soft_qp *qp,
				      const struct soft_operation *operation,
				      enum soft_outcome outcome, uint32_t *rnr_timer);

/* Returns whether the target currently accepts operations from this queue pair. */
bool soft_execute_is_open(const struct soft_qp *qp, const struct soft_target *target,
			  const struct soft_operation *operation);

/*
 * Applies an operation's outcome to the target and returns what the initiator sees of it. Call with
 * the lock of the target's queue held: the target waits for that lock before it reuses the queue
 * pair.
 */
enum soft_outcome soft_execute_settle(const struct soft_qp *qp, const struct soft_target *target,
				      const struct soft_operation *operation,
				      enum soft_outcome outcome);

/* Converts the result of a copy to an outcome. */
enum soft_outcome soft_execute_copied(int result);

/* Writes to the target's memory, for WRITE with or without immediate. */
enum soft_outcome soft_execute_write(const struct soft_target *target,
				     const struct soft_operation *operation,
				     const struct soft_span *data);

#endif
