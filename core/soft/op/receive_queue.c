/* SPDX-License-Identifier: MIT */
#include "core/soft/op/receive_queue.h"

#include <errno.h>
#include <string.h>

#include "core/soft/peer/process.h"
#include "core/soft/round_up.h"

static uint64_t bytes(const struct soft_ring *ring)
{
	return (uint64_t)ring->size * ring->stride;
}

int soft_queue_init(struct soft_queue *queue, struct soft_ring *ring, uint32_t *count,
		    uint32_t sges)
{
	/* Leave the lock alone: a late process may still hold it for a moment. */
	queue->tail_seen = 0;
	queue->owed_head = 0;
	atomic_store(&queue->head, 0);
	atomic_store(&queue->psn, 0);
	atomic_store(&queue->limit, 0);
	atomic_store(&queue->owed, 0);
	atomic_store(&queue->tail, 0);
	atomic_store(ring->known_head, 0);
	if (*count > SOFT_WR_MAX || sges > SOFT_SGE_MAX)
		return EINVAL;
	ring->room = soft_power_from(*count);
	/* Twice the places, so that the next one to write is not the next one to be read. */
	ring->size = 2 * ring->room;
	ring->stride = (uint32_t)(sizeof(struct soft_receive) +
				  (sges ? sges : 1) * sizeof(struct ibv_sge));
	ring->stride = (ring->stride + SOFT_LINE - 1) & ~(SOFT_LINE - 1U);
	ring->offset = soft_arena_allocate(&soft_process.arena, bytes(ring));
	if (!ring->offset)
		return ENOMEM;
	queue->size = ring->size;
	queue->stride = ring->stride;
	queue->offset = ring->offset;
	*count = ring->room;
	return 0;
}

void soft_queue_finish(struct soft_queue *queue, struct soft_ring *ring)
{
	if (ring->offset)
		soft_arena_free(&soft_process.arena, ring->offset, bytes(ring));
	ring->offset = 0;
	queue->offset = 0;
	queue->size = 0;
}

void soft_queue_clear(struct soft_queue *queue)
{
	atomic_store(&queue->head, atomic_load(&queue->tail));
}

/* Returns the ring's memory, or NULL if its location is invalid. */
static ALWAYS_INLINE char *places_of(const struct soft_arena *arena, const struct soft_ring *ring)
{
	if (unlikely(!ring->size || ring->size & (ring->size - 1) ||
		     ring->stride < sizeof(struct soft_receive) + sizeof(struct ibv_sge) ||
		     (ring->offset | ring->stride) % _Alignof(struct soft_receive)))
		return NULL;
	return soft_arena_at(arena, ring->offset, bytes(ring));
}

static inline struct soft_receive *at(char *places, const struct soft_ring *ring, uint32_t index)
{
	return (struct soft_receive *)(void *)(places +
					       (uint64_t)(index & (ring->size - 1)) * ring->stride);
}

/* Checks the known head first, and reads the shared one only if the ring seems full. */
static bool is_full(const struct soft_queue *queue, const struct soft_ring *ring, uint32_t tail)
{
	uint32_t head = atomic_load_explicit(ring->known_head, memory_order_acquire);

	if (likely(tail - head < ring->room))
		return false;
	head = atomic_load_explicit(&queue->head, memory_order_acquire);
	atomic_store_explicit(ring->known_head, head, memory_order_relaxed);
	return tail - head >= ring->room;
}

void soft_queue_learn_head(const struct soft_queue *queue, _Atomic uint32_t *known_head,
			   uint32_t taken)
{
	uint32_t head = atomic_load_explicit(known_head, memory_order_relaxed);
	uint32_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);

	/* Ignore values older than the known head. */
	if (taken - head <= INT32_MAX && taken - head <= tail - head)
		atomic_store_explicit(known_head, taken, memory_order_release);
}

