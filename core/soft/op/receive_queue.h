/* SPDX-License-Identifier: MIT */
/*
 * Rings of receives, of a queue pair or shared. The owner puts, under a private lock;
 * whoever delivers takes, under the queue's.
 */
#ifndef CORE_SOFT_OP_RECEIVE_QUEUE_H
#define CORE_SOFT_OP_RECEIVE_QUEUE_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/soft/device.h"
#include "core/soft/op/cq.h"
#include "core/soft/peer/arena.h"
#include "core/soft/peer/image.h"

/* What the owner keeps for itself of where its ring is. */
struct soft_ring {
	uint64_t offset; /* 0: none */
	uint32_t size;
	uint32_t room; /* for so many, of which the ring has twice the places */
	uint32_t stride;
	/* The head, as completions tell it: no later than it is, but for what was given back. */
	_Atomic uint32_t *heard;
};

/* A receive as it was when it was looked at. */
struct soft_taken {
	uint64_t wr_id;
	uint32_t length;
	uint32_t count;
	struct ibv_sge sge[SOFT_SGE_MAX];
};

/* A ring of this process's, heard set. 0 or a positive errno; count is what was made of it. */
int soft_queue_init(struct soft_queue *queue, struct soft_ring *ring, uint32_t *count,
		    uint32_t sges);
void soft_queue_finish(struct soft_queue *queue, struct soft_ring *ring);

/* Forgets what was posted. The owner's lock and the queue's are held. */
void soft_queue_clear(struct soft_queue *queue);

/* Posts one: 0, EINVAL, ENOMEM. Under the private lock. */
int soft_queue_put(struct soft_queue *queue, const struct soft_ring *ring,
		   const struct ibv_recv_wr *wr);

/*
 * A completion tells how far the queue was. Who posts then need not look where others write.
 * Of a peer's nonsense is believed what it could as well have done there.
 */
void soft_queue_hear(const struct soft_queue *queue, _Atomic uint32_t *heard, uint32_t taken);

/* The first; false: none. Under the queue's lock, of a queue in anybody's arena. */
bool soft_queue_first(const struct soft_arena *arena, struct soft_queue *queue,
		      struct soft_taken *taken);
/*
 * Takes the first, and puts its completion into a queue of the same owner's. Whoever is killed
 * between the two leaves it owed. False: who took the lock over has given it back.
 */
bool soft_queue_complete(struct soft_peer *owner, struct soft_queue *queue, uint32_t cq,
			 struct soft_cq_entry *entry);

/* With the lock taken over from one that is dead or stopped: what is owed is given back. */
void soft_queue_mend(struct soft_queue *queue);

/* Takes the lock. */
static ALWAYS_INLINE void soft_queue_hold(struct soft_queue *queue)
{
	if (unlikely(soft_lock_take(&queue->lock)))
		soft_queue_mend(queue);
}

static inline uint32_t soft_queue_count(const struct soft_queue *queue)
{
	return atomic_load(&queue->tail) - atomic_load(&queue->head);
}

#endif
