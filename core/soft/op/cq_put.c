/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/soft/op/cq.h"
#include "core/soft/op/event.h"
#include "core/soft/peer/peer.h"
#include "core/soft/peer/process.h"
#include "core/soft/time.h"

enum {
	RINGS_MAX = 16,
};

/*
 * Returns NULL if a peer corrupted the ring's location. Sets *of_size to the size that was checked.
 */
static struct soft_completion *ring_of(const struct soft_peer *owner,
				       const struct soft_cq_image *image, uint32_t *of_size)
{
	uint32_t size = soft_image_read(&image->size);
	uint64_t offset = soft_image_read_long(&image->offset);

	*of_size = size;
	if (unlikely(!size || size & (size - 1) || offset % SOFT_LINE))
		return NULL;
	return soft_arena_at(owner->arena, offset, (uint64_t)size * sizeof(struct soft_completion));
}

/*
 * Signals events that were raised but not yet signaled. Call with the lock held, so that none is
 * signaled twice.
 */
static void ring(struct soft_peer *owner, struct soft_cq_image *image)
{
	uint32_t raised = atomic_load(&image->raised);
	uint32_t count = raised - soft_image_read(&image->rung);

	/*
	 * Normally one. More only if a process was killed between raising and signaling, or stopped
	 * for so long that another took the lock over.
	 */
	if (unlikely(count > RINGS_MAX))
		count = RINGS_MAX;
	soft_peer_ring_channel(owner, image->channel, image->channel_generation, count);
	soft_image_write(&image->rung, raised);
}

/*
 * A killed peer may have written an entry without advancing the tail or raising an event, or raised
 * an event without signaling it. A spurious event is harmless.
 */
static void repair(struct soft_peer *owner, struct soft_cq_image *image,
		   const struct soft_completion *entries, uint32_t size)
{
	const struct soft_completion *last = &entries[image->tail & (size - 1)];

	if (atomic_load(&last->sequence) == image->tail + 1)
		soft_image_write(&image->tail, image->tail + 1);
	if (image->armed && image->tail != atomic_load(&image->head)) {
		atomic_fetch_add(&image->raised, 1);
		soft_image_write(&image->armed, SOFT_UNARMED);
		soft_image_write(&image->held, 0);
	}
	ring(owner, image);
}

static bool is_full(struct soft_cq_image *image, uint32_t size)
{
	if (likely(image->tail - image->head_seen < size))
		return false;
	image->head_seen = atomic_load_explicit(&image->head, memory_order_acquire);
	return image->tail - image->head_seen >= size;
}

/*
 * Writes the line of the head last. The owner polls that line and takes it back after each store,
 * so interleaved stores would make it travel more than once.
 */
static void fill(struct soft_completion *to, const struct soft_cq_entry *entry, bool is_timed)
{
	size_t head = offsetof(struct soft_completion, status);
	unsigned char *at = to->payload;

	if (entry->grh) {
		memcpy(at, entry->grh, SOFT_GRH);
		at += SOFT_GRH;
	}
	if (entry->data)
		soft_copy_gather(at, entry->data);
	memcpy((char *)to + head, (const char *)&entry->completion + head,
	       offsetof(struct soft_completion, payload) - head);
	if (is_timed && !to->time_ns)
		to->time_ns = soft_time_ns();
}

static void raise_event(struct soft_peer *owner, struct soft_cq_image *image)
{
	/* In this order: a spurious event is harmless, a lost one is not. */
	atomic_fetch_add(&image->raised, 1);
	soft_image_write(&image->armed, SOFT_UNARMED);
	soft_image_write(&image->held, 0);
	ring(owner, image);
}

/* Returns whether a moderated queue delays the event of more completions. */
static COLD bool holds_back(struct soft_peer *owner, struct soft_cq_image *image, uint32_t more)
{
	uint32_t before = soft_image_read(&image->held);

	soft_image_write(&image->held, before + more);
	if (before + more >= soft_image_read(&image->event_count))
		return false;
	if (before)
		return true;
	soft_image_write_long(&image->held_ns, soft_time_ns());
	if (soft_image_read(&image->event_period_us))
		soft_peer_ring(owner);
	return true;
}

/* Raises an event for completions of an armed queue, one of which may be solicited. */
static void notify(struct soft_peer *owner, struct soft_cq_image *image, bool is_solicited,
		   uint32_t count)
{
	if (image->armed == SOFT_ARMED_SOLICITED && !is_solicited)
		return;
	if (unlikely(soft_image_read(&image->event_count) > 1) && holds_back(owner, image, count))
		return;
	raise_event(owner, image);
}

/*
 * Clears the owed flag. Returns false if a process that took the lock over has given the receive
 * back.
 */
static ALWAYS_INLINE bool clear_owed(struct soft_queue *queue)
{
	if (unlikely(!soft_lock_is_held(&queue->lock)))
		return false;
	atomic_store_explicit(&queue->owed, 0, memory_order_relaxed);
	return true;
}

enum result {
	PUT,
	OVERRUN, /* first overrun of this queue */
	AGAIN,   /* the CQ's lock was lost */
	LOST,    /* the receive queue's lock was lost */
};

