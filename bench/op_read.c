/* SPDX-License-Identifier: MIT */
#include "bench/loop_load.h"
#include "bench/loop_request.h"
#include "bench/loop_stream.h"
#include "bench/op.h"

LOOP_BIND_PLACES(latency, loop_request, POST_READ)
LOOP_BIND_PLACES(bandwidth, loop_stream, POST_READ)
LOOP_BIND_PLACES(load, loop_load, POST_READ)

const struct op op_read = {
	.name = "read",
	.summary = "RDMA READ",
	.transports = OP_ON(TRANSPORT_RC),
	.shape = {.is_read = true},
	.kind = op_is_full,
	.latency = latency,
	.bandwidth = bandwidth,
	.load = load,
};
