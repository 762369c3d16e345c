/* SPDX-License-Identifier: MIT */
/*
 * Queue pairs of rdma_cm: created for an identifier and moved through their states with both sides'
 * parameters.
 */
#include <errno.h>
#include <rdma/rdma_verbs.h>
#include <stdlib.h>
#include <string.h>

#include "core/soft/cm/cm.h"
#include "core/soft/export.h"
#include "core/soft/port.h"

enum {
	ACK_TIMEOUT = 19, /* as the kernel computes it for Ethernet */
	HOP_LIMIT = 64,
};

void soft_cm_fill_address(const struct soft_cm_id *id, const struct soft_cm_address *to,
			  struct ibv_ah_attr *attr)
{
	int index = soft_cm_address_index(&id->from);

	*attr = (struct ibv_ah_attr){
		.grh.dgid = to->gid,
		.grh.sgid_index = (uint8_t)(index < 0 ? 0 : index),
		.grh.hop_limit = HOP_LIMIT,
		.grh.traffic_class = id->tos,
		.is_global = 1,
		.port_num = SOFT_PORT,
	};
}

static void fill_init(const struct soft_cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	*mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	attr->pkey_index = 0;
	attr->port_num = SOFT_PORT;
	if (soft_cm_is_ud(id)) {
		*mask |= IBV_QP_QKEY;
		attr->qkey = RDMA_UDP_QKEY;
		return;
	}
	*mask |= IBV_QP_ACCESS_FLAGS;
	attr->qp_access_flags = 0;
	/* Grant no remote access before the connection is being made. */
	if (id->state < SOFT_CM_CONNECTING)
		return;
	attr->qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	if (id->local.responder_resources)
		attr->qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
}

static void fill_rtr(const struct soft_cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	*mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	soft_cm_fill_address(id, &id->to, &attr->ah_attr);
	attr->path_mtu = SOFT_MTU;
	attr->dest_qp_num = id->remote.qp_num;
	attr->rq_psn = id->remote.psn;
	attr->max_dest_rd_atomic = id->local.responder_resources;
	attr->min_rnr_timer = 0;
}

static void fill_rts(const struct soft_cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	bool is_active = id->state == SOFT_CM_ANSWERED || id->state == SOFT_CM_CONNECTING;

	*mask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
		IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	attr->sq_psn = id->psn;
	attr->timeout = id->ack_timeout ? id->ack_timeout : ACK_TIMEOUT;
	/*
	 * The connecting side sets the retry count for both; each side sets the RNR retry count of
	 * its peer.
	 */
	attr->retry_cnt = is_active ? id->local.retry_count : id->remote.retry_count;
	attr->rnr_retry = id->remote.rnr_retry_count;
	attr->max_rd_atomic = id->local.initiator_depth;
}

SOFT_EXPORT int rdma_init_qp_attr(struct rdma_cm_id *verbs, struct ibv_qp_attr *attr, int *mask)
{
	struct soft_cm_id *id = soft_cm_id_of(verbs);
	bool is_closed;
	bool is_met; /* the peer's parameters are known */
	int result = 0;

	pthread_mutex_lock(&soft_cm_mutex);
	is_closed = id->state == SOFT_CM_CLOSED;
	is_met = !soft_cm_is_ud(id) && !is_closed && id->state >= SOFT_CM_ANSWERED;
	if (attr->qp_state == IBV_QPS_INIT && !is_closed)
		fill_init(id, attr, mask);
	else if (attr->qp_state == IBV_QPS_RTR && is_met)
		fill_rtr(id, attr, mask);
	else if (attr->qp_state == IBV_QPS_RTS && is_met)
		fill_rts(id, attr, mask);
	else
		result = EINVAL;
	pthread_mutex_unlock(&soft_cm_mutex);
	return soft_cm_return(result);
}

