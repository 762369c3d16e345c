/* SPDX-License-Identifier: MIT */
/*
 * Executes one operation: finds the target, checks the request, moves the data and puts the
 * target's completion. Every operation of a queue pair passes through soft_execute(), in queue
 * order.
 */
#ifndef CORE_SOFT_OP_EXECUTE_H
#define CORE_SOFT_OP_EXECUTE_H

#include <stdint.h>

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
	uint32_t sender; /* the local queue pair's sender */
};

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
