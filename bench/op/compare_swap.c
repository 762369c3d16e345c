/* SPDX-License-Identifier: MIT */
#include "bench/loop/load.h"
#include "bench/loop/request.h"
#include "bench/loop/stream.h"
#include "bench/op/op.h"

LOOP_BIND(latency, loop_request, POST_COMPARE_SWAP)
LOOP_BIND(bandwidth, loop_stream, POST_COMPARE_SWAP)
LOOP_BIND(load, loop_load, POST_COMPARE_SWAP)

const struct op_loops op_compare_swap = {
	.latency = latency,
	.bandwidth = bandwidth,
	.load = load,
};
