/* SPDX-License-Identifier: MIT */
/*
 * Rings of receives, of a queue pair or an SRQ. The owner posts with a private lock held; processes
 * that deliver messages take receives with the queue's lock held.
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

/* The owner's private copy of the ring's location. */
struct soft_ring {
	uint64_t offset; /* 0: none */
	uint32_t size;
	uint32_t room; /* receives that may be posted; the ring has twice as many places */
	uint32_t stride;
	/*
	 * The head, as learned from completions. It never exceeds the real head, except after a
	 * receive has been given back.
	 */
	_Atomic uint32_t *known_head;
};

/* A copy of a receive, taken when it was read. */
struct soft_taken {
	uint64_t wr_id;
	uint32_t length;
	uint32_t count;
	struct ibv_sge sge[SOFT_SGE_MAX];
};

/*
 * Allocates the ring of a local queue. `ring->known_head` must be set. Returns 0 or a positive
 * errno, and sets *count to the actual size.
 */
int soft_queue_init(struct soft_queue *queue, struct soft_ring *ring, uint32_t *count,
		    uint32_t sges);
void soft_queue_finish(struct soft_queue *queue, struct soft_ring *ring);

/* Drops all posted receives. Call with the owner's lock and the queue's lock held. */
void soft_queue_clear(struct soft_queue *queue);

/* Posts a receive. Returns 0, EINVAL or ENOMEM. Call with the private lock held. */
int soft_queue_put(struct soft_queue *queue, const struct soft_ring *ring,
		   const struct ibv_recv_wr *wr);

/*
 * Updates the known head from a completion, so that posting need not read the shared one. A wrong
 * value from a peer has no more effect than it could have by writing the head.
 */
void soft_queue_learn_head(const struct soft_queue *queue, _Atomic uint32_t *known_head,
			   uint32_t taken);

/*
 * Copies the first receive. Returns false if none is posted. Works on a queue in any process's
 * arena, with the queue's lock held.
 */
bool soft_queue_first(const struct soft_arena *arena, struct soft_queue *queue,
		      struct soft_taken *taken);
/*
 * Takes the first receive and puts its completion into a queue of the same owner. If the process is
 * killed in between, the queue's `owed` flag stays set. Returns false if a process that took the
 * lock over gave the receive back.
 */
bool soft_queue_complete(struct soft_peer *owner, struct soft_queue *queue, uint32_t cq,
			 struct soft_cq_entry *entry);

/*
 * Gives back the receive whose completion is owed. Call after taking the lock over from a dead or
 * stopped process.
 */
void soft_queue_repair(struct soft_queue *queue);

/* Takes the lock. */
static ALWAYS_INLINE void soft_queue_hold(struct soft_queue *queue)
{
	if (unlikely(soft_lock_take(&queue->lock)))
		soft_queue_repair(queue);
}

static inline uint32_t soft_queue_count(const struct soft_queue *queue)
{
	return atomic_load(&queue->tail) - atomic_load(&queue->head);
}

#endif