static enum result put(struct soft_peer *owner, struct soft_cq_image *image,
		       const struct soft_cq_entry *entry, bool was_taken_over)
{
	uint32_t size;
	struct soft_completion *entries = ring_of(owner, image, &size);
	struct soft_completion *to;
	uint32_t tail;

	if (!entries)
		return PUT;
	if (unlikely(was_taken_over))
		repair(owner, image, entries, size);
	if (unlikely(is_full(image, size))) {
		bool is_first = !image->is_overrun && !image->ignores_overrun;

		image->is_overrun = 1;
		return is_first ? OVERRUN : PUT;
	}
	to = &entries[image->tail & (size - 1)];
	fill(to, entry, image->is_timed);
	if (unlikely(!soft_lock_is_held(&image->lock)))
		return AGAIN;
	/* If the process is killed between the two stores, the receive is lost. */
	if (entry->queue && !clear_owed(entry->queue))
		return LOST;
	tail = image->tail + 1;
	atomic_store_explicit(&to->sequence, tail, memory_order_release);
	soft_image_write(&image->tail, tail);
	prefetch_to_write(entries[tail & (size - 1)].payload);
	if (unlikely(image->armed))
		notify(owner, image, entry->is_solicited || entry->completion.status, 1);
	return PUT;
}

uintptr_t soft_cq_coming(const struct soft_peer *owner, uint32_t number, uint32_t ahead)
{
	const struct soft_cq_image *image = &owner->arena->image->cq[number % SOFT_CQS];
	uint32_t size = soft_image_read(&image->size);
	uint32_t place = (soft_image_read(&image->tail) + ahead) & (size - 1);

	if (unlikely(size <= ahead))
		return 0;
	return (uintptr_t)owner->arena->image + soft_image_read_long(&image->offset) +
	       place * sizeof(struct soft_completion);
}

bool soft_cq_put(struct soft_peer *owner, uint32_t number, const struct soft_cq_entry *entry)
{
	struct soft_cq_image *image = &owner->arena->image->cq[number % SOFT_CQS];
	enum result result;

	do {
		bool was_taken_over = soft_lock_take(&image->lock);

		result = put(owner, image, entry, was_taken_over);
		soft_lock_release(&image->lock);
	} while (unlikely(result == AGAIN));
	if (unlikely(result == OVERRUN))
		soft_event_leave(owner, IBV_EVENT_CQ_ERR, number);
	return result != LOST;
}

void soft_cq_hold(struct soft_cq *cq)
{
	if (soft_lock_take(&cq->image->lock))
		repair(&soft_process.self, cq->image, cq->ring, cq->size);
}

void soft_cq_repair(void *object)
{
	struct soft_cq *cq = object;

	soft_cq_hold(cq);
	soft_lock_release(&cq->image->lock);
}

struct early {
	uint64_t until_ns;
	uint32_t count;
	bool is_solicited; /* or has an error */
};

/*
 * Returns when the last early completion is due, and whether any is solicited. Both the loop and
 * the wait are bounded, whatever peers wrote.
 */
static struct early find_early(const struct soft_cq *cq)
{
	uint64_t now_ns = soft_time_ns();
	uint64_t most_ns = now_ns + SOFT_CQ_EARLY_NS;
	uint32_t head = atomic_load(&cq->head);
	uint32_t count = soft_image_read(&cq->image->tail) - head;
	struct early early = {0};

	for (uint32_t i = 0; i < count && i < cq->size; i++) {
		const struct soft_completion *entry = &cq->ring[(head + i) & (cq->size - 1)];

		if (!soft_cq_is_early(entry, &now_ns))
			continue;
		if (entry->time_ns > early.until_ns)
			early.until_ns = entry->time_ns;
		early.count++;
		early.is_solicited |= entry->marks & SOFT_MARK_SOLICITED || entry->status;
	}
	if (early.until_ns > most_ns)
		early.until_ns = most_ns;
	return early;
}

void soft_cq_await_early(struct soft_cq *cq)
{
	struct soft_cq_image *image = cq->image;
	struct early early;

	soft_cq_hold(cq);
	early = find_early(cq);
	soft_lock_release(&image->lock);
	if (!early.until_ns)
		return;
	while (soft_time_ns() < early.until_ns)
		cpu_relax();
	soft_cq_hold(cq);
	if (image->armed)
		notify(&soft_process.self, image, early.is_solicited, early.count);
	soft_lock_release(&image->lock);
}

void soft_cq_moderate(struct soft_cq *cq, uint32_t count, uint32_t period_us)
{
	struct soft_cq_image *image = cq->image;

	soft_cq_hold(cq);
	soft_image_write(&image->event_count, count);
	soft_image_write(&image->event_period_us, period_us);
	if (image->armed && image->held)
		raise_event(&soft_process.self, image);
	soft_lock_release(&image->lock);
}

uint64_t soft_cq_raise_due(struct soft_cq *cq, uint64_t now_ns)
{
	struct soft_cq_image *image = cq->image;
	uint64_t period_ns;
	uint64_t due_ns = UINT64_MAX;

	soft_cq_hold(cq);
	period_ns = image->event_period_us * UINT64_C(1000);
	if (image->armed && image->held && period_ns)
		due_ns = image->held_ns + period_ns;
	if (due_ns <= now_ns) {
		raise_event(&soft_process.self, image);
		due_ns = UINT64_MAX;
	}
	soft_lock_release(&image->lock);
	return due_ns;
}