static int enter(struct rdma_cm_id *id, struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state};
	int mask = 0;

	if (rdma_init_qp_attr(id, &attr, &mask))
		return -1;
	return soft_cm_return(ibv_modify_qp(qp, &attr, mask));
}

int soft_cm_qp_connect(struct soft_cm_id *id)
{
	struct ibv_qp *qp = id->verbs.qp;

	if (!qp)
		return 0;
	/* INIT again, because remote access is now allowed. */
	if (enter(&id->verbs, qp, IBV_QPS_INIT) || enter(&id->verbs, qp, IBV_QPS_RTR))
		return -1;
	return enter(&id->verbs, qp, IBV_QPS_RTS);
}

void soft_cm_qp_fail(struct soft_cm_id *id)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	if (id->verbs.qp)
		ibv_modify_qp(id->verbs.qp, &attr, IBV_QP_STATE);
}

/* Datagram queue pairs need no peer, so they become ready at once. */
static int ready_ud(struct rdma_cm_id *id, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};

	if (enter(id, qp, IBV_QPS_INIT))
		return -1;
	if (soft_cm_return(ibv_modify_qp(qp, &attr, IBV_QP_STATE)))
		return -1;
	attr.qp_state = IBV_QPS_RTS;
	return soft_cm_return(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
}

/* An rsocket has one queue for both. */
static void destroy_cqs(struct rdma_cm_id *id)
{
	/* An SRQ of XRC uses the completion queue. */
	if (id->qp_type == IBV_QPT_XRC_RECV && id->srq)
		return;
	if (id->send_cq && id->send_cq != id->recv_cq)
		ibv_destroy_cq(id->send_cq);
	if (id->send_cq_channel && id->send_cq_channel != id->recv_cq_channel)
		ibv_destroy_comp_channel(id->send_cq_channel);
	if (id->recv_cq)
		ibv_destroy_cq(id->recv_cq);
	if (id->recv_cq_channel)
		ibv_destroy_comp_channel(id->recv_cq_channel);
	id->send_cq = id->recv_cq = NULL;
	id->send_cq_channel = id->recv_cq_channel = NULL;
}

static int create_cq(struct rdma_cm_id *id, uint32_t size, struct ibv_comp_channel **channel,
		     struct ibv_cq **cq)
{
	*channel = ibv_create_comp_channel(id->verbs);
	if (!*channel)
		return -1;
	*cq = ibv_create_cq(id->verbs, (int)size, id, *channel, 0);
	return *cq ? 0 : -1;
}

/* Creates the completion queues that the program did not supply. */
static int create_cqs(struct rdma_cm_id *id, const struct ibv_qp_init_attr_ex *attr)
{
	if (!attr->recv_cq && !id->recv_cq && attr->cap.max_recv_wr &&
	    create_cq(id, attr->cap.max_recv_wr, &id->recv_cq_channel, &id->recv_cq))
		return -1;
	if (!attr->send_cq && !id->send_cq && attr->cap.max_send_wr &&
	    create_cq(id, attr->cap.max_send_wr, &id->send_cq_channel, &id->send_cq))
		return -1;
	return 0;
}

static bool is_other(const struct ibv_cq *own, const struct ibv_cq *given)
{
	return own && given && own != given;
}

/* Fills in defaults from the identifier. Supplied objects must match it. */
static int soft_cm_qp_check(const struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	if (id->qp || !id->verbs)
		return soft_cm_return(EINVAL);
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->pd) {
		attr->comp_mask |= IBV_QP_INIT_ATTR_PD;
		attr->pd = id->pd;
	} else if (attr->pd->context != id->verbs) {
		return soft_cm_return(EINVAL);
	}
	if (attr->qp_type == IBV_QPT_XRC_RECV &&
	    (!(attr->comp_mask & IBV_QP_INIT_ATTR_XRCD) || !attr->xrcd)) {
		attr->comp_mask |= IBV_QP_INIT_ATTR_XRCD;
		attr->xrcd = soft_cm_xrcd();
		if (!attr->xrcd)
			return -1;
	}
	if (is_other(id->recv_cq, attr->recv_cq) || is_other(id->send_cq, attr->send_cq))
		return soft_cm_return(EINVAL);
	return 0;
}

