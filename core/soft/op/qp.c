/* SPDX-License-Identifier: MIT */
#include "core/soft/op/qp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cacheline.h"
#include "core/soft/device.h"
#include "core/soft/export.h"
#include "core/soft/link/progress.h"
#include "core/soft/memory/mw.h"
#include "core/soft/op/cq.h"
#include "core/soft/op/event.h"
#include "core/soft/op/multicast.h"
#include "core/soft/op/pd.h"
#include "core/soft/op/receive_queue.h"
#include "core/soft/op/srq.h"
#include "core/soft/op/xrc.h"
#include "core/soft/peer/process.h"

#ifdef HAVE_ATOMIC_WRITE
#define ATOMIC_WRITES IBV_QP_EX_WITH_ATOMIC_WRITE
#else
#define ATOMIC_WRITES 0
#endif
#define MASK_SUPPORTED                                            \
	((uint32_t)(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD | \
		    IBV_QP_INIT_ATTR_SEND_OPS_FLAGS | IBV_QP_INIT_ATTR_CREATE_FLAGS))
#define OPERATIONS_SUPPORTED                                                         \
	((uint64_t)(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | \
		    IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |             \
		    IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |   \
		    IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_LOCAL_INV | \
		    IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_SEND_WITH_INV | ATOMIC_WRITES))

/* The target of XRC has only a domain: its SRQs have the completion queues and the memory. */
static int check_target(const struct ibv_qp_init_attr_ex *attr)
{
	if (attr->comp_mask & ~MASK_SUPPORTED)
		return EOPNOTSUPP;
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_XRCD) || !attr->xrcd ||
	    attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		return EINVAL;
	return 0;
}

static int soft_op_qp_check(const struct ibv_qp_init_attr_ex *attr)
{
	if (attr->qp_type == IBV_QPT_XRC_RECV)
		return check_target(attr);
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->pd)
		return EINVAL;
	if (attr->comp_mask & (~MASK_SUPPORTED | IBV_QP_INIT_ATTR_XRCD))
		return EOPNOTSUPP;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS && attr->create_flags)
		return EOPNOTSUPP;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS &&
	    attr->send_ops_flags & ~OPERATIONS_SUPPORTED)
		return EOPNOTSUPP;
	switch ((int)attr->qp_type) {
	case IBV_QPT_RC:
	case IBV_QPT_UC:
	case IBV_QPT_UD:
	case SOFT_QPT_DCI:
	case SOFT_QPT_DCT:
	case SOFT_QPT_SRD:
		return attr->send_cq && attr->recv_cq ? 0 : EINVAL;
	case IBV_QPT_XRC_SEND:
		return attr->send_cq ? 0 : EINVAL;
	default:
		return EOPNOTSUPP;
	}
}

/* Sets the objects that the queue pair uses, which depend on its type. */
static void set_objects(struct soft_qp *qp, const struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp *verbs = &qp->verbs.qp_base;

	if (attr->qp_type == IBV_QPT_XRC_RECV) {
		qp->xrcd = soft_xrc_of(attr->xrcd);
		return;
	}
	verbs->pd = attr->pd;
	verbs->send_cq = attr->send_cq;
	qp->send_cq = qp->recv_cq = soft_cq_of(attr->send_cq);
	qp->sender = qp->send_cq->sender;
	/* Initiators receive nothing. */
	if (qp->type == IBV_QPT_XRC_SEND || qp->type == SOFT_QPT_DCI)
		return;
	verbs->recv_cq = attr->recv_cq;
	verbs->srq = attr->srq;
	qp->recv_cq = soft_cq_of(attr->recv_cq);
	qp->srq = attr->srq ? soft_srq_of(attr->srq) : NULL;
}

