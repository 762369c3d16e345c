/* SPDX-License-Identifier: MIT */
#include "core/soft/op/srq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cacheline.h"
#include "core/soft/device.h"
#include "core/soft/export.h"
#include "core/soft/op/cq.h"
#include "core/soft/op/event.h"
#include "core/soft/op/pd.h"
#include "core/soft/op/receive_queue.h"
#include "core/soft/op/xrc.h"
#include "core/soft/peer/process.h"

static void init_verbs(struct soft_srq *srq, const struct ibv_srq_init_attr_ex *attr)
{
	srq->max_sge = attr->attr.max_sge;
	srq->verbs.context = attr->pd->context;
	srq->verbs.srq_context = attr->srq_context;
	srq->verbs.pd = attr->pd;
	srq->verbs.handle = srq->number;
	pthread_mutex_init(&srq->verbs.mutex, NULL);
	pthread_cond_init(&srq->verbs.cond, NULL);
	if (attr->srq_type != IBV_SRQT_XRC)
		return;
	srq->xrcd = soft_xrc_of(attr->xrcd);
	srq->cq = soft_cq_of(attr->cq);
}

static void publish(const struct soft_srq *srq)
{
	struct soft_srq_image *image = srq->image;

	image->pd = srq->verbs.pd->handle;
	image->cq = srq->cq ? srq->cq->number : 0;
	atomic_store(&image->xrcd, srq->xrcd ? srq->xrcd->number : 0);
}

static void count_users(const struct soft_srq *srq, uint32_t by)
{
	atomic_fetch_add(&soft_pd_of(srq->verbs.pd)->users, by);
	if (!srq->xrcd)
		return;
	atomic_fetch_add(&srq->xrcd->users, by);
	atomic_fetch_add(&srq->cq->users, by);
}

static struct ibv_srq *create(struct ibv_srq_init_attr_ex *attr)
{
	struct soft_srq *srq = cacheline_calloc(1, sizeof(*srq));
	int result = ENOMEM;

	if (!srq)
		goto fail;
	srq->number = soft_table_take(&soft_process.srqs);
	if (!srq->number)
		goto fail;
	srq->image = &soft_process.arena.image->srq[srq->number];
	srq->receives.known_head = &srq->known_head;
	result = soft_queue_init(&srq->image->queue, &srq->receives, &attr->attr.max_wr,
				 attr->attr.max_sge);
	if (result)
		goto remove;
	init_verbs(srq, attr);
	publish(srq);
	count_users(srq, 1);
	soft_table_show(&soft_process.srqs, srq->number, srq);
	soft_process_count(SOFT_KIND_SRQ, 1);
	return &srq->verbs;
remove:
	soft_table_remove(&soft_process.srqs, srq->number);
fail:
	free(srq);
	errno = result;
	return NULL;
}

SOFT_EXPORT struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
	struct ibv_srq_init_attr_ex attr = {
		.srq_context = init->srq_context,
		.attr = init->attr,
		.srq_type = IBV_SRQT_BASIC,
		.pd = pd,
	};
	struct ibv_srq *srq = create(&attr);

	if (srq)
		init->attr = attr.attr;
	return srq;
}

/* verbs.h calls this only for SRQs that are not basic. */
struct ibv_srq *soft_srq_create_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	const uint32_t needed = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
				IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
	int result = 0;

	if (attr->comp_mask & ~needed || attr->srq_type != IBV_SRQT_XRC)
		result = EOPNOTSUPP;
	else if (attr->comp_mask != needed || !attr->pd || !attr->xrcd || !attr->cq)
		result = EINVAL;
	if (!result)
		return create(attr);
	errno = result;
	return NULL;
}

int soft_srq_number(struct ibv_srq *srq, uint32_t *number)
{
	*number = soft_srq_of(srq)->number;
	return 0;
}

SOFT_EXPORT int ibv_modify_srq(struct ibv_srq *verbs, struct ibv_srq_attr *attr, int mask)
{
	const struct soft_srq *srq = soft_srq_of(verbs);
	struct soft_srq_image *image = srq->image;

	if (mask & ~IBV_SRQ_LIMIT)
		return mask & IBV_SRQ_MAX_WR ? EOPNOTSUPP : EINVAL;
	if (!(mask & IBV_SRQ_LIMIT))
		return 0;
	if (attr->srq_limit > srq->receives.room)
		return EINVAL;
	soft_queue_hold(&image->queue);
	atomic_store(&image->queue.limit, attr->srq_limit);
	soft_lock_release(&image->queue.lock);
	return 0;
}

SOFT_EXPORT int ibv_query_srq(struct ibv_srq *verbs, struct ibv_srq_attr *attr)
{
	const struct soft_srq *srq = soft_srq_of(verbs);

	*attr = (struct ibv_srq_attr){
		.max_wr = srq->receives.room,
		.max_sge = srq->max_sge,
		.srq_limit = atomic_load(&srq->image->queue.limit),
	};
	return 0;
}

/* From here on, requests of XRC that name the SRQ fail. None is being delivered to it any more. */
static void leave_domain(struct soft_srq *srq)
{
	soft_queue_hold(&srq->image->queue);
	atomic_store(&srq->image->xrcd, 0);
	soft_lock_release(&srq->image->queue.lock);
}

SOFT_EXPORT int ibv_destroy_srq(struct ibv_srq *verbs)
{
	struct soft_srq *srq = soft_srq_of(verbs);

	if (atomic_load(&srq->users))
		return EBUSY;
	soft_table_hide(&soft_process.srqs, srq->number);
	soft_event_drop(&soft_device_context(verbs->context)->events, verbs);
	soft_event_await(&verbs->mutex, &verbs->cond, &verbs->events_completed,
			 &srq->fetched_events);
	leave_domain(srq);
	soft_queue_finish(&srq->image->queue, &srq->receives);
	soft_process_count(SOFT_KIND_SRQ, -1);
	soft_table_remove(&soft_process.srqs, srq->number);
	count_users(srq, UINT32_MAX); /* decrement */
	pthread_mutex_destroy(&verbs->mutex);
	pthread_cond_destroy(&verbs->cond);
	free(srq);
	return 0;
}

int soft_srq_post(struct ibv_srq *verbs, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct soft_srq *srq = soft_srq_of(verbs);
	int result = 0;

	soft_lock_take(&srq->lock);
	for (; wr; wr = wr->next) {
		result = wr->num_sge > (int)srq->max_sge
				 ? EINVAL
				 : soft_queue_put(&srq->image->queue, &srq->receives, wr);
		if (result) {
			*bad = wr;
			break;
		}
	}
	soft_lock_release(&srq->lock);
	return result;
}
