/* SPDX-License-Identifier: MIT */
#include "bench/loop/single.h"
#include "bench/op/op.h"

/* Instead of an operation, the last argument says whether to time the poll. */
LOOP_BIND(latency, loop_single, false)

const struct op_loops op_post_send = {
	.latency = latency,
};