SOFT_EXPORT int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp *qp = NULL;
	int error;

	if (soft_cm_qp_check(id, attr))
		return -1;
	if (create_cqs(id, attr))
		goto fail;
	if (!attr->send_cq)
		attr->send_cq = id->send_cq;
	if (!attr->recv_cq)
		attr->recv_cq = id->recv_cq;
	if (id->srq && !attr->srq)
		attr->srq = id->srq;
	qp = ibv_create_qp_ex(id->verbs, attr);
	if (!qp)
		goto fail;
	if (soft_cm_is_ud(soft_cm_id_of(id)) ? ready_ud(id, qp) : enter(id, qp, IBV_QPS_INIT))
		goto fail;
	id->pd = attr->pd;
	id->qp = qp;
	return 0;
fail:
	error = errno;
	if (qp)
		ibv_destroy_qp(qp);
	destroy_cqs(id);
	return soft_cm_return(error);
}

SOFT_EXPORT int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd,
			       struct ibv_qp_init_attr *init)
{
	struct ibv_qp_init_attr_ex attr = {.comp_mask = IBV_QP_INIT_ATTR_PD};
	int result;

	/* The two structs share a prefix; the shorter one has padding where comp_mask is. */
	memcpy(&attr, init, offsetof(struct ibv_qp_init_attr_ex, comp_mask));
	attr.pd = pd ? pd : id->pd;
	result = rdma_create_qp_ex(id, &attr);
	if (!result)
		init->cap = attr.cap;
	return result;
}

SOFT_EXPORT void rdma_destroy_qp(struct rdma_cm_id *id)
{
	ibv_destroy_qp(id->qp);
	id->qp = NULL;
	destroy_cqs(id);
}

/* Adds the domain and the completion queue that the program did not supply. */
static int complete_xrc(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr)
{
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_XRCD) || !attr->xrcd)
		attr->xrcd = soft_cm_xrcd();
	if (!attr->xrcd)
		return -1;
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_CQ) || !attr->cq) {
		if (!id->recv_cq &&
		    create_cq(id, attr->attr.max_wr, &id->recv_cq_channel, &id->recv_cq))
			return -1;
		attr->cq = id->recv_cq;
	}
	attr->comp_mask |= IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
	return 0;
}

SOFT_EXPORT int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr)
{
	struct ibv_srq *srq;

	if (id->srq || !id->verbs)
		return soft_cm_return(EINVAL);
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) || !attr->pd) {
		attr->comp_mask |= IBV_SRQ_INIT_ATTR_PD;
		attr->pd = id->pd;
	}
	if (attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE && attr->srq_type == IBV_SRQT_XRC &&
	    complete_xrc(id, attr))
		return -1;
	srq = ibv_create_srq_ex(id->verbs, attr);
	if (!srq)
		return -1;
	id->pd = attr->pd;
	id->srq = srq;
	return 0;
}

SOFT_EXPORT int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd,
				struct ibv_srq_init_attr *init)
{
	struct ibv_srq_init_attr_ex attr = {
		.srq_context = init->srq_context,
		.attr = init->attr,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = id->qp_type == IBV_QPT_XRC_RECV ? IBV_SRQT_XRC : IBV_SRQT_BASIC,
		.pd = pd,
	};
	int result = rdma_create_srq_ex(id, &attr);

	init->attr = attr.attr;
	return result;
}

SOFT_EXPORT void rdma_destroy_srq(struct rdma_cm_id *id)
{
	ibv_destroy_srq(id->srq);
	id->srq = NULL;
	if (id->qp_type == IBV_QPT_XRC_RECV && !id->qp)
		destroy_cqs(id);
}
