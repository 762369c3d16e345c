/* SPDX-License-Identifier: MIT */
#include "bench/loop/pingpong.h"
#include "bench/loop/stream.h"
#include "bench/op/op.h"

LOOP_BIND(latency, loop_pingpong_ringing, POST_WRITE)
LOOP_BIND(bandwidth, loop_stream_ringing, POST_WRITE)

const struct op_loops op_doorbell = {
	.latency = latency,
	.bandwidth = bandwidth,
};
