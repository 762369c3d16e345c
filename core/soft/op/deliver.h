/* SPDX-License-Identifier: MIT */
/*
 * Operations that consume a receive at the target: SEND, datagrams and WRITE with immediate. The
 * target's receive queue is locked while the data moves, so the target waits for it before it
 * changes the queue pair's state or destroys it.
 */
#ifndef CORE_SOFT_OP_DELIVER_H
#define CORE_SOFT_OP_DELIVER_H

#include "core/soft/op/execute.h"

enum soft_outcome soft_deliver(struct soft_qp *qp, const struct soft_target *target,
			       struct soft_operation *operation, const struct soft_span *data);

#endif
