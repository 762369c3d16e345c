/* SPDX-License-Identifier: MIT */
#include "bench/loop/load.h"
#include "bench/loop/poll_memory.h"
#include "bench/loop/request.h"
#include "bench/loop/stream.h"
#include "bench/op/op.h"

LOOP_BIND(latency, loop_memory, POST_WRITE)
LOOP_BIND(completion, loop_request, POST_WRITE)
LOOP_BIND(bandwidth, loop_stream, POST_WRITE)
LOOP_BIND(load, loop_load, POST_WRITE)

const struct op_loops op_write = {
	.latency = latency,
	.completion = completion,
	.bandwidth = bandwidth,
	.load = load,
};
