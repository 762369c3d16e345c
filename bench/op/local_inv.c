/* SPDX-License-Identifier: MIT */
#include "bench/loop/binding.h"
#include "bench/op/op.h"

LOOP_BIND(completion, loop_binding, POST_LOCAL_INV)

const struct op_loops op_local_inv = {
	.completion = completion,
};
