/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/soft/device.h"
#include "core/soft/export.h"
#include "core/soft/link/send_queue.h"
#include "core/soft/memory/region.h"
#include "core/soft/op/cq.h"
#include "core/soft/op/event.h"
#include "core/soft/op/pd.h"
#include "core/soft/op/qp.h"
#include "core/soft/op/receive_queue.h"
#include "core/soft/peer/process.h"
#include "core/soft/port.h"

enum {
	RC = 1,
	UC = 2,
	UD = 4,
	INI = 8,  /* IBV_QPT_XRC_SEND */
	TGT = 16, /* IBV_QPT_XRC_RECV */
	DCI = 32,
	DCT = 64,
	SRD = 128,
	CONNECTED = RC | UC | INI | TGT,
	ALL = CONNECTED | UD | SRD,
	PATHS = IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE,
};

enum {
	SRD_TIMEOUT = 10, /* 4 ms */
	SRD_RETRIES = 7,
};

/* IBTA specification, 11.2.5.2: required and optional attributes of each transition. */
static const struct transition {
	enum ibv_qp_state from;
	enum ibv_qp_state to;
	int types;
	int needed;
	int allowed;
} transitions[] = {
	{IBV_QPS_RESET, IBV_QPS_INIT, CONNECTED,
	 IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,                                         0                                                        },
	{IBV_QPS_RESET, IBV_QPS_INIT, UD | SRD,  IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY,         0                                                        },
	{IBV_QPS_RESET, IBV_QPS_INIT, DCI,       IBV_QP_PKEY_INDEX | IBV_QP_PORT,                       0                                                        },
	{IBV_QPS_RESET, IBV_QPS_INIT, DCT,       IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
	 0																		       },
	{IBV_QPS_INIT,  IBV_QPS_INIT, CONNECTED, 0,
	 IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS												   },
	{IBV_QPS_INIT,  IBV_QPS_INIT, UD | SRD,  0,						     IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY            },
	{IBV_QPS_INIT,  IBV_QPS_RTR,  RC,
	 IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
		 IBV_QP_MIN_RNR_TIMER,								  IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH},
	{IBV_QPS_INIT,  IBV_QPS_RTR,  UC | INI,
	 IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
	 IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH											       },
	{IBV_QPS_INIT,  IBV_QPS_RTR,  UD | SRD,  0,						     IBV_QP_PKEY_INDEX | IBV_QP_QKEY                          },
 /* Linux, mlx5_ib: modify_dci_qp_is_ok and mlx5_ib_modify_dct. */
	{IBV_QPS_INIT,  IBV_QPS_RTR,  DCI,       IBV_QP_PATH_MTU,                                       IBV_QP_AV | IBV_QP_PKEY_INDEX                            },
	{IBV_QPS_INIT,  IBV_QPS_RTR,  DCT,       IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_MIN_RNR_TIMER,    0                                                        },
	{IBV_QPS_RTR,   IBV_QPS_RTS,  DCI,
	 IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		 IBV_QP_MAX_QP_RD_ATOMIC,							       IBV_QP_MIN_RNR_TIMER				     },
	{IBV_QPS_RTR,   IBV_QPS_RTS,  RC,
	 IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		 IBV_QP_MAX_QP_RD_ATOMIC,							       IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | PATHS       },
	{IBV_QPS_INIT,  IBV_QPS_RTR,  TGT,
	 IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
		 IBV_QP_MIN_RNR_TIMER,								  IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH},
	{IBV_QPS_RTR,   IBV_QPS_RTS,  INI,
	 IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		 IBV_QP_MAX_QP_RD_ATOMIC,							       IBV_QP_ACCESS_FLAGS | PATHS                              },
	{IBV_QPS_RTR,   IBV_QPS_RTS,  TGT,       IBV_QP_TIMEOUT | IBV_QP_SQ_PSN,
	 IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | PATHS												      },
	{IBV_QPS_RTR,   IBV_QPS_RTS,  UC,        IBV_QP_SQ_PSN,                                         IBV_QP_ACCESS_FLAGS | PATHS                              },
	{IBV_QPS_RTR,   IBV_QPS_RTS,  UD,        IBV_QP_SQ_PSN,                                         IBV_QP_QKEY                                              },
	{IBV_QPS_RTS,   IBV_QPS_RTS,  RC | TGT,  0,						     IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | PATHS       },
	{IBV_QPS_RTS,   IBV_QPS_RTS,  UC | INI,  0,						     IBV_QP_ACCESS_FLAGS | PATHS                              },
	{IBV_QPS_RTS,   IBV_QPS_RTS,  UD | SRD,  0,						     IBV_QP_QKEY                                              },
	{IBV_QPS_RTS,   IBV_QPS_SQD,  ALL,       0,						     IBV_QP_EN_SQD_ASYNC_NOTIFY                               },
	{IBV_QPS_SQD,   IBV_QPS_RTS,  RC | TGT,  0,						     IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | PATHS       },
	{IBV_QPS_SQD,   IBV_QPS_RTS,  UC | INI,  0,						     IBV_QP_ACCESS_FLAGS | PATHS                              },
	{IBV_QPS_SQD,   IBV_QPS_RTS,  UD | SRD,  0,						     IBV_QP_QKEY                                              },
	{IBV_QPS_SQD,   IBV_QPS_SQD,  RC,        0,
	 IBV_QP_PKEY_INDEX | IBV_QP_AV | IBV_QP_ACCESS_FLAGS | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
		 IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC |
		 IBV_QP_MIN_RNR_TIMER | PATHS														    },
	{IBV_QPS_SQD,   IBV_QPS_SQD,  INI,       0,
	 IBV_QP_PKEY_INDEX | IBV_QP_AV | IBV_QP_ACCESS_FLAGS | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
		 IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC | PATHS											      },
	{IBV_QPS_SQD,   IBV_QPS_SQD,  TGT,       0,
	 IBV_QP_PKEY_INDEX | IBV_QP_AV | IBV_QP_ACCESS_FLAGS | IBV_QP_TIMEOUT |
		 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER | PATHS											},
	{IBV_QPS_SQD,   IBV_QPS_SQD,  UC,        0,
	 IBV_QP_PKEY_INDEX | IBV_QP_AV | IBV_QP_ACCESS_FLAGS | PATHS											     },
	{IBV_QPS_SQD,   IBV_QPS_SQD,  UD | SRD,  0,						     IBV_QP_PKEY_INDEX | IBV_QP_QKEY                          },
	{IBV_QPS_SQE,   IBV_QPS_RTS,  UC,        0,						     IBV_QP_ACCESS_FLAGS                                      },
	{IBV_QPS_SQE,   IBV_QPS_RTS,  UD | SRD,  0,						     IBV_QP_QKEY                                              },
	{IBV_QPS_RTR,   IBV_QPS_RTS,  SRD,       IBV_QP_SQ_PSN,                                         IBV_QP_QKEY | IBV_QP_RNR_RETRY                           },
};

