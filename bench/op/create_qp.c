/* SPDX-License-Identifier: MIT */
#include "bench/op/op.h"
#include "bench/op/timed_call.h"
#include "core/verbs/verbs.h"

static int create(struct timed_call *calling, struct error *error)
{
	struct ibv_qp_init_attr attr = timed_call_queue(calling->lane);

	calling->qp = ibv_create_qp(calling->lane->endpoint.pd, &attr);
	return calling->qp ? 0 : verbs_memory_error(error, verbs_null(), "create a queue pair");
}

static int destroy(struct timed_call *calling, struct error *error)
{
	int code = verbs_result(ibv_destroy_qp(calling->qp));

	if (code)
		return error_set_errno(error, code, "cannot destroy a queue pair");
	calling->qp = NULL;
	return 0;
}

static int latency(struct lane *lane, const struct loop_run *run, struct error *error)
{
	static const struct call_kind kind = {.timed = create, .after = destroy};

	return timed_call_run(lane, run, &kind, error);
}

const struct op_loops op_create_qp = {
	.latency = latency,
};