static void init_verbs(struct soft_qp *qp, struct ibv_context *context,
		       const struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp *verbs = &qp->verbs.qp_base;

	verbs->context = context;
	verbs->qp_context = attr->qp_context;
	verbs->handle = qp->index;
	/* A target of DC gets its number when it becomes ready to receive, as on mlx5. */
	verbs->qp_num = qp->type == SOFT_QPT_DCT ? 0 : soft_qp_number(qp);
	verbs->state = IBV_QPS_RESET;
	verbs->qp_type = qp->type > IBV_QPT_DRIVER ? IBV_QPT_DRIVER : attr->qp_type;
	pthread_mutex_init(&verbs->mutex, NULL);
	pthread_cond_init(&verbs->cond, NULL);
	qp->is_all_signaled = attr->sq_sig_all;
	qp->handles = 1;
}

static void publish(struct soft_qp *qp)
{
	struct soft_qp_image *image = qp->image;

	image->type = (uint32_t)qp->type;
	atomic_store(&image->number, soft_qp_number(qp));
	image->pd = qp->xrcd ? 0 : qp->verbs.qp_base.pd->handle;
	image->recv_cq = qp->xrcd ? 0 : qp->recv_cq->number;
	image->srq = qp->srq ? qp->srq->number : 0;
	image->xrcd = qp->xrcd ? qp->xrcd->number : 0;
	atomic_store(&image->peer, 0);
	atomic_store(&image->access, 0);
	atomic_store(&image->state, IBV_QPS_RESET);
}

static void count_users(struct soft_qp *qp, uint32_t by)
{
	if (qp->xrcd) {
		atomic_fetch_add(&qp->xrcd->users, by);
		return;
	}
	atomic_fetch_add(&soft_pd_of(qp->verbs.qp_base.pd)->users, by);
	atomic_fetch_add(&qp->send_cq->users, by);
	atomic_fetch_add(&qp->recv_cq->users, by);
	if (qp->srq)
		atomic_fetch_add(&qp->srq->users, by);
}

static int make_queues(struct soft_qp *qp, struct ibv_qp_init_attr_ex *attr)
{
	const struct ibv_qp *verbs = &qp->verbs.qp_base;
	struct ibv_qp_cap *cap = &attr->cap;
	int result;

	if (qp->xrcd)
		*cap = (struct ibv_qp_cap){0};
	if (verbs->srq || !verbs->recv_cq)
		cap->max_recv_wr = cap->max_recv_sge = 0;
	result = soft_send_init(&qp->sends, cap);
	if (!result)
		result = soft_model_init(qp);
	if (result)
		return result;
	qp->receives.known_head =
		&soft_process.known_head[qp->recv_cq ? qp->recv_cq->sender : 0][qp->index];
	result = soft_queue_init(&qp->image->queue, &qp->receives, &cap->max_recv_wr,
				 cap->max_recv_sge);
	if (verbs->srq || !verbs->recv_cq)
		cap->max_recv_wr = 0;
	qp->cap = *cap;
	return result;
}

struct ibv_qp *soft_qp_create_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	if (attr->qp_type < IBV_QPT_DRIVER)
		return soft_qp_create(context, attr);
	errno = EOPNOTSUPP;
	return NULL;
}

struct ibv_qp *soft_qp_create(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	struct soft_qp *qp = NULL;
	int result = soft_op_qp_check(attr);

	if (result)
		goto fail;
	result = ENOMEM;
	qp = cacheline_calloc(1, sizeof(*qp));
	if (!qp)
		goto fail;
	qp->index = soft_table_take(&soft_process.qps);
	if (!qp->index)
		goto fail;
	qp->image = &soft_process.arena.image->qp[qp->index];
	qp->type = (int)attr->qp_type;
	set_objects(qp, attr);
	result = make_queues(qp, attr);
	if (result)
		goto remove;
	init_verbs(qp, context, attr);
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		soft_qp_extend(&qp->verbs);
	publish(qp);
	count_users(qp, 1);
	soft_table_show(&soft_process.qps, qp->index, qp);
	soft_process_count(SOFT_KIND_QP, 1);
	return &qp->verbs.qp_base;
remove:
	soft_model_finish(qp);
	soft_send_finish(&qp->sends);
	soft_table_put_back(&soft_process.qps, qp->index);
fail:
	free(qp);
	errno = result;
	return NULL;
}