int soft_queue_put(struct soft_queue *queue, const struct soft_ring *ring,
		   const struct ibv_recv_wr *wr)
{
	uint32_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
	struct soft_receive *receive;
	char *places = places_of(&soft_process.arena, ring);
	size_t size = sizeof(*receive) + (size_t)wr->num_sge * sizeof(struct ibv_sge);
	uint64_t length = 0;

	if (wr->num_sge < 0 || size > ring->stride || !places)
		return EINVAL;
	if (is_full(queue, ring, tail))
		return ENOMEM;
	receive = at(places, ring, tail);
	receive->wr_id = wr->wr_id;
	receive->count = (uint32_t)wr->num_sge;
	for (int i = 0; i < wr->num_sge; i++) {
		receive->sge[i] = wr->sg_list[i];
		length += wr->sg_list[i].length;
	}
	/* Longer than any message. */
	receive->length = length < UINT32_MAX ? (uint32_t)length : UINT32_MAX;
	/*
	 * A sequentially consistent store: it is visible before the caller checks the queue pair's
	 * state.
	 */
	atomic_exchange(&queue->tail, tail + 1);
	prefetch_to_write(at(places, ring, tail + 1));
	return 0;
}

/* Copies a receive, since peers may still write to the original. */
static bool soft_receive_queue_take(const struct soft_receive *receive, uint32_t stride,
				    struct soft_taken *taken)
{
	taken->wr_id = receive->wr_id;
	taken->length = receive->length;
	taken->count = soft_image_read(&receive->count);
	if (taken->count > SOFT_SGE_MAX ||
	    sizeof(*receive) + taken->count * sizeof(struct ibv_sge) > stride)
		return false;
	for (uint32_t i = 0; i < taken->count; i++)
		taken->sge[i] = receive->sge[i];
	return true;
}

/* Returns whether head is before tail by no more than the ring's size. */
static bool is_within(uint32_t head, uint32_t tail, uint32_t size)
{
	return tail - head - 1 < size;
}

bool soft_queue_first(const struct soft_arena *arena, struct soft_queue *queue,
		      struct soft_taken *taken)
{
	const struct soft_ring ring = {
		.offset = soft_image_read_long(&queue->offset),
		.size = soft_image_read(&queue->size),
		.stride = soft_image_read(&queue->stride),
	};
	uint32_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);
	uint32_t tail = soft_image_read(&queue->tail_seen);
	char *places = places_of(arena, &ring);

	if (!is_within(head, tail, ring.size)) {
		tail = atomic_load_explicit(&queue->tail, memory_order_acquire);
		queue->tail_seen = tail;
		if (!is_within(head, tail, ring.size))
			return false;
	}
	if (unlikely(!places ||
		     !soft_receive_queue_take(at(places, &ring, head), ring.stride, taken)))
		return false;
	/* Prefetch the receive of the next message. */
	__builtin_prefetch(at(places, &ring, head + 1));
	return true;
}

bool soft_queue_complete(struct soft_peer *owner, struct soft_queue *queue, uint32_t cq,
			 struct soft_cq_entry *entry)
{
	uint32_t head = atomic_load_explicit(&queue->head, memory_order_relaxed) + 1;

	queue->owed_head = head;
	atomic_store_explicit(&queue->owed, 1, memory_order_release);
	atomic_store_explicit(&queue->head, head, memory_order_release);
	entry->completion.taken = head;
	entry->queue = queue;
	if (unlikely(!soft_cq_put(owner, cq, entry)))
		return false;
	/*
	 * Still set if the CQ was full. If the lock was taken over, the flag belongs to the new
	 * holder.
	 */
	if (likely(soft_lock_is_held(&queue->lock)))
		atomic_store_explicit(&queue->owed, 0, memory_order_release);
	return true;
}

/*
 * Gives the receive back: nothing was reported for it, and it is intact because the ring has twice
 * the places. Does nothing if it was not taken yet, or if the values are invalid.
 */
void soft_queue_repair(struct soft_queue *queue)
{
	uint32_t head = atomic_load(&queue->head);

	if (atomic_load(&queue->owed) && head == soft_image_read(&queue->owed_head) &&
	    is_within(head - 1, atomic_load(&queue->tail), soft_image_read(&queue->size)))
		atomic_store(&queue->head, head - 1);
	atomic_store(&queue->owed, 0);
}
