/* SPDX-License-Identifier: MIT */
#include "bench/loop/grant.h"
#include "bench/op/op.h"

LOOP_BIND(latency, loop_grant, POST_SEND)

const struct op op_alloc = {
	.name = "alloc",
	.summary = "ask for memory of a pool, by SEND, until it is granted",
	.transports = OP_ON(TRANSPORT_RC),
	.is_received = true,
	.shape = {.is_granted = true},
	.kind = op_is_full,
	.latency = latency,
};
