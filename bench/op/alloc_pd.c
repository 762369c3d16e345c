/* SPDX-License-Identifier: MIT */
#include "bench/op/op.h"
#include "bench/op/timed_call.h"
#include "core/verbs/verbs.h"

static int allocate(struct timed_call *calling, struct error *error)
{
	calling->pd = ibv_alloc_pd(calling->lane->endpoint.verbs);
	return calling->pd ? 0
			   : error_set_errno(error, verbs_null(),
					     "cannot allocate a protection domain");
}

static int deallocate(struct timed_call *calling, struct error *error)
{
	int code = verbs_result(ibv_dealloc_pd(calling->pd));

	if (code)
		return error_set_errno(error, code, "cannot deallocate a protection domain");
	calling->pd = NULL;
	return 0;
}

static int latency(struct lane *lane, const struct loop_run *run, struct error *error)
{
	static const struct call_kind kind = {.timed = allocate, .after = deallocate};

	return timed_call_run(lane, run, &kind, error);
}

const struct op_loops op_alloc_pd = {
	.latency = latency,
};