static int type_of(const struct soft_qp *qp)
{
	switch (qp->type) {
	case IBV_QPT_RC:
		return RC;
	case IBV_QPT_UC:
		return UC;
	case IBV_QPT_XRC_SEND:
		return INI;
	case IBV_QPT_XRC_RECV:
		return TGT;
	case SOFT_QPT_DCI:
		return DCI;
	case SOFT_QPT_DCT:
		return DCT;
	case SOFT_QPT_SRD:
		return SRD;
	default:
		return UD;
	}
}

/* A queue pair of XRC has one direction. Ignores attributes of the other one, like the kernel. */
static int mask_of(const struct soft_qp *qp, int mask)
{
	switch (type_of(qp)) {
	case INI:
		return mask & ~(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	case TGT:
		return mask & ~(IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY);
	default:
		return mask;
	}
}

static int check_mask(const struct soft_qp *qp, enum ibv_qp_state from, enum ibv_qp_state to,
		      int mask)
{
	int given = mask & ~(IBV_QP_STATE | IBV_QP_CUR_STATE);

	if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
		return given || (from == IBV_QPS_RESET && to == IBV_QPS_ERR) ? EINVAL : 0;
	for (size_t i = 0; i < ARRAY_LENGTH(transitions); i++) {
		const struct transition *one = &transitions[i];

		if (one->from != from || one->to != to || !(one->types & type_of(qp)))
			continue;
		if ((given & one->needed) != one->needed)
			return EINVAL;
		return given & ~(one->needed | one->allowed) ? EINVAL : 0;
	}
	return EINVAL;
}

static int check_values(const struct ibv_qp_attr *attr, int mask)
{
	if (mask & IBV_QP_PORT && attr->port_num != SOFT_PORT)
		return EINVAL;
	if (mask & IBV_QP_PKEY_INDEX && attr->pkey_index >= SOFT_PKEYS)
		return EINVAL;
	if (mask & IBV_QP_ACCESS_FLAGS && attr->qp_access_flags & ~SOFT_ACCESS_KNOWN)
		return EINVAL;
	if (mask & IBV_QP_AV && soft_pd_check_address(&attr->ah_attr))
		return EINVAL;
	if (mask & IBV_QP_PATH_MTU && (attr->path_mtu < IBV_MTU_256 || attr->path_mtu > SOFT_MTU))
		return EINVAL;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > SOFT_RD_ATOMIC_MAX)
		return EINVAL;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC && attr->max_dest_rd_atomic > SOFT_RD_ATOMIC_MAX)
		return EINVAL;
	if (mask & IBV_QP_MIN_RNR_TIMER && attr->min_rnr_timer > 31)
		return EINVAL;
	if (mask & IBV_QP_TIMEOUT && attr->timeout > 31)
		return EINVAL;
	if (mask & IBV_QP_RETRY_CNT && attr->retry_cnt > 7)
		return EINVAL;
	if (mask & IBV_QP_RNR_RETRY && attr->rnr_retry > 7)
		return EINVAL;
	return mask & (IBV_QP_ALT_PATH | IBV_QP_CAP | IBV_QP_RATE_LIMIT) ? EOPNOTSUPP : 0;
}

