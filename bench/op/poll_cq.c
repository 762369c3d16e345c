/* SPDX-License-Identifier: MIT */
#include "bench/loop/single.h"
#include "bench/op/op.h"

/* In the place of an operation: whether it is the poll that is timed. */
LOOP_BIND(latency, loop_single, true)

const struct op op_poll_cq = {
	.name = "poll-cq",
	.summary = "take a completion: ibv_poll_cq",
	.transports = OP_ON(TRANSPORT_RC) | OP_ON(TRANSPORT_UC),
	.kind = op_is_call,
	.latency = latency,
};
