/* SPDX-License-Identifier: MIT */
/*
 * Completion queues: a ring in the arena, into which the owner and its peers put, and
 * from which the owner takes. Who puts holds the image's lock, who takes the private
 * one. A small message travels in its completion and is copied to its memory when that
 * is taken.
 */
#ifndef CORE_SOFT_OP_CQ_H
#define CORE_SOFT_OP_CQ_H

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/soft/op/copy.h"
#include "core/soft/peer/image.h"
#include "core/soft/time.h"

struct soft_peer;

/* No completion is put so long before its time. */
#define SOFT_CQ_EARLY_NS UINT64_C(2000000)

struct soft_cq {
	struct ibv_cq_ex verbs;
	struct soft_cq *next; /* on its channel */
	struct soft_cq_image *image;
	struct soft_completion *ring;
	/* Where it is: in the image, others may have written something else. */
	uint64_t offset;
	uint32_t size;
	_Atomic uint64_t place; /* of the ring: its offset, and log2 of its size */
	struct soft_lock lock;
	uint32_t number;
	/*
	 * Which of some lines its queue pairs write where the process has several: as far as
	 * they go, each completion queue has another one. For one is what one thread drives.
	 */
	uint32_t sender;
	_Atomic uint32_t head;
	_Atomic uint32_t idle_polls; /* in a row */
	_Atomic uint32_t answered;   /* the head when a queue pair that receives here last sent */
	uint32_t fetched;            /* events of the channel */
	uint32_t fetched_events;
	_Atomic uint32_t users;
	const struct soft_completion *current; /* of ibv_start_poll */
	_Atomic bool is_resting;               /* the program looks at it, and holds the lock */
};

/* What is put: a completion, the data that travels in it, who hears of it. */
struct soft_cq_entry {
	struct soft_completion completion;
	unsigned char *grh;           /* 40 bytes in front of the data, or NULL */
	const struct soft_span *data; /* or NULL */
	struct soft_queue *queue;     /* that owes it, whose lock is held; or NULL */
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

/* An entry without data; its payload is left as it is, which is most of it. */
static inline void soft_cq_begin(struct soft_cq_entry *entry)
{
	memset(&entry->completion, 0, offsetof(struct soft_completion, payload));
	entry->grh = NULL;
	entry->data = NULL;
	entry->queue = NULL;
	entry->is_solicited = false;
}

/* It is put before its time. */
static inline void soft_cq_postpone(struct soft_cq_entry *entry, uint64_t due_ns)
{
	entry->completion.time_ns = due_ns;
	entry->completion.marks =
		(uint8_t)(SOFT_MARK_DUE | (entry->is_solicited ? SOFT_MARK_SOLICITED : 0));
}

/*
 * Whether its time is still to come. What is put far too early is not: a peer's mistake. The
 * clock is read where *now_ns is 0, and once more where it may have been long ago.
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
 * Puts into a queue of the owner's, and raises its event where that is asked for. False: the
 * lock of the queue that owed it was taken over meanwhile, and nothing is put.
 */
bool soft_cq_put(struct soft_peer *owner, uint32_t number, const struct soft_cq_entry *entry);

/*
 * Where a completion will be put, that many behind the next one; 0: nowhere. It is what another
 * process says, and may be gone by the time that it is expected: no pointer, and for what follows
 * alone, to which no address does harm.
 */
uintptr_t soft_cq_coming(const struct soft_peer *owner, uint32_t number, uint32_t ahead);

/*
 * A completion is about to be put at such a place. Its lines, that of its head and the first one of
 * its data, which the owner polls, or had last, come while it is made.
 */
static inline void soft_cq_expect(uintptr_t place)
{
	if (!place)
		return;
	prefetch_to_write((const void *)place);
	prefetch_to_write((const void *)(place + offsetof(struct soft_completion, payload)));
}

/* It was put there, unless another one's came between, and its owner waits for it. */
static inline void soft_cq_hand_over(uintptr_t place)
{
	if (!place)
		return;
	demote((const void *)place);
	demote((const void *)(place + offsetof(struct soft_completion, payload)));
}

/* Takes the lock of who puts. */
void soft_cq_hold(struct soft_cq *cq);

/* For every queue of a table, when a peer has died: the peer may have left its work half done. */
void soft_cq_mend(void *object);

/*
 * After arming: completions that are there before their time raise their event as if
 * they came now, which they do meanwhile.
 */
void soft_cq_await_early(struct soft_cq *cq);

/* Takes out what a queue pair that goes has left. */
void soft_cq_purge(struct soft_cq *cq, uint32_t qp_num);

/*
 * For every queue of a table: waits for the threads that take from it, but for no program that
 * looks at a completion.
 */
void soft_cq_pass(void *object);

/* Tells polls that hold no lock where the ring is. */
void soft_cq_set_place(struct soft_cq *cq);

/*
 * The next completion, its data where it belongs; NULL: none. Under the private lock; now_ns as
 * for soft_cq_is_early().
 */
const struct soft_completion *soft_cq_look(struct soft_cq *cq, uint64_t *now_ns);
void soft_cq_advance(struct soft_cq *cq);

/* The verbs of the context. */
int soft_cq_poll(struct ibv_cq *cq, int count, struct ibv_wc *wc);
int soft_cq_arm(struct ibv_cq *cq, int solicited_only);
struct ibv_cq_ex *soft_cq_create_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);

/* Gives an extended queue its functions. */
void soft_cq_extend(struct ibv_cq_ex *verbs);

#endif
