/* SPDX-License-Identifier: MIT */
#include "bench/loop/single.h"
#include "bench/op/op.h"

/* In the place of an operation: whether it is the poll that is timed. */
LOOP_BIND(latency, loop_single, true)

const struct op_loops op_poll_cq = {
	.latency = latency,
};
