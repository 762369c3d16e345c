/* SPDX-License-Identifier: MIT */
#include "core/soft/op/cq.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cacheline.h"
#include "core/soft/device.h"
#include "core/soft/export.h"
#include "core/soft/link/progress.h"
#include "core/soft/op/channel.h"
#include "core/soft/op/moderation.h"
#include "core/soft/op/pd.h"
#include "core/soft/peer/process.h"
#include "core/soft/round_up.h"

#define FLAGS_SUPPORTED                                                          \
	(IBV_WC_STANDARD_FLAGS | (uint64_t)IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | \
	 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
#define CREATE_FLAGS_SUPPORTED \
	((uint32_t)(IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN))
#define TIMES                                             \
	((uint64_t)(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | \
		    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK))

static uint64_t ring_bytes(uint32_t size)
{
	return (uint64_t)size * sizeof(struct soft_completion);
}

static int soft_cq_check(const struct ibv_cq_init_attr_ex *attr)
{
	if (!attr->cqe || attr->cqe > SOFT_CQE_MAX || attr->comp_vector >= SOFT_VECTORS)
		return EINVAL;
	if (attr->wc_flags & ~FLAGS_SUPPORTED)
		return EOPNOTSUPP;
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD &&
	    (!attr->parent_domain || !soft_pd_of(attr->parent_domain)->inner))
		return EINVAL;
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS && attr->flags & ~CREATE_FLAGS_SUPPORTED)
		return EOPNOTSUPP;
	return 0;
}

static void describe(struct soft_cq *cq, const struct ibv_cq_init_attr_ex *attr, uint64_t offset)
{
	struct soft_channel *channel = attr->channel ? soft_channel_of(attr->channel) : NULL;
	uint32_t flags = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS ? attr->flags : 0;

	cq->image = &soft_process.arena.image->cq[cq->number];
	memset(cq->image, 0, sizeof(*cq->image));
	cq->offset = cq->image->offset = offset;
	cq->size = cq->image->size = soft_power_from(attr->cqe);
	cq->image->is_timed = !!(attr->wc_flags & TIMES);
	cq->image->ignores_overrun = !!(flags & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN);
	if (channel) {
		cq->image->channel = channel->number;
		cq->image->channel_generation = channel->generation;
		soft_channel_add(channel, cq);
	}
	cq->ring = soft_arena_at(&soft_process.arena, offset, ring_bytes(cq->size));
	cq->verbs.cqe = (int)cq->size;
	soft_cq_set_place(cq);
}

static _Atomic uint32_t senders[SOFT_SENDERS];

/* Returns the sender index that the fewest queues use. */
static uint32_t take_sender(void)
{
	uint32_t least = 0;

	for (uint32_t i = 1; i < SOFT_SENDERS; i++)
		if (atomic_load(&senders[i]) < atomic_load(&senders[least]))
			least = i;
	atomic_fetch_add(&senders[least], 1);
	return least;
}

struct ibv_cq_ex *soft_cq_create_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	struct soft_cq *cq = NULL;
	uint64_t offset = 0;
	int result = soft_cq_check(attr);

	if (result)
		goto fail;
	result = ENOMEM;
	cq = cacheline_calloc(1, sizeof(*cq));
	offset = soft_arena_allocate(&soft_process.arena, ring_bytes(soft_power_from(attr->cqe)));
	if (!cq || !offset)
		goto fail;
	cq->verbs.context = context;
	cq->verbs.channel = attr->channel;
	cq->verbs.cq_context = attr->cq_context;
	pthread_mutex_init(&cq->verbs.mutex, NULL);
	pthread_cond_init(&cq->verbs.cond, NULL);
	soft_cq_extend(&cq->verbs);
	cq->number = soft_table_take(&soft_process.cqs);
	if (!cq->number)
		goto fail;
	describe(cq, attr, offset);
	cq->sender = take_sender();
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) {
		cq->parent = soft_pd_of(attr->parent_domain);
		atomic_fetch_add(&cq->parent->users, 1);
	}
	soft_table_show(&soft_process.cqs, cq->number, cq);
	soft_process_count(SOFT_KIND_CQ, 1);
	return &cq->verbs;
fail:
	if (offset)
		soft_arena_free(&soft_process.arena, offset,
				ring_bytes(soft_power_from(attr->cqe)));
	free(cq);
	errno = result;
	return NULL;
}

SOFT_EXPORT struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
					 struct ibv_comp_channel *channel, int vector)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = cqe > 0 ? (uint32_t)cqe : 0,
		.cq_context = cq_context,
		.channel = channel,
		.comp_vector = (uint32_t)vector,
	};
	struct ibv_cq_ex *cq = soft_cq_create_ex(context, &attr);

	return cq ? ibv_cq_ex_to_cq(cq) : NULL;
}

