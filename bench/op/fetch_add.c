/* SPDX-License-Identifier: MIT */
#include "bench/loop/load.h"
#include "bench/loop/request.h"
#include "bench/loop/stream.h"
#include "bench/op/op.h"

LOOP_BIND(latency, loop_request, POST_FETCH_ADD)
LOOP_BIND(bandwidth, loop_stream, POST_FETCH_ADD)
LOOP_BIND(load, loop_load, POST_FETCH_ADD)

const struct op_loops op_fetch_add = {
	.latency = latency,
	.bandwidth = bandwidth,
	.load = load,
};
