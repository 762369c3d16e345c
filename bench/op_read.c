/* SPDX-License-Identifier: MIT */
#include "bench/loop_request.h"
#include "bench/loop_stream.h"
#include "bench/op.h"

LOOP_BIND(latency, loop_request, POST_READ)
LOOP_BIND(bandwidth, loop_stream, POST_READ)

const struct op op_read = {
	.name = "read",
	.summary = "RDMA READ",
	.transports = OP_ON(TRANSPORT_RC),
	.shape = {.is_read = true},
	.kind = op_is_full,
	.latency = latency,
	.bandwidth = bandwidth,
};