SOFT_EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	struct ibv_qp_init_attr_ex attr = {.comp_mask = IBV_QP_INIT_ATTR_PD, .pd = pd};
	struct ibv_qp *qp;

	/* The two structs share a prefix; the shorter one has padding where comp_mask is. */
	memcpy(&attr, init, offsetof(struct ibv_qp_init_attr_ex, comp_mask));
	qp = soft_qp_create_ex(pd->context, &attr);
	if (qp)
		init->cap = attr.cap;
	return qp;
}

SOFT_EXPORT struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	return soft_qp_of(qp)->verbs.wr_start ? &soft_qp_of(qp)->verbs : NULL;
}

/* All handles are one object, so they share their context. */
static int open(struct soft_qp *qp, const struct ibv_qp_open_attr *attr)
{
	/* Without handles, it is being destroyed. */
	if (!qp || !qp->handles || qp->verbs.qp_base.qp_num != attr->qp_num || !qp->xrcd ||
	    qp->xrcd->number != soft_xrc_of(attr->xrcd)->number)
		return EINVAL;
	if (attr->comp_mask & IBV_QP_OPEN_ATTR_CONTEXT &&
	    attr->qp_context != qp->verbs.qp_base.qp_context)
		return EOPNOTSUPP;
	qp->handles++;
	return 0;
}

struct ibv_qp *soft_qp_open(struct ibv_context *context, struct ibv_qp_open_attr *attr)
{
	const uint32_t needed =
		IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
	struct soft_table *qps = &soft_process.qps;
	struct soft_qp *qp;
	int result;

	if ((attr->comp_mask & needed) != needed || attr->comp_mask >= IBV_QP_OPEN_ATTR_RESERVED ||
	    attr->qp_type != IBV_QPT_XRC_RECV) {
		errno = EINVAL;
		return NULL;
	}
	pthread_mutex_lock(&qps->mutex);
	qp = soft_table_get(qps, soft_image_index(attr->qp_num));
	result = open(qp, attr);
	pthread_mutex_unlock(&qps->mutex);
	if (!result)
		return &qp->verbs.qp_base;
	errno = result;
	return NULL;
}

/* Returns whether another handle of a target of XRC remains. */
static bool close_handle(struct soft_qp *qp)
{
	uint32_t left;

	pthread_mutex_lock(&soft_process.qps.mutex);
	left = --qp->handles;
	pthread_mutex_unlock(&soft_process.qps.mutex);
	return left;
}

void soft_qp_purge(struct soft_qp *qp)
{
	/* A target of XRC has no completions: its SRQs have them, and stay. */
	if (qp->xrcd)
		return;
	soft_cq_purge(qp->send_cq, qp->verbs.qp_base.qp_num);
	if (qp->recv_cq != qp->send_cq)
		soft_cq_purge(qp->recv_cq, qp->verbs.qp_base.qp_num);
}

uint32_t soft_qp_number(const struct soft_qp *qp)
{
	return soft_process.registry.slot << SOFT_INDEX_BITS | qp->index;
}

/* Hides the queue pair from peers and waits until none of them uses it. */
static void retire(struct soft_qp *qp)
{
	soft_lock_take(&qp->lock);
	soft_queue_hold(&qp->image->queue);
	atomic_store(&qp->image->state, IBV_QPS_RESET);
	atomic_store(&qp->image->number, 0);
	soft_lock_release(&qp->image->queue.lock);
	soft_qp_await_peer(qp);
	soft_lock_release(&qp->lock);
}

