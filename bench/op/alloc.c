/* SPDX-License-Identifier: MIT */
#include "bench/loop/grant.h"
#include "bench/op/op.h"

LOOP_BIND(latency, loop_grant, POST_SEND)

const struct op_loops op_alloc = {
	.latency = latency,
};
