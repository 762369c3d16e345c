/* SPDX-License-Identifier: MIT */
#include "bench/op/op.h"
#include "bench/op/timed_call.h"

static int latency(struct lane *lane, const struct loop_run *run, struct error *error)
{
	static const struct call_kind kind = {.before = calling_register,
					      .timed = calling_deregister};

	return timed_call_run(lane, run, &kind, error);
}

const struct op_loops op_deregister = {
	.latency = latency,
};
