/* SPDX-License-Identifier: MIT */
#include "bench/loop/single.h"
#include "bench/op/op.h"

/* Instead of an operation, the last argument says whether to time the poll. */
LOOP_BIND(latency, loop_single, true)

const struct op_loops op_poll_cq = {
	.latency = latency,
};
