/* SPDX-License-Identifier: MIT */
#include "core/rdma/qp.h"

#include <errno.h>
#include <string.h>

#include "core/rdma/settings.h"
#include "core/verbs/dc.h"
#include "core/verbs/qp_kind.h"
#include "core/verbs/verbs.h"

#define DEFAULT_INLINE 256

static bool is_dc(const struct rdma_state *state)
{
	return transports[state->transport].route == ROUTE_TARGET;
}

/* Returns whether requests can be posted only by ibv_wr_*. */
static bool is_extended(const struct rdma_state *state)
{
	return is_dc(state) || transports[state->transport].route == ROUTE_SRD;
}

static struct ibv_qp_cap capabilities(const struct rdma_context *ctx)
{
	uint32_t n_senders = is_dc(ctx->state) ? ctx->state->endpoint->n_senders : 1;

	return (struct ibv_qp_cap){
		.max_send_wr = settings_send_depth(&ctx->settings) * n_senders,
		.max_recv_wr = ctx->state->endpoint->srq ? 0 : settings_recv_depth(&ctx->settings),
		.max_send_sge = settings_sges(&ctx->settings),
		.max_recv_sge = settings_sges(&ctx->settings),
	};
}

/* Queue pairs of an endpoint are mostly alike: reuse the last result if it applies. */
static uint32_t find_inline(struct endpoint *endpoint, enum transport transport,
			    const struct ibv_qp_init_attr_ex *wanted)
{
	struct limits_inline *found = &endpoint->taken_inline;

	/* A result of 0 may be a temporary failure. */
	if (!found->bytes || found->transport != transport ||
	    memcmp(&found->cap, &wanted->cap, sizeof(wanted->cap)) != 0)
		*found = (struct limits_inline){transport, wanted->cap,
						limits_inline(transport, wanted)};
	return found->bytes;
}

/* Determines the inline size. A requested size must be available; without one, uses what is. */
static int choose_inline(struct rdma_context *ctx, struct ibv_qp_init_attr_ex *attr,
			 struct error *error)
{
	uint32_t asked = ctx->settings.max_inline;

	ctx->max_inline = 0;
	if (asked == RDMA_NO_INLINE)
		return 0;
	attr->cap.max_inline_data = asked ? asked : DEFAULT_INLINE;
	ctx->max_inline = find_inline(ctx->state->endpoint, ctx->state->transport, attr);
	attr->cap.max_inline_data = ctx->max_inline;
	if (ctx->max_inline < asked)
		return error_set(error, -EINVAL, "inline size %u exceeds the device's limit %u",
				 asked, ctx->max_inline);
	return 0;
}

uint64_t qp_operations(enum transport transport, const struct ibv_device_attr *device)
{
	uint64_t flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;

	if (transport_has(transport, TRANSPORT_WRITES))
		flags |= IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
	if (transport_has(transport, TRANSPORT_READS))
		flags |= IBV_QP_EX_WITH_RDMA_READ;
	if (transport_has(transport, TRANSPORT_ATOMICS) && limits_has_atomics(device))
		flags |= IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP;
	return flags;
}

static int create(struct rdma_context *ctx, struct ibv_qp_init_attr_ex *attr)
{
	struct endpoint *endpoint = ctx->state->endpoint;
	int code;

	ctx->qp = endpoint->initiator;
	if (!ctx->conn && !ctx->qp)
		ctx->qp = qp_kinds[ctx->state->transport].create(endpoint->verbs, attr);
	if (!ctx->conn)
		return ctx->qp ? 0 : verbs_null();
	code = verbs_result(rdma_create_qp_ex(ctx->conn, attr));
	if (!code)
		ctx->qp = ctx->conn->qp;
	return code;
}

/* Creates the queue pair that receives, where the context's only sends. */
static int open_target(struct rdma_context *ctx, struct error *error)
{
	struct rdma_state *state = ctx->state;
	const struct endpoint *endpoint = state->endpoint;
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = endpoint->xrcd,
	};

	if (!endpoint->srq || (!endpoint->xrcd && !is_dc(state)))
		return error_set(error, -EINVAL, "%s needs a shared receive queue",
				 transport_names[state->transport]);
	state->target = is_dc(state) ? dc_create_target(endpoint->pd, endpoint->srq, ctx->cq,
							state->path.own.qkey)
				     : ibv_create_qp_ex(endpoint->verbs, &attr);
	if (!state->target)
		return verbs_memory_error(error, verbs_null(), "create a target queue pair");
	return 0;
}

int qp_open(struct rdma_context *ctx, struct error *error)
{
	struct rdma_state *state = ctx->state;
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = ctx->cq,
		.recv_cq = ctx->cq,
		.srq = state->endpoint->srq,
		.qp_type = qp_kinds[state->transport].type,
		.cap = capabilities(ctx),
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = ctx->pd,
		.send_ops_flags =
			qp_operations(state->transport, &state->device) | state->endpoint->send_ops,
	};
	int code = choose_inline(ctx, &attr, error);

	if (code)
		return code;
	code = create(ctx, &attr);
	/* Providers without the extended interface return different errors. */
	if (code == -EOPNOTSUPP || code == -ENOSYS || code == -EINVAL) {
		attr.comp_mask = IBV_QP_INIT_ATTR_PD;
		code = create(ctx, &attr);
	}
	if (code)
		return verbs_memory_error(error, code, "create a queue pair");
	if (is_dc(state))
		state->endpoint->initiator = ctx->qp;
	state->endpoint->n_queues++;
	state->endpoint->is_used = true;
	state->queue = (struct post_queue){
		.qp = ctx->qp, .srq = state->endpoint->srq, .receiver = ctx->qp->qp_num};
	if (attr.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		state->queue.qpx = ibv_qp_to_qp_ex(ctx->qp);
	else if (state->endpoint->send_ops || is_extended(state))
		return error_set(error, -EOPNOTSUPP,
				 "the device's library does not support the operation");
	return transport_has(state->transport, TRANSPORT_TWO_WAY) ? 0 : open_target(ctx, error);
}

/* Destroys it with the last context that uses it. */
static int close_initiator(struct endpoint *endpoint)
{
	struct ibv_qp *qp = endpoint->initiator;

	if (endpoint->n_queues > 1)
		return 0;
	endpoint->initiator = NULL;
	return verbs_result(ibv_destroy_qp(qp));
}

int qp_close(struct rdma_context *ctx)
{
	int code = 0;

	if (!ctx->qp)
		return 0;
	manual_qp_detach(ctx);
	if (ctx->conn)
		rdma_destroy_qp(ctx->conn);
	else if (ctx->state->endpoint->initiator)
		code = close_initiator(ctx->state->endpoint);
	else
		code = verbs_result(ibv_destroy_qp(ctx->qp));
	if (ctx->state->target)
		error_keep(&code, verbs_result(ibv_destroy_qp(ctx->state->target)));
	ctx->qp = NULL;
	ctx->state->target = NULL;
	ctx->state->queue = (struct post_queue){0};
	ctx->state->endpoint->n_queues--;
	return code;
}
