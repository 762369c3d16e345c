/* SPDX-License-Identifier: MIT */
#include "bench/loop/single.h"
#include "bench/op/op.h"

/* In the place of an operation: whether it is the poll that is timed. */
LOOP_BIND(latency, loop_single, false)

const struct op op_post_send = {
	.name = "post-send",
	.summary = "post a write: ibv_post_send, or ibv_wr_start to ibv_wr_complete",
	.transports = OP_ON(TRANSPORT_RC) | OP_ON(TRANSPORT_UC),
	.takes = OP_TAKES_SIZE | OP_TAKES_INLINE | OP_TAKES_SGE,
	.kind = op_is_call,
	.latency = latency,
};
