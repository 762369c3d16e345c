/* SPDX-License-Identifier: MIT */
#include "core/soft/queue.h"

#include <errno.h>
#include <string.h>

#include "core/soft/device.h"
#include "core/soft/process.h"

static uint64_t bytes(const struct soft_queue *queue)
{
	return (uint64_t)queue->size * queue->stride;
}

int soft_queue_init(struct soft_queue *queue, uint32_t *count, uint32_t sges)
{
	memset(queue, 0, sizeof(*queue));
	if (*count > SOFT_WR_MAX || sges > SOFT_SGE_MAX)
		return EINVAL;
	for (queue->size = 1; queue->size < *count;)
		queue->size *= 2;
	queue->stride = (uint32_t)(sizeof(struct soft_receive) +
				   (sges ? sges : 1) * sizeof(struct ibv_sge));
	queue->offset = soft_arena_allocate(&soft_process.arena, bytes(queue));
	if (!queue->offset)
		return ENOMEM;
	*count = queue->size;
	return 0;
}

void soft_queue_finish(struct soft_queue *queue)
{
	if (queue->offset)
		soft_arena_free(&soft_process.arena, queue->offset, bytes(queue));
	queue->offset = 0;
	queue->size = 0;
}

void soft_queue_clear(struct soft_queue *queue)
{
	atomic_store(&queue->head, atomic_load(&queue->tail));
}

static struct soft_receive *at(const struct soft_arena *arena, const struct soft_queue *queue,
			       uint32_t index)
{
	uint32_t size = queue->size;
	char *ring = soft_arena_at(arena, queue->offset, bytes(queue));

	if (unlikely(!ring || !size || size & (size - 1) ||
		     queue->stride < sizeof(struct soft_receive) + sizeof(struct ibv_sge)))
		return NULL;
	return (struct soft_receive *)(void *)(ring +
					       (uint64_t)(index & (size - 1)) * queue->stride);
}

int soft_queue_put(struct soft_queue *queue, const struct ibv_recv_wr *wr)
{
	uint32_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
	struct soft_receive *receive = at(&soft_process.arena, queue, tail);
	size_t size = sizeof(*receive) + (size_t)wr->num_sge * sizeof(struct ibv_sge);

	if (wr->num_sge < 0 || size > queue->stride || !receive)
		return EINVAL;
	if (tail - atomic_load_explicit(&queue->head, memory_order_acquire) >= queue->size)
		return ENOMEM;
	receive->wr_id = wr->wr_id;
	receive->count = (uint32_t)wr->num_sge;
	receive->length = 0;
	for (int i = 0; i < wr->num_sge; i++) {
		receive->sge[i] = wr->sg_list[i];
		receive->length += wr->sg_list[i].length;
	}
	atomic_store_explicit(&queue->tail, tail + 1, memory_order_release);
	return 0;
}

const struct soft_receive *soft_queue_first(const struct soft_arena *arena,
					    struct soft_queue *queue)
{
	uint32_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);
	const struct soft_receive *receive;

	if (head == queue->tail_seen) {
		queue->tail_seen = atomic_load_explicit(&queue->tail, memory_order_acquire);
		if (head == queue->tail_seen)
			return NULL;
	}
	receive = at(arena, queue, head);
	if (unlikely(!receive || receive->count > SOFT_SGE_MAX ||
		     sizeof(*receive) + receive->count * sizeof(struct ibv_sge) > queue->stride))
		return NULL;
	return receive;
}

void soft_queue_advance(struct soft_queue *queue)
{
	atomic_store_explicit(&queue->head,
			      atomic_load_explicit(&queue->head, memory_order_relaxed) + 1,
			      memory_order_release);
}