/*
 * If the kernel denies access to the peer's memory and the peer has no copy server, no operation
 * could work, so refuse to connect. A peer that does not exist is no error: it may come later.
 */
static int check_peer(const struct ibv_qp_attr *attr, int mask)
{
	const struct soft_peer *peer;

	if (!(mask & IBV_QP_DEST_QPN))
		return 0;
	peer = soft_peer_find(soft_image_slot(attr->dest_qp_num));
	return peer ? -peer->copy_error : 0;
}

#define VALUE(flag, member)                                       \
	{                                                         \
		flag, offsetof(struct ibv_qp_attr, member),       \
			sizeof(((struct ibv_qp_attr *)0)->member) \
	}

static const struct value {
	int flag;
	size_t offset;
	size_t size;
} values[] = {
	VALUE(IBV_QP_PKEY_INDEX, pkey_index),
	VALUE(IBV_QP_PORT, port_num),
	VALUE(IBV_QP_QKEY, qkey),
	VALUE(IBV_QP_AV, ah_attr),
	VALUE(IBV_QP_PATH_MTU, path_mtu),
	VALUE(IBV_QP_TIMEOUT, timeout),
	VALUE(IBV_QP_RETRY_CNT, retry_cnt),
	VALUE(IBV_QP_RNR_RETRY, rnr_retry),
	VALUE(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic),
	VALUE(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic),
	VALUE(IBV_QP_MIN_RNR_TIMER, min_rnr_timer),
	VALUE(IBV_QP_DEST_QPN, dest_qp_num),
	VALUE(IBV_QP_ACCESS_FLAGS, qp_access_flags),
	VALUE(IBV_QP_PATH_MIG_STATE, path_mig_state),
};

/* Chooses what programs cannot set, or did not. */
static void choose_values(struct soft_qp *qp, int mask)
{
	if (qp->type < IBV_QPT_DRIVER)
		return;
	qp->attr.max_dest_rd_atomic = SOFT_RD_ATOMIC_MAX;
	if (qp->type != SOFT_QPT_SRD)
		return;
	qp->attr.max_rd_atomic = SOFT_RD_ATOMIC_MAX;
	qp->attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	qp->attr.min_rnr_timer = 1;
	qp->attr.timeout = SRD_TIMEOUT;
	qp->attr.retry_cnt = SRD_RETRIES;
	if (mask & IBV_QP_QKEY && !(mask & IBV_QP_RNR_RETRY))
		qp->attr.rnr_retry = SOFT_SEND_FOR_EVER;
}

static void take_values(struct soft_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	for (size_t i = 0; i < ARRAY_LENGTH(values); i++)
		if (mask & values[i].flag)
			memcpy((char *)&qp->attr + values[i].offset,
			       (const char *)attr + values[i].offset, values[i].size);
	if (mask & IBV_QP_SQ_PSN)
		qp->attr.sq_psn = attr->sq_psn & 0xffffff;
	if (mask & IBV_QP_RQ_PSN)
		atomic_store(&qp->image->queue.psn, attr->rq_psn & 0xffffff);
	choose_values(qp, mask);
}

static void publish(struct soft_qp *qp)
{
	atomic_store(&qp->image->peer, qp->attr.dest_qp_num);
	atomic_store(&qp->image->access, qp->attr.qp_access_flags);
	atomic_store(&qp->image->qkey, qp->attr.qkey);
	atomic_store(&qp->image->pkey_index, qp->attr.pkey_index);
	atomic_store(&qp->image->min_rnr_timer, qp->attr.min_rnr_timer);
	atomic_store(&qp->image->max_dest_rd_atomic, qp->attr.max_dest_rd_atomic);
}

/* Resets to the initial state, with nothing posted. */
static void reset(struct soft_qp *qp)
{
	memset(&qp->attr, 0, sizeof(qp->attr));
	qp->sends.head = qp->sends.tail;
	qp->sends.unanswered = qp->sends.rnr_naks = 0;
	qp->wait_until_ns = 0;
	atomic_store_explicit(&qp->coming, 0, memory_order_relaxed);
	soft_model_reset(qp);
	soft_model_limit(qp, 0);
	soft_lock_take(&qp->receive_lock);
	soft_queue_hold(&qp->image->queue);
	soft_queue_clear(&qp->image->queue);
	soft_lock_release(&qp->image->queue.lock);
	soft_lock_release(&qp->receive_lock);
	publish(qp);
}