SOFT_EXPORT int ibv_destroy_cq(struct ibv_cq *verbs)
{
	struct soft_cq *cq = soft_cq_of(verbs);

	if (atomic_load(&cq->users))
		return EBUSY;
	soft_moderation_remove(cq);
	if (verbs->channel)
		soft_channel_remove(soft_channel_of(verbs->channel), cq);
	soft_table_hide(&soft_process.cqs, cq->number);
	soft_event_drop(&soft_device_context(verbs->context)->events, verbs);
	soft_event_await(&verbs->mutex, &verbs->cond, &verbs->comp_events_completed, &cq->fetched);
	soft_event_await(&verbs->mutex, &verbs->cond, &verbs->async_events_completed,
			 &cq->fetched_events);
	soft_arena_free(&soft_process.arena, cq->offset, ring_bytes(cq->size));
	soft_table_remove(&soft_process.cqs, cq->number);
	atomic_fetch_sub(&senders[cq->sender], 1);
	if (cq->parent)
		atomic_fetch_sub(&cq->parent->users, 1);
	soft_process_count(SOFT_KIND_CQ, -1);
	pthread_mutex_destroy(&verbs->mutex);
	pthread_cond_destroy(&verbs->cond);
	free(cq);
	return 0;
}

/* Returns the number of entries, at most the ring's size whatever the image says. */
static uint32_t count_entries(const struct soft_cq *cq)
{
	uint32_t count = soft_image_read(&cq->image->tail) - cq->head;

	return count < cq->size ? count : cq->size;
}

/* Moves the entries to the beginning of a new ring. Call with both locks held. */
static void move(struct soft_cq *cq, uint32_t count, uint64_t offset, uint32_t size)
{
	struct soft_cq_image *image = cq->image;
	struct soft_completion *ring = soft_arena_at(&soft_process.arena, offset, ring_bytes(size));

	for (uint32_t i = 0; i < count; i++) {
		ring[i] = cq->ring[(cq->head + i) & (cq->size - 1)];
		ring[i].sequence = i + 1;
	}
	cq->ring = ring;
	cq->offset = offset;
	cq->size = size;
	soft_image_write_long(&image->offset, offset);
	soft_image_write(&image->size, size);
	soft_image_write(&image->tail, count);
	image->head_seen = 0;
	atomic_store(&cq->head, 0);
	atomic_store(&image->head, 0);
	soft_cq_set_place(cq);
	cq->verbs.cqe = (int)size;
}

SOFT_EXPORT int ibv_resize_cq(struct ibv_cq *verbs, int cqe)
{
	struct soft_cq *cq = soft_cq_of(verbs);
	uint64_t before = cq->offset;
	uint32_t size_before = cq->size;
	uint32_t size;
	uint32_t count;
	uint64_t offset;
	int result = 0;

	if (cqe <= 0 || cqe > SOFT_CQE_MAX)
		return EINVAL;
	size = soft_power_from((uint32_t)cqe);
	offset = soft_arena_allocate(&soft_process.arena, ring_bytes(size));
	if (!offset)
		return ENOMEM;
	soft_lock_take(&cq->lock);
	soft_cq_hold(cq);
	count = count_entries(cq);
	if (count > size)
		result = EINVAL;
	else
		move(cq, count, offset, size);
	soft_lock_release(&cq->image->lock);
	soft_lock_release(&cq->lock);
	if (result)
		soft_arena_free(&soft_process.arena, offset, ring_bytes(size));
	else
		soft_arena_free(&soft_process.arena, before, ring_bytes(size_before));
	return result;
}

int soft_cq_arm(struct ibv_cq *verbs, int solicited_only)
{
	struct soft_cq *cq = soft_cq_of(verbs);
	struct soft_cq_image *image = cq->image;
	uint32_t wanted = solicited_only ? SOFT_ARMED_SOLICITED : SOFT_ARMED;
	bool is_raised;
	bool is_empty;

	/* Arming for all completions includes solicited ones, so never lower the level. */
	soft_cq_hold(cq);
	is_raised = image->armed < wanted;
	if (is_raised)
		soft_image_write(&image->armed, wanted);
	is_empty = image->tail == atomic_load(&cq->head);
	soft_lock_release(&image->lock);
	/* If it was armed before, that call has counted them, or the sender has. */
	if (is_raised && !is_empty)
		soft_cq_await_early(cq);
	if (soft_process.link.is_on)
		soft_progress_sleep();
	return 0;
}

/* Keeps the order of the remaining entries and leaves no gaps. */
void soft_cq_purge(struct soft_cq *cq, uint32_t qp_num)
{
	struct soft_cq_image *image = cq->image;
	uint32_t mask = cq->size - 1;
	uint32_t end;
	uint32_t to;

	soft_lock_take(&cq->lock);
	soft_cq_hold(cq);
	to = cq->head;
	end = to + count_entries(cq);
	for (uint32_t i = to; i != end; i++) {
		struct soft_completion *from = &cq->ring[i & mask];

		if (from->qp_num == qp_num)
			continue;
		if (to != i) {
			cq->ring[to & mask] = *from;
			cq->ring[to & mask].sequence = to + 1;
		}
		to++;
	}
	for (uint32_t i = to; i != end; i++)
		cq->ring[i & mask].sequence = 0;
	soft_image_write(&image->tail, to);
	soft_lock_release(&image->lock);
	soft_lock_release(&cq->lock);
}

void soft_cq_pass(void *object)
{
	struct soft_cq *cq = object;

	while (!atomic_load(&cq->is_resting)) {
		if (soft_lock_try(&cq->lock)) {
			soft_lock_release(&cq->lock);
			return;
		}
		sched_yield();
	}
}
