/* SPDX-License-Identifier: MIT */
#include "bench/op/op.h"
#include "bench/op/timed_call.h"
#include "core/verbs/verbs.h"

static int failed(struct error *error, int code)
{
	return error_set_errno(error, code, "cannot empty the receive queue");
}

static int post(struct timed_call *calling, struct error *error)
{
	const struct post_queue queue = {.qp = calling->qp};
	int code = verbs_result(post_receive(&queue, &calling->receive));

	calling->posted++;
	return unlikely(code) ? error_set_errno(error, code, "cannot post a receive") : 0;
}

/*
 * Empties the receive queue: resets the queue pair and moves it to INIT, where receives can be
 * posted but no message arrives.
 */
static int empty(struct timed_call *calling, struct error *error)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	const int mask = IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS;
	struct ibv_qp_init_attr unused;
	int code = verbs_result(ibv_modify_qp(calling->qp, &attr, IBV_QP_STATE));

	/* Same attributes as the case's own queue pair on that port. */
	if (!code)
		code = verbs_result(
			ibv_query_qp(calling->lane->flows[0].queue.qp, &attr, mask, &unused));
	attr.qp_state = IBV_QPS_INIT;
	if (!code)
		code = verbs_result(ibv_modify_qp(calling->qp, &attr, mask | IBV_QP_STATE));
	calling->posted = 0;
	if (code)
		return failed(error, code);
	/* The first post after a reset finds cold caches and is not timed. */
	return calling->lane->settings.parameters->rx_depth > 1 ? post(calling, error) : 0;
}

/* Makes room before each call: creates the queue pair, or empties it when it is full. */
static int make_room(struct timed_call *calling, struct error *error)
{
	struct ibv_qp_init_attr wanted;

	if (calling->qp)
		return calling->posted < calling->lane->settings.parameters->rx_depth
			       ? 0
			       : empty(calling, error);
	wanted = timed_call_queue(calling->lane);
	calling->receive = calling->lane->flows[0].receive;
	calling->qp = ibv_create_qp(calling->lane->endpoint.pd, &wanted);
	return calling->qp ? empty(calling, error)
			   : verbs_memory_error(error, verbs_null(), "create a queue pair");
}

static int latency(struct lane *lane, const struct loop_run *run, struct error *error)
{
	static const struct call_kind kind = {.before = make_room, .timed = post};

	return timed_call_run(lane, run, &kind, error);
}

const struct op_loops op_post_recv = {
	.latency = latency,
};