/*
 * Fails if a peer has put the queue pair into the error state in the meantime, which only a reset
 * undoes.
 */
static int change(struct soft_qp *qp, enum ibv_qp_state from, enum ibv_qp_state to)
{
	int result = 0;

	soft_queue_hold(&qp->image->queue);
	if (to != IBV_QPS_RESET && atomic_load(&qp->image->state) != from)
		result = EINVAL;
	else
		atomic_store(&qp->image->state, to);
	soft_lock_release(&qp->image->queue.lock);
	return result;
}

static int enter(struct soft_qp *qp, enum ibv_qp_state from, enum ibv_qp_state to)
{
	int result = 0;

	if (to == IBV_QPS_ERR)
		soft_qp_fail(&soft_process.self, qp->index, SOFT_QP_NO_EVENT);
	else
		result = change(qp, from, to);
	if (to == IBV_QPS_RESET)
		reset(qp);
	return result;
}

/* Without a link, nothing stays in flight, so the queue is drained at once. */
static void report_drained(struct soft_qp *qp)
{
	qp->reports_drained = true;
	if (!soft_flight_has_outstanding(qp))
		soft_send_drained(qp);
}

static int modify(struct soft_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	enum ibv_qp_state from = atomic_load(&qp->image->state);
	enum ibv_qp_state to = mask & IBV_QP_STATE ? attr->qp_state : from;
	int result = 0;

	if (mask & IBV_QP_CUR_STATE && attr->cur_qp_state != from)
		result = EINVAL;
	if (!result)
		result = check_mask(qp, from, to, mask);
	if (!result)
		result = check_values(attr, mask);
	if (!result)
		result = check_peer(attr, mask);
	if (result)
		return result;
	take_values(qp, attr, mask);
	publish(qp);
	if (to != from)
		result = enter(qp, from, to);
	if (result)
		return result;
	/* A DC target gets its number only now. */
	if (to == IBV_QPS_RTR)
		qp->verbs.qp_base.qp_num = soft_qp_number(qp);
	if (to == IBV_QPS_SQD && mask & IBV_QP_EN_SQD_ASYNC_NOTIFY && attr->en_sqd_async_notify)
		report_drained(qp);
	if (to == IBV_QPS_ERR || to == IBV_QPS_RESET)
		soft_qp_await_peer(qp);
	qp->verbs.qp_base.state = to;
	soft_send_run(qp);
	return 0;
}

SOFT_EXPORT int ibv_modify_qp(struct ibv_qp *verbs, struct ibv_qp_attr *attr, int mask)
{
	struct soft_qp *qp = soft_qp_of(verbs);
	int result;

	soft_lock_take(&qp->lock);
	qp->was_modified = true;
	result = modify(qp, attr, mask_of(qp, mask));
	soft_lock_release(&qp->lock);
	/* Without the lock: a thread that holds a completion queue's lock may wait for it. */
	if (!result && mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET)
		soft_qp_purge(qp);
	return result;
}

SOFT_EXPORT int ibv_query_qp(struct ibv_qp *verbs, struct ibv_qp_attr *attr, int mask,
			     struct ibv_qp_init_attr *init)
{
	struct soft_qp *qp = soft_qp_of(verbs);

	soft_lock_take(&qp->lock);
	*attr = qp->attr;
	attr->qp_state = atomic_load(&qp->image->state);
	attr->cur_qp_state = attr->qp_state;
	attr->rq_psn = atomic_load(&qp->image->queue.psn);
	attr->cap = qp->cap;
	soft_lock_release(&qp->lock);
	verbs->state = attr->qp_state;
	*init = (struct ibv_qp_init_attr){
		.qp_context = verbs->qp_context,
		.send_cq = verbs->send_cq,
		.recv_cq = verbs->recv_cq,
		.srq = verbs->srq,
		.cap = qp->cap,
		.qp_type = verbs->qp_type,
		.sq_sig_all = qp->is_all_signaled,
	};
	return 0;
}

SOFT_EXPORT int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode opcode,
					   uint32_t flags)
{
	return 0;
}

int soft_qp_limit_rate(struct ibv_qp *verbs, struct ibv_qp_rate_limit_attr *attr)
{
	struct soft_qp *qp = soft_qp_of(verbs);
	int result = EINVAL;

	if (attr->comp_mask || attr->max_burst_sz || attr->rate_limit > SOFT_QP_RATE_MAX)
		return EINVAL;
	soft_lock_take(&qp->lock);
	if (atomic_load(&qp->image->state) == IBV_QPS_RTS)
		result = soft_model_limit(qp, attr->rate_limit);
	soft_lock_release(&qp->lock);
	return result;
}
