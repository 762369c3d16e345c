/* SPDX-License-Identifier: MIT */
#include "bench/loop/pingpong.h"
#include "bench/loop/stream.h"
#include "bench/op/op.h"

LOOP_BIND(latency, loop_pingpong_ringing, POST_WRITE)
LOOP_BIND(bandwidth, loop_stream_ringing, POST_WRITE)

const struct op op_doorbell = {
	.name = "doorbell",
	.summary = "RDMA WRITEs, and each --doorbell-every-th with immediate data",
	.transports = OP_ON(TRANSPORT_RC),
	.is_received = true,
	.shape = {.rings = true},
	.kind = op_is_half,
	.latency = latency,
	.bandwidth = bandwidth,
};