SOFT_EXPORT int ibv_destroy_qp(struct ibv_qp *verbs)
{
	struct soft_qp *qp = soft_qp_of(verbs);

	/* The program must detach it first, as on hardware. */
	if (verbs->qp_type == IBV_QPT_UD && soft_multicast_is_attached(verbs->qp_num))
		return EBUSY;
	if (qp->xrcd && close_handle(qp))
		return 0;
	retire(qp);
	soft_progress_leave(qp);
	soft_table_hide(&soft_process.qps, qp->index);
	/* A peer may have failed it in the meantime, which adds it to the waiting list again. */
	soft_progress_leave(qp);
	soft_event_drop(&soft_device_context(verbs->context)->events, verbs);
	soft_event_await(&verbs->mutex, &verbs->cond, &verbs->events_completed,
			 &qp->fetched_events);
	soft_qp_purge(qp);
	soft_queue_finish(&qp->image->queue, &qp->receives);
	soft_model_finish(qp);
	soft_send_finish(&qp->sends);
	count_users(qp, UINT32_MAX); /* decrement */
	soft_process_count(SOFT_KIND_QP, -1);
	soft_mw_close_qp(qp->index);
	/*
	 * Programs create queue pairs to probe sizes. No peer ever learns of these, so reuse their
	 * numbers.
	 */
	if (qp->was_modified)
		soft_table_remove(&soft_process.qps, qp->index);
	else
		soft_table_put_back(&soft_process.qps, qp->index);
	pthread_mutex_destroy(&verbs->mutex);
	pthread_cond_destroy(&verbs->cond);
	free(qp);
	return 0;
}

void soft_qp_flush(struct soft_peer *owner, struct soft_qp_image *image)
{
	struct soft_taken receive;
	struct soft_cq_entry entry;

	soft_cq_begin(&entry);
	entry.completion.status = IBV_WC_WR_FLUSH_ERR;
	entry.completion.opcode = IBV_WC_RECV;
	entry.completion.qp_num = image->number;
	while (!image->srq && soft_queue_first(owner->arena, &image->queue, &receive)) {
		entry.completion.wr_id = receive.wr_id;
		if (!soft_queue_complete(owner, &image->queue, image->recv_cq, &entry))
			return;
	}
}

void soft_qp_fail_held(struct soft_peer *owner, uint32_t index, int event)
{
	struct soft_qp_image *image = &owner->arena->image->qp[index];
	uint32_t state = atomic_load(&image->state);

	if (state == IBV_QPS_RESET)
		return;
	/* The process that stopped it may have been killed before it finished. */
	if (state == IBV_QPS_ERR) {
		soft_qp_flush(owner, image);
		return;
	}
	atomic_store(&image->state, IBV_QPS_ERR);
	/*
	 * Either the thread that posts a receive sees the state, or this thread sees the receive.
	 */
	atomic_thread_fence(memory_order_seq_cst);
	/* Raise events before flushing: a process that resumes an unfinished flush raises none. */
	if (event != SOFT_QP_NO_EVENT)
		soft_event_leave(owner, (enum ibv_event_type)event, index);
	if (image->srq)
		soft_event_leave(owner, IBV_EVENT_QP_LAST_WQE_REACHED, index);
	soft_qp_flush(owner, image);
	soft_peer_ring(owner);
}

void soft_qp_fail(struct soft_peer *owner, uint32_t index, int event)
{
	struct soft_queue *queue = &owner->arena->image->qp[index].queue;

	soft_queue_hold(queue);
	soft_qp_fail_held(owner, index, event);
	soft_lock_release(&queue->lock);
}

void soft_qp_repair(void *object)
{
	const struct soft_qp *qp = object;

	soft_queue_hold(&qp->image->queue);
	if (atomic_load(&qp->image->state) == IBV_QPS_ERR)
		soft_qp_flush(&soft_process.self, qp->image);
	soft_lock_release(&qp->image->queue.lock);
}

void soft_qp_stop_sending(struct soft_qp *qp)
{
	soft_queue_hold(&qp->image->queue);
	if (atomic_load(&qp->image->state) == IBV_QPS_RTS)
		atomic_store(&qp->image->state, IBV_QPS_SQE);
	soft_lock_release(&qp->image->queue.lock);
}

void soft_qp_pass(void *object)
{
	struct soft_qp *qp = object;

	soft_lock_pass(&qp->lock);
	soft_queue_hold(&qp->image->queue);
	soft_lock_release(&qp->image->queue.lock);
}

void soft_qp_await_peer(struct soft_qp *qp)
{
	soft_lock_pass(&qp->image->work);
	/* The copy server may still be serving a request of a peer that was killed. */
	soft_copy_server_pass(&soft_process.copy_server);
}
