/* SPDX-License-Identifier: MIT */
/*
 * Rings of receives, of a queue pair or shared. The owner puts, under a private lock;
 * whoever delivers takes, under the queue's.
 */
#ifndef CORE_SOFT_QUEUE_H
#define CORE_SOFT_QUEUE_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/soft/arena.h"
#include "core/soft/image.h"

/* A ring of this process's. 0 or a positive errno; count is what was made of it. */
int soft_queue_init(struct soft_queue *queue, uint32_t *count, uint32_t sges);
void soft_queue_finish(struct soft_queue *queue);

/* Forgets what was posted. Both locks are held. */
void soft_queue_clear(struct soft_queue *queue);

/* Posts one: 0, EINVAL, ENOMEM. Under the private lock. */
int soft_queue_put(struct soft_queue *queue, const struct ibv_recv_wr *wr);

/* The first; NULL: none. Under the queue's lock, of a queue in anybody's arena. */
const struct soft_receive *soft_queue_first(const struct soft_arena *arena,
					    struct soft_queue *queue);
void soft_queue_advance(struct soft_queue *queue);

static inline uint32_t soft_queue_count(const struct soft_queue *queue)
{
	return atomic_load(&queue->tail) - atomic_load(&queue->head);
}

#endif
