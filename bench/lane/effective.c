/* SPDX-License-Identifier: MIT */
#include "bench/lane/effective.h"

#include "core/rdma/manual_qp.h"
#include "core/verbs/verbs.h"

/* The InfiniBand unit: the timeout is 4.096 us times 2^attr.timeout. */
#define ACK_UNIT_NS 4096ULL

static void add_posts(struct effective *chosen, const struct lane *lane)
{
	const struct flow *flow = &lane->flows[0];

	effective_set(chosen, EFFECTIVE_POST_CALL,
		      lane->path == POST_CLASSIC ? EFFECTIVE_IBV_POST_SEND : EFFECTIVE_IBV_WR);
	effective_set(chosen, EFFECTIVE_INLINE, (flow->work.flags & IBV_SEND_INLINE) != 0);
}

static void add_depths(struct effective *chosen, const struct endpoint *endpoint,
		       const struct ibv_qp_cap *cap)
{
	struct ibv_srq_attr attr;

	effective_set(chosen, EFFECTIVE_INLINE_LIMIT_BYTES, cap->max_inline_data);
	effective_set(chosen, EFFECTIVE_SEND_DEPTH, cap->max_send_wr);
	if (!endpoint->srq)
		effective_set(chosen, EFFECTIVE_RECEIVE_DEPTH, cap->max_recv_wr);
	else if (!verbs_result(ibv_query_srq(endpoint->srq, &attr)))
		effective_set(chosen, EFFECTIVE_SHARED_RECEIVE_DEPTH, attr.max_wr);
}

static void add_gid(struct effective *chosen, struct ibv_context *verbs,
		    const struct ibv_ah_attr *vector)
{
	static const enum effective_gid_type types[] = {
		[IBV_GID_TYPE_IB] = EFFECTIVE_GID_IB,
		[IBV_GID_TYPE_ROCE_V1] = EFFECTIVE_GID_ROCE_V1,
		[IBV_GID_TYPE_ROCE_V2] = EFFECTIVE_GID_ROCE_V2,
	};
	struct ibv_gid_entry entry;

	effective_set(chosen, EFFECTIVE_GID_INDEX, vector->grh.sgid_index);
	effective_set(chosen, EFFECTIVE_TRAFFIC_CLASS, vector->grh.traffic_class);
	effective_set(chosen, EFFECTIVE_FLOW_LABEL, vector->grh.flow_label);
	effective_set(chosen, EFFECTIVE_HOP_LIMIT, vector->grh.hop_limit);
	if (!ibv_query_gid_ex(verbs, vector->port_num, vector->grh.sgid_index, &entry, 0) &&
	    entry.gid_type < ARRAY_LENGTH(types))
		effective_set(chosen, EFFECTIVE_GID_TYPE, types[entry.gid_type]);
}

static void add_address_vector(struct effective *chosen, struct ibv_context *verbs,
			       const struct ibv_ah_attr *vector)
{
	effective_set(chosen, EFFECTIVE_SL, vector->sl);
	effective_set(chosen, EFFECTIVE_PATH_BITS, vector->src_path_bits);
	if (vector->is_global)
		add_gid(chosen, verbs, vector);
}

static void add_reliability(struct effective *chosen, const struct ibv_qp_attr *attr)
{
	effective_set(chosen, EFFECTIVE_INITIATOR_DEPTH, attr->max_rd_atomic);
	effective_set(chosen, EFFECTIVE_ACK_TIMEOUT_NS,
		      attr->timeout ? ACK_UNIT_NS << attr->timeout : 0);
	effective_set(chosen, EFFECTIVE_RETRIES, attr->retry_cnt);
	effective_set(chosen, EFFECTIVE_RNR_RETRIES, attr->rnr_retry);
}

/* With XRC and DC, another queue pair responds. Linux does not tell the depth of a target of DC. */
static void add_responder(struct effective *chosen, struct ibv_qp *responder)
{
	struct ibv_qp_init_attr made = {0};
	struct ibv_qp_attr found = {0};

	if (!verbs_result(ibv_query_qp(responder, &found, IBV_QP_MAX_DEST_RD_ATOMIC, &made)))
		effective_set(chosen, EFFECTIVE_RESPONDER_DEPTH, found.max_dest_rd_atomic);
}

static void add_queue_pair(struct effective *chosen, const struct lane *lane)
{
	const struct rdma_context *context = &lane->flows[0].context;
	struct ibv_context *verbs = lane->endpoint.verbs;
	const struct parameters *p = lane->settings.parameters;
	bool is_connected = parameters_has(p, TRANSPORT_CONNECTED);
	bool is_acknowledged = transport_is_acknowledged((enum transport)p->transport);
	struct ibv_qp_init_attr made = {0};
	struct ibv_qp_attr attr = {0};
	int mask = IBV_QP_CAP | IBV_QP_PKEY_INDEX;

	if (is_connected)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU;
	if (is_acknowledged)
		mask |= IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_TIMEOUT |
			IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY;
	if (verbs_result(ibv_query_qp(context->qp, &attr, mask, &made)))
		return;
	add_depths(chosen, &lane->endpoint, &made.cap);
	effective_set(chosen, EFFECTIVE_PKEY_INDEX, attr.pkey_index);
	/* An unconnected queue pair has no address vector; each work request has one. */
	if (!is_connected)
		attr.ah_attr = manual_qp_address_vector(context);
	add_address_vector(chosen, verbs, &attr.ah_attr);
	if (is_connected)
		effective_set(chosen, EFFECTIVE_PATH_MTU_BYTES, limits_mtu_bytes(attr.path_mtu));
	if (!is_acknowledged)
		return;
	add_reliability(chosen, &attr);
	if (context->state->target)
		add_responder(chosen, context->state->target);
	else
		effective_set(chosen, EFFECTIVE_RESPONDER_DEPTH, attr.max_dest_rd_atomic);
}

static void add_ground(struct effective *chosen, const struct endpoint *endpoint)
{
	const struct completion *completion = &endpoint->completion;

	effective_set(chosen, EFFECTIVE_CQ_DEPTH, (uint64_t)completion->cq->cqe);
	if (completion->mode == RDMA_ADAPTIVE)
		effective_set(chosen, EFFECTIVE_SPIN_NS, completion->spin_ns);
	if (completion->mode != RDMA_POLL)
		effective_set(chosen, EFFECTIVE_COMPLETION_VECTOR, completion->vector);
	effective_set(chosen, EFFECTIVE_PAGE_BYTES, endpoint->memory.page);
	effective_set(chosen, EFFECTIVE_BUFFER_BYTES, endpoint->memory.size);
}

static void add_memory(struct effective *chosen, const struct memory *memory)
{
	const struct memory_facts facts = memory_describe(memory);

	effective_set_text(chosen, EFFECTIVE_MEMORY_PATH, facts.path);
	effective_set_text(chosen, EFFECTIVE_MEMORY_OWNER, facts.owner);
	effective_set_text(chosen, EFFECTIVE_MEMORY_DRIVER, facts.driver);
	effective_set_text(chosen, EFFECTIVE_MEMORY_PCIE, facts.pcie);
}

struct effective lane_effective_find(const struct lane *lane, bool is_posting)
{
	struct effective chosen = {0};

	if (is_posting)
		add_posts(&chosen, lane);
	add_queue_pair(&chosen, lane);
	add_ground(&chosen, &lane->endpoint);
	add_memory(&chosen, lane->other.kind ? &lane->other : &lane->endpoint.memory);
	if (lane->settings.walks)
		effective_set(&chosen, EFFECTIVE_PLACES, lane->flows[0].walk.mask + 1);
	return chosen;
}
