/* SPDX-License-Identifier: MIT */
#include "bench/loop/load.h"
#include "bench/loop/pingpong.h"
#include "bench/loop/stream.h"
#include "bench/op/op.h"

LOOP_BIND(latency, loop_pingpong, POST_SEND_IMM)
LOOP_BIND(bandwidth, loop_stream, POST_SEND_IMM)
LOOP_BIND(load, loop_load, POST_SEND_IMM)

const struct op_loops op_send_imm = {
	.latency = latency,
	.bandwidth = bandwidth,
	.load = load,
};
