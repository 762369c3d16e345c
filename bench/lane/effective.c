/* SPDX-License-Identifier: MIT */
#include "bench/lane/effective.h"

#include "core/rdma/manual_qp.h"
#include "core/verbs/verbs.h"

/* The specification's unit: 4.096 us times 2 to the power of what the queue pair has. */
#define ACK_UNIT_NS 4096ULL

static void add_posts(struct chosen *chosen, const struct lane *lane)
{
	const struct flow *flow = &lane->flows[0];

	chosen_set(chosen, CHOSEN_POST_CALL,
		   lane->path == POST_CLASSIC ? CHOSEN_IBV_POST_SEND : CHOSEN_IBV_WR);
	chosen_set(chosen, CHOSEN_INLINE, (flow->work.flags & IBV_SEND_INLINE) != 0);
}

static void add_depths(struct chosen *chosen, const struct ground *ground,
		       const struct ibv_qp_cap *cap)
{
	struct ibv_srq_attr attr;

	chosen_set(chosen, CHOSEN_INLINE_LIMIT_BYTES, cap->max_inline_data);
	chosen_set(chosen, CHOSEN_SEND_DEPTH, cap->max_send_wr);
	if (!ground->srq)
		chosen_set(chosen, CHOSEN_RECEIVE_DEPTH, cap->max_recv_wr);
	else if (!verbs_result(ibv_query_srq(ground->srq, &attr)))
		chosen_set(chosen, CHOSEN_SHARED_RECEIVE_DEPTH, attr.max_wr);
}

static void add_gid(struct chosen *chosen, struct ibv_context *verbs,
		    const struct ibv_ah_attr *route)
{
	static const enum chosen_gid_type types[] = {
		[IBV_GID_TYPE_IB] = CHOSEN_GID_IB,
		[IBV_GID_TYPE_ROCE_V1] = CHOSEN_GID_ROCE_V1,
		[IBV_GID_TYPE_ROCE_V2] = CHOSEN_GID_ROCE_V2,
	};
	struct ibv_gid_entry entry;

	chosen_set(chosen, CHOSEN_GID_INDEX, route->grh.sgid_index);
	chosen_set(chosen, CHOSEN_TRAFFIC_CLASS, route->grh.traffic_class);
	if (!ibv_query_gid_ex(verbs, route->port_num, route->grh.sgid_index, &entry, 0) &&
	    entry.gid_type < ARRAY_LENGTH(types))
		chosen_set(chosen, CHOSEN_GID_TYPE, types[entry.gid_type]);
}

static void add_route(struct chosen *chosen, struct ibv_context *verbs,
		      const struct ibv_ah_attr *route)
{
	chosen_set(chosen, CHOSEN_SL, route->sl);
	if (route->is_global)
		add_gid(chosen, verbs, route);
}

static void add_reliability(struct chosen *chosen, const struct ibv_qp_attr *attr)
{
	chosen_set(chosen, CHOSEN_INITIATOR_DEPTH, attr->max_rd_atomic);
	chosen_set(chosen, CHOSEN_RESPONDER_DEPTH, attr->max_dest_rd_atomic);
	chosen_set(chosen, CHOSEN_ACK_TIMEOUT_NS, attr->timeout ? ACK_UNIT_NS << attr->timeout : 0);
	chosen_set(chosen, CHOSEN_RETRIES, attr->retry_cnt);
	chosen_set(chosen, CHOSEN_RNR_RETRIES, attr->rnr_retry);
}

static void add_queue_pair(struct chosen *chosen, const struct lane *lane)
{
	const struct rdma_context *context = &lane->flows[0].context;
	struct ibv_context *verbs = lane->ground.verbs;
	bool is_connected = lane->transport != TRANSPORT_UD;
	struct ibv_qp_init_attr made = {0};
	struct ibv_qp_attr attr = {0};
	int mask = IBV_QP_CAP;

	if (is_connected)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU;
	if (lane->transport == TRANSPORT_RC)
		mask |= IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_TIMEOUT |
			IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY;
	if (verbs_result(ibv_query_qp(context->qp, &attr, mask, &made)))
		return;
	add_depths(chosen, &lane->ground, &made.cap);
	/* The queue pair of datagrams has no route: each of them has one. */
	if (!is_connected)
		attr.ah_attr = pair_route(context);
	add_route(chosen, verbs, &attr.ah_attr);
	if (is_connected)
		chosen_set(chosen, CHOSEN_PATH_MTU_BYTES, limits_mtu_bytes(attr.path_mtu));
	if (lane->transport == TRANSPORT_RC)
		add_reliability(chosen, &attr);
}

static void add_ground(struct chosen *chosen, const struct ground *ground)
{
	const struct completion *completion = &ground->completion;

	chosen_set(chosen, CHOSEN_CQ_DEPTH, (uint64_t)completion->cq->cqe);
	if (completion->mode == RDMA_ADAPTIVE)
		chosen_set(chosen, CHOSEN_SPIN_NS, completion->spin_ns);
	if (completion->mode != RDMA_POLL)
		chosen_set(chosen, CHOSEN_COMPLETION_VECTOR, completion->vector);
	chosen_set(chosen, CHOSEN_PAGE_BYTES, ground->buffer.page);
	chosen_set(chosen, CHOSEN_BUFFER_BYTES, ground->buffer.mapped);
}

struct chosen granted_find(const struct lane *lane, bool is_posting)
{
	struct chosen chosen = {0};

	if (is_posting)
		add_posts(&chosen, lane);
	add_queue_pair(&chosen, lane);
	add_ground(&chosen, &lane->ground);
	if (lane->walks)
		chosen_set(&chosen, CHOSEN_PLACES, lane->flows[0].walk.mask + 1);
	return chosen;
}
