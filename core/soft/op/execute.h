/* SPDX-License-Identifier: MIT */
/*
 * Does one operation: finds the target, checks what it asks for, moves the data, writes
 * the target's completion. Every operation of every queue pair passes through
 * soft_execute(), in the order of its queue.
 */
#ifndef CORE_SOFT_OP_EXECUTE_H
#define CORE_SOFT_OP_EXECUTE_H

#include <stdint.h>

#include "core/soft/op/copy.h"
#include "core/soft/op/send.h"
#include "core/soft/peer/image.h"
#include "core/soft/peer/peer.h"

struct soft_qp;

/* A status (enum ibv_wc_status), or that it is to be tried again. */
enum soft_outcome {
	SOFT_LATER = -3,   /* it is put off already */
	SOFT_REFUSED = -2, /* the other end has no receive */
	SOFT_SILENT = -1,  /* nothing answers */
	SOFT_DONE = IBV_WC_SUCCESS,
};

/* The other end of an operation. */
struct soft_target {
	struct soft_peer *peer;
	struct soft_qp_image *qp;
	uint32_t index;
	uint32_t sender; /* of the queue pair here */
};

/* Under the lock of the queue pair. rnr_timer is set where the outcome is SOFT_REFUSED. */
enum soft_outcome soft_execute(struct soft_qp *qp, struct soft_operation *operation,
			       uint32_t *rnr_timer);

/*
 * Whether an operation can be executed before it arrives: somebody takes it, and nobody
 * sleeps who would be woken too early.
 */
bool soft_execute_is_ready(const struct soft_qp *qp, const struct soft_operation *operation);

/* As if that were what became of the operation: the target sees its part of it. */
enum soft_outcome soft_execute_refuse(const struct soft_qp *qp,
				      const struct soft_operation *operation,
				      enum soft_outcome outcome, uint32_t *rnr_timer);

/* Whether the target takes what this queue pair sends, now. */
bool soft_execute_is_open(const struct soft_qp *qp, const struct soft_target *target,
			  const struct soft_operation *operation);

/*
 * The target's part in what has become of an operation, and what of that the initiator hears.
 * Under the lock of the target's queue: who sees a completion, and begins another life of the
 * queue pair, waits for it.
 */
enum soft_outcome soft_execute_settle(const struct soft_qp *qp, const struct soft_target *target,
				      const struct soft_operation *operation,
				      enum soft_outcome outcome);

/* What a copy that failed means to the initiator. */
enum soft_outcome soft_execute_copied(int result);

/* A WRITE into the target's memory, also that of a WRITE with immediate. */
enum soft_outcome soft_execute_write(const struct soft_target *target,
				     const struct soft_operation *operation,
				     const struct soft_span *data);

#endif
