/* SPDX-License-Identifier: MIT */
#include "bench/loop/binding.h"
#include "bench/loop/stream.h"
#include "bench/op/op.h"

LOOP_BIND(completion, loop_binding, POST_BIND_MW)
LOOP_BIND(bandwidth, loop_stream_bound, POST_BIND_MW)

const struct op_loops op_bind_mw = {
	.completion = completion,
	.bandwidth = bandwidth,
};
