/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/soft/memory/mw.h"
#include "core/soft/op/pd.h"
#include "core/soft/op/qp.h"
#include "core/soft/op/receive_queue.h"
#include "core/soft/peer/process.h"

static void take_target(const struct soft_qp *qp, const struct ibv_send_wr *wr,
			struct soft_operation *operation)
{
	if (soft_qp_is_addressed(qp)) {
		soft_send_set_target(operation, &soft_pd_ah(wr->wr.ud.ah)->attr.grh,
				     wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey);
		return;
	}
	if (wr->opcode == IBV_WR_BIND_MW) {
		soft_mw_set_bind(operation, wr->bind_mw.mw, wr->bind_mw.rkey,
				 &wr->bind_mw.bind_info);
		return;
	}
	if (soft_qp_is_xrc(qp))
		operation->remote_srq = wr->qp_type.xrc.remote_srqn;
	if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		operation->remote_address = wr->wr.atomic.remote_addr;
		operation->rkey = wr->wr.atomic.rkey;
		operation->compare_add = wr->wr.atomic.compare_add;
		operation->swap = wr->wr.atomic.swap;
	} else {
		operation->remote_address = wr->wr.rdma.remote_addr;
		operation->rkey = wr->wr.rdma.rkey;
	}
}

static int take_inline(const struct soft_qp *qp, const struct ibv_send_wr *wr,
		       struct soft_operation *operation)
{
	for (int i = 0; i < wr->num_sge; i++)
		if (!soft_send_add_inline(operation, qp->cap.max_inline_data,
					  (const void *)(uintptr_t)wr->sg_list[i].addr,
					  wr->sg_list[i].length))
			return EINVAL;
	operation->is_inline = 1;
	return 0;
}

/* This interface has only sends with an address, and no address of DC. */
static bool is_addressable(const struct soft_qp *qp, const struct ibv_send_wr *wr)
{
	return qp->type != SOFT_QPT_DCI && wr->wr.ud.ah &&
	       (wr->opcode == IBV_WR_SEND || wr->opcode == IBV_WR_SEND_WITH_IMM);
}

static int soft_post_take(const struct soft_qp *qp, const struct ibv_send_wr *wr,
			  struct soft_operation *operation)
{
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->cap.max_send_sge ||
	    !soft_qp_can(qp->type, wr->opcode) || (int)wr->opcode == SOFT_ATOMIC_WRITE ||
	    (soft_qp_is_addressed(qp) && !is_addressable(qp, wr)) ||
	    (wr->opcode == IBV_WR_BIND_MW && !wr->bind_mw.mw))
		return EINVAL;
	operation->wr_id = wr->wr_id;
	operation->opcode = wr->opcode;
	operation->flags = wr->send_flags;
	operation->imm = wr->imm_data;
	operation->count = (uint32_t)wr->num_sge;
	operation->is_inline = 0;
	operation->length = 0;
	take_target(qp, wr, operation);
	if (soft_model_is_local(operation)) {
		operation->count = 0;
		return 0;
	}
	if (wr->send_flags & IBV_SEND_INLINE)
		return soft_model_is_fetch(operation) ? EINVAL : take_inline(qp, wr, operation);
	for (int i = 0; i < wr->num_sge; i++) {
		operation->sge[i] = wr->sg_list[i];
		operation->length += wr->sg_list[i].length;
	}
	return 0;
}

static int post(struct soft_qp *qp, const struct ibv_send_wr *wr)
{
	struct soft_operation *operation = soft_send_next(&qp->sends);
	int result;

	if (unlikely(!soft_qp_takes_sends(qp)))
		return EINVAL;
	if (!operation) {
		soft_send_run(qp);
		operation = soft_send_next(&qp->sends);
	}
	if (!operation)
		return ENOMEM;
	result = soft_post_take(qp, wr, operation);
	if (!result)
		soft_send_add(&qp->sends);
	return result;
}

int soft_qp_post_send(struct ibv_qp *verbs, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct soft_qp *qp = soft_qp_of(verbs);
	int result = 0;

	soft_qp_expect(qp);
	soft_lock_take(&qp->lock);
	for (; wr; wr = wr->next) {
		result = post(qp, wr);
		if (result) {
			*bad = wr;
			break;
		}
	}
	soft_send_run(qp);
	soft_lock_release(&qp->lock);
	return result;
}

/* Flushes receives posted to a queue pair in the error state. */
static void flush_if_failed(struct soft_qp *qp)
{
	/*
	 * Checked after posting: either the process that stops the queue pair sees the receive, or
	 * this thread sees the state.
	 */
	if (likely(atomic_load(&qp->image->state) != IBV_QPS_ERR))
		return;
	soft_queue_hold(&qp->image->queue);
	soft_qp_flush(&soft_process.self, qp->image);
	soft_lock_release(&qp->image->queue.lock);
}

int soft_qp_post_receive(struct ibv_qp *verbs, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct soft_qp *qp = soft_qp_of(verbs);
	int result = 0;

	if (verbs->srq || !verbs->recv_cq || atomic_load(&qp->image->state) == IBV_QPS_RESET) {
		*bad = wr;
		return EINVAL;
	}
	soft_lock_take(&qp->receive_lock);
	for (; wr; wr = wr->next) {
		result = (uint32_t)wr->num_sge > qp->cap.max_recv_sge
				 ? EINVAL
				 : soft_queue_put(&qp->image->queue, &qp->receives, wr);
		if (result) {
			*bad = wr;
			break;
		}
	}
	flush_if_failed(qp);
	soft_lock_release(&qp->receive_lock);
	return result;
}
