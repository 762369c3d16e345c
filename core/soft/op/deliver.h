/* SPDX-License-Identifier: MIT */
/*
 * What takes a receive at the target: a SEND, a datagram, a WRITE with immediate. The
 * target's queue is held while the data moves, so that the target waits for it before
 * it changes the queue pair's state or lets it go.
 */
#ifndef CORE_SOFT_OP_DELIVER_H
#define CORE_SOFT_OP_DELIVER_H

#include "core/soft/op/execute.h"

enum soft_outcome soft_deliver(struct soft_qp *qp, const struct soft_target *target,
			       struct soft_operation *operation, const struct soft_span *data);

#endif
