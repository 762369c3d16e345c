/* SPDX-License-Identifier: MIT */
#include "bench/loop/request.h"
#include "bench/loop/stream.h"
#include "bench/op/op.h"

LOOP_BIND(completion, loop_request, POST_BIND_MW_1)
LOOP_BIND(bandwidth, loop_stream, POST_BIND_MW_1)

const struct op_loops op_rebind_mw = {
	.completion = completion,
	.bandwidth = bandwidth,
};
