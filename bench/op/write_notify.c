/* SPDX-License-Identifier: MIT */
#include "bench/loop/load.h"
#include "bench/loop/pingpong.h"
#include "bench/loop/stream.h"
#include "bench/op/op.h"

LOOP_BIND(latency, loop_pingpong_notified, POST_WRITE)
LOOP_BIND(bandwidth, loop_stream_notified, POST_WRITE)
LOOP_BIND(load, loop_load_notified, POST_WRITE)

const struct op_loops op_write_notify = {
	.latency = latency,
	.bandwidth = bandwidth,
	.load = load,
};
