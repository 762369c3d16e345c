/* SPDX-License-Identifier: MIT */
#include "core/soft/op/srq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cacheline.h"
#include "core/soft/device.h"
#include "core/soft/export.h"
#include "core/soft/op/event.h"
#include "core/soft/op/pd.h"
#include "core/soft/op/receive_queue.h"
#include "core/soft/peer/process.h"

SOFT_EXPORT struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
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
	result = soft_queue_init(&srq->image->queue, &srq->receives, &init->attr.max_wr,
				 init->attr.max_sge);
	if (result)
		goto remove;
	srq->image->pd = pd->handle;
	srq->max_sge = init->attr.max_sge;
	srq->verbs.context = pd->context;
	srq->verbs.srq_context = init->srq_context;
	srq->verbs.pd = pd;
	srq->verbs.handle = srq->number;
	pthread_mutex_init(&srq->verbs.mutex, NULL);
	pthread_cond_init(&srq->verbs.cond, NULL);
	atomic_fetch_add(&soft_pd_of(pd)->users, 1);
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

/* verbs.h calls this only for SRQ types that soft0 does not support. */
struct ibv_srq *soft_srq_create_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	errno = attr->comp_mask & IBV_SRQ_INIT_ATTR_PD ? EOPNOTSUPP : EINVAL;
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

SOFT_EXPORT int ibv_destroy_srq(struct ibv_srq *verbs)
{
	struct soft_srq *srq = soft_srq_of(verbs);

	if (atomic_load(&srq->users))
		return EBUSY;
	soft_table_hide(&soft_process.srqs, srq->number);
	soft_event_drop(&soft_device_context(verbs->context)->events, verbs);
	soft_event_await(&verbs->mutex, &verbs->cond, &verbs->events_completed,
			 &srq->fetched_events);
	soft_queue_finish(&srq->image->queue, &srq->receives);
	soft_process_count(SOFT_KIND_SRQ, -1);
	soft_table_remove(&soft_process.srqs, srq->number);
	atomic_fetch_sub(&soft_pd_of(verbs->pd)->users, 1);
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
