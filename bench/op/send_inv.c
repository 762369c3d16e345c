/* SPDX-License-Identifier: MIT */
#include "bench/loop/pingpong.h"
#include "bench/op/op.h"

LOOP_BIND(latency, loop_pingpong_bound, POST_SEND_INV)

const struct op_loops op_send_inv = {
	.latency = latency,
};
