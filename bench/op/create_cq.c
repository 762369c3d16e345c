/* SPDX-License-Identifier: MIT */
#include "bench/op/op.h"
#include "bench/op/timed_call.h"
#include "core/verbs/verbs.h"

/* Uses --tx-depth as the number of completions. */
static int create(struct timed_call *calling, struct error *error)
{
	const struct lane *lane = calling->lane;
	const struct parameters *p = lane->settings.parameters;
	struct ibv_comp_channel *channel =
		p->cq == CQ_POLL ? NULL : lane->endpoint.completion.channel;

	calling->cq = ibv_create_cq(lane->endpoint.verbs, (int)p->tx_depth, NULL, channel, 0);
	return calling->cq ? 0
			   : verbs_memory_error(error, verbs_null(), "create a completion queue");
}

static int destroy(struct timed_call *calling, struct error *error)
{
	int code = verbs_result(ibv_destroy_cq(calling->cq));

	if (code)
		return error_set_errno(error, code, "cannot destroy a completion queue");
	calling->cq = NULL;
	return 0;
}

static int latency(struct lane *lane, const struct loop_run *run, struct error *error)
{
	static const struct call_kind kind = {.timed = create, .after = destroy};

	return timed_call_run(lane, run, &kind, error);
}

const struct op_loops op_create_cq = {
	.latency = latency,
};
