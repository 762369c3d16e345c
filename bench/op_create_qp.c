/* SPDX-License-Identifier: MIT */
#include "bench/calling.h"
#include "bench/op.h"
#include "core/queue.h"
#include "core/verbs.h"

/* As the parameters have it, and nothing more. */
static int create(struct calling *calling, struct error *error)
{
	const struct lane *lane = calling->lane;
	const struct parameters *p = lane->parameters;
	struct ibv_qp_init_attr attr = {
		.send_cq = lane->completion->cq,
		.recv_cq = lane->completion->cq,
		.srq = lane->ground.srq,
		.cap = {.max_send_wr = (uint32_t)p->tx_depth,
			.max_recv_wr = lane->ground.srq ? 0 : (uint32_t)p->rx_depth,
			.max_send_sge = (uint32_t)p->sge,
			.max_recv_sge = lane->ground.srq ? 0 : (uint32_t)p->sge,
			.max_inline_data =
				p->inline_size == PARAMETER_AUTO ? 0 : (uint32_t)p->inline_size},
		.qp_type = queue_type(lane->transport),
	};

	calling->qp = ibv_create_qp(lane->ground.pd, &attr);
	return calling->qp ? 0 : verbs_memory_error(error, verbs_null(), "create a queue pair");
}

static int destroy(struct calling *calling, struct error *error)
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

	return calling_run(lane, run, &kind, error);
}

const struct op op_create_qp = {
	.name = "create-qp",
	.summary = "create a queue pair: ibv_create_qp",
	.transports = OP_ON(TRANSPORT_RC) | OP_ON(TRANSPORT_UC) | OP_ON(TRANSPORT_UD),
	.shape = {.is_call = true},
	.kind = op_is_call,
	.latency = latency,
};
