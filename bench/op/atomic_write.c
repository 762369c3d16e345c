/* SPDX-License-Identifier: MIT */
#include "bench/loop/load.h"
#include "bench/loop/request.h"
#include "bench/loop/stream.h"
#include "bench/op/op.h"

LOOP_BIND(latency, loop_request, POST_ATOMIC_WRITE)
LOOP_BIND(bandwidth, loop_stream, POST_ATOMIC_WRITE)
LOOP_BIND(load, loop_load, POST_ATOMIC_WRITE)

const struct op_loops op_atomic_write = {
	.latency = latency,
	.bandwidth = bandwidth,
	.load = load,
};
