/* SPDX-License-Identifier: MIT */
/*
 * Completion queues: a ring in the arena. The owner and its peers put completions; the owner takes
 * them. Putting requires the lock in the image, taking the private lock. The data of a small
 * message travels in its completion and is copied to its destination when the completion is taken.
 */
#ifndef CORE_SOFT_OP_CQ_H
#define CORE_SOFT_OP_CQ_H

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/soft/memory/copy.h"
#include "core/soft/peer/image.h"
#include "core/soft/time.h"

struct soft_pd;
struct soft_peer;

/* No completion is put earlier than this before it is due. */
#define SOFT_CQ_EARLY_NS UINT64_C(2000000)

struct soft_cq {
	struct ibv_cq_ex verbs;
	struct soft_cq *next; /* on its channel */
	struct soft_cq *next_moderated;
	bool is_moderated;      /* ever */
	struct soft_pd *parent; /* the parent domain that it was created in, or NULL */
	struct soft_cq_image *image;
	struct soft_completion *ring;
	/* The ring as created. Do not trust the copy in the image: peers can write it. */
	uint64_t offset;
	uint32_t size;
	_Atomic uint64_t place; /* of the ring: its offset, and log2 of its size */
	struct soft_lock lock;
	uint32_t number;
	/*
	 * Index of the per-process lines (lanes, packet counters) that this CQ's queue pairs write.
	 * Assigned evenly, so that threads with a CQ each do not share lines.
	 */
	uint32_t sender;
	_Atomic uint32_t head;
	_Atomic uint32_t idle_polls; /* empty polls in a row */
	_Atomic uint32_t answered;   /* the head when a queue pair receiving here last sent */
	uint32_t fetched;            /* events fetched from the channel */
	uint32_t fetched_events;
	_Atomic uint32_t users;
	const struct soft_completion *current; /* of ibv_start_poll */
	_Atomic bool is_resting;               /* between start_poll and end_poll, lock held */
};

/* A completion to put, the data that travels in it, and how to signal it. */
struct soft_cq_entry {
	struct soft_completion completion;
	unsigned char *grh;           /* 40 bytes in front of the data, or NULL */
	const struct soft_span *data; /* or NULL */
	struct soft_queue *queue;     /* its receive queue, whose lock is held; or NULL */
	bool is_solicited;
};

static inline struct soft_cq *soft_cq_of(struct ibv_cq *cq)
{
	return CONTAINER_OF((struct ibv_cq_ex *)(void *)cq, struct soft_cq, verbs);
}

static inline struct ibv_cq *soft_cq_verbs(struct soft_cq *cq)
{
	return ibv_cq_ex_to_cq(&cq->verbs);
}

/* Initializes an entry without data. Leaves the payload, most of its size, uninitialized. */
static inline void soft_cq_begin(struct soft_cq_entry *entry)
{
	memset(&entry->completion, 0, offsetof(struct soft_completion, payload));
	entry->grh = NULL;
	entry->data = NULL;
	entry->queue = NULL;
	entry->is_solicited = false;
}

/* Marks a completion that is put before it is due. */
static inline void soft_cq_postpone(struct soft_cq_entry *entry, uint64_t due_ns)
{
	entry->completion.time_ns = due_ns;
	entry->completion.marks =
		(uint8_t)(SOFT_MARK_DUE | (entry->is_solicited ? SOFT_MARK_SOLICITED : 0));
}

/*
 * Returns whether a completion is not due yet. One further in the future than SOFT_CQ_EARLY_NS is a
 * peer's error and counts as due. Reads the clock if *now_ns is 0, and again if *now_ns may be
 * stale.
 */
static inline bool soft_cq_is_early(const struct soft_completion *entry, uint64_t *now_ns)
{
	if (likely(!(entry->marks & SOFT_MARK_DUE)))
		return false;
	if (*now_ns && entry->time_ns - *now_ns - 1 < SOFT_CQ_EARLY_NS)
		return true;
	if (*now_ns && entry->time_ns <= *now_ns)
		return false;
	*now_ns = soft_time_ns();
	return entry->time_ns - *now_ns - 1 < SOFT_CQ_EARLY_NS;
}

/*
 * Puts a completion into a queue of the owner and raises its event if armed. Returns false, without
 * putting anything, if the lock of entry->queue was taken over in the meantime.
 */
bool soft_cq_put(struct soft_peer *owner, uint32_t number, const struct soft_cq_entry *entry);

/*
 * Predicts the address of the completion `ahead` places after the next one, or returns 0. The
 * values come from the owner's image and may be wrong or stale: use the address only for
 * soft_cq_expect() and soft_cq_hand_over(), where any address is harmless.
 */
uintptr_t soft_cq_coming(const struct soft_peer *owner, uint32_t number, uint32_t ahead);

/*
 * Prefetches the cache lines of a completion about to be put (its head and first data), which are
 * in the cache of the owner's CPU.
 */
static inline void soft_cq_expect(uintptr_t place)
{
	if (!place)
		return;
	prefetch_to_write((const void *)place);
	prefetch_to_write((const void *)(place + offsetof(struct soft_completion, payload)));
}

/* Demotes the lines of a completion just put, so that the waiting owner gets them sooner. */
static inline void soft_cq_hand_over(uintptr_t place)
{
	if (!place)
		return;
	demote((const void *)place);
	demote((const void *)(place + offsetof(struct soft_completion, payload)));
}

/* Takes the lock required to put completions. */
void soft_cq_hold(struct soft_cq *cq);

/*
 * Finishes what a killed peer left half done. Called for every queue of a table when a peer has
 * died.
 */
void soft_cq_repair(void *object);

/*
 * Call after arming. Waits until the completions put early are due, then raises the event as if
 * they had just arrived.
 */
void soft_cq_await_early(struct soft_cq *cq);

/* Sets the moderation of events, and raises one if moderation has delayed it. */
void soft_cq_moderate(struct soft_cq *cq, uint32_t count, uint32_t period_us);

/*
 * Raises the delayed event of a moderated queue if its period has passed. Returns when it will
 * have, or UINT64_MAX.
 */
uint64_t soft_cq_raise_due(struct soft_cq *cq, uint64_t now_ns);

/* Removes the completions of a queue pair that is being destroyed or reset. */
void soft_cq_purge(struct soft_cq *cq, uint32_t qp_num);

/*
 * Waits until threads that are taking completions are done, except for a program between start_poll
 * and end_poll. Called for every queue of a table.
 */
void soft_cq_pass(void *object);

/* Publishes the ring's location to polls that hold no lock. */
void soft_cq_set_place(struct soft_cq *cq);

/*
 * Returns the next completion, with its data copied to its destination, or NULL. Call with the
 * private lock held; now_ns is as for soft_cq_is_early().
 */
const struct soft_completion *soft_cq_look(struct soft_cq *cq, uint64_t *now_ns);
void soft_cq_advance(struct soft_cq *cq);

/* Verbs that the context calls by pointer. */
int soft_cq_poll(struct ibv_cq *cq, int count, struct ibv_wc *wc);
int soft_cq_arm(struct ibv_cq *cq, int solicited_only);
struct ibv_cq_ex *soft_cq_create_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);

/* Sets the functions of an extended completion queue. */
void soft_cq_extend(struct ibv_cq_ex *verbs);

#endif
