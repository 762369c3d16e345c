/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/soft/fault/fault.h"
#include "core/soft/link/progress.h"
#include "core/soft/memory/region.h"
#include "core/soft/op/cq.h"
#include "core/soft/op/receive_queue.h"
#include "core/soft/peer/process.h"
#include "core/soft/time.h"

enum {
	LOOKAHEAD = 64, /* entries that a poll examines */
};

/*
 * Copies data that traveled in a completion to its destination. The memory was registered when the
 * message was sent; if it has been deregistered since, nobody expects the data there.
 */
static void copy_carried(const struct soft_completion *entry)
{
	struct soft_reach reach = {
		.address = entry->address,
		.length = entry->carried,
		.key = entry->key,
		.access = IBV_ACCESS_LOCAL_WRITE,
	};
	uint64_t place;

	/* No data travels to memory that may vanish, or by the key of a window. */
	reach.pd = soft_process.arena.memory->region[soft_region_number(reach.key)].pd &
		   ~(SOFT_CAREFUL | SOFT_WINDOW);
	if (reach.length <= SOFT_PAYLOAD && soft_region_allows(&soft_process.arena, &reach, &place))
		memcpy((void *)(uintptr_t)place, entry->payload, (size_t)reach.length);
}

/* Does nothing for a queue pair with an SRQ: no receives are posted to its own queue. */
static void learn_head(const struct soft_cq *cq, const struct soft_completion *entry)
{
	uint32_t index = soft_image_index(soft_image_read(&entry->qp_num));
	const struct soft_qp_image *image = &soft_process.arena.image->qp[index];

	if (likely(atomic_load_explicit(&image->number, memory_order_relaxed) == entry->qp_num))
		soft_queue_learn_head(&image->queue, &soft_process.known_head[cq->sender][index],
				      entry->taken);
}

/* The size fits in the low bits because blocks are aligned to more than 32 bytes. */
void soft_cq_set_place(struct soft_cq *cq)
{
	atomic_store(&cq->place, cq->offset | (uint64_t)__builtin_ctz(cq->size));
}

static bool is_valid(const struct soft_completion *entry, uint32_t index)
{
	return atomic_load_explicit(&entry->sequence, memory_order_acquire) == index + 1;
}

/* Order must be kept among the completions of one send or receive queue. */
static bool is_of_same_queue(const struct soft_completion *one, const struct soft_completion *other)
{
	return one->qp_num == other->qp_num &&
	       !(one->opcode & IBV_WC_RECV) == !(other->opcode & IBV_WC_RECV);
}

/*
 * Finds a due completion behind an early first one, without overtaking an earlier completion of the
 * same queue. Returns its distance from the head, or 0.
 */
static COLD uint32_t find_due(const struct soft_completion *ring, uint32_t head, uint32_t mask,
			      uint64_t *now_ns)
{
	for (uint32_t i = 1; i <= mask && i < LOOKAHEAD; i++) {
		const struct soft_completion *entry = &ring[(head + i) & mask];
		uint32_t j = 0;

		if (!is_valid(entry, head + i))
			return 0;
		while (j < i && !is_of_same_queue(&ring[(head + j) & mask], entry))
			j++;
		if (j == i && !soft_cq_is_early(entry, now_ns))
			return i;
	}
	return 0;
}

/*
 * Returns whether there is nothing to take, which is the case for most polls. Takes no lock, so
 * that polling does not write to shared memory.
 */
static bool is_empty(const struct soft_cq *cq, uint64_t *now_ns)
{
	uint64_t place = atomic_load_explicit(&cq->place, memory_order_relaxed);
	uint32_t head = atomic_load_explicit(&cq->head, memory_order_relaxed);
	uint32_t mask = (UINT32_C(1) << (place & 31)) - 1;
	const char *at = (const char *)soft_process.arena.image + (place & ~UINT64_C(31));
	const struct soft_completion *ring = (const void *)at;
	const struct soft_completion *entry = &ring[head & mask];

	if (!is_valid(entry, head))
		return true;
	if (!soft_cq_is_early(entry, now_ns))
		return false;
	/* Start to fetch the data from the other core's cache. */
	__builtin_prefetch(entry->payload);
	__builtin_prefetch(entry->payload + SOFT_LINE);
	return !find_due(ring, head, mask, now_ns);
}

/* Moves the next due completion to the front. Call with the private lock held. */
static COLD bool bring_forward(struct soft_cq *cq, uint32_t head, uint64_t *now_ns)
{
	uint32_t mask = cq->size - 1;
	struct soft_completion due;
	uint32_t count;

	soft_cq_hold(cq);
	count = find_due(cq->ring, head, mask, now_ns);
	if (count) {
		due = cq->ring[(head + count) & mask];
		for (uint32_t i = count; i; i--) {
			cq->ring[(head + i) & mask] = cq->ring[(head + i - 1) & mask];
			cq->ring[(head + i) & mask].sequence = head + i + 1;
		}
		due.sequence = head + 1;
		cq->ring[head & mask] = due;
	}
	soft_lock_release(&cq->image->lock);
	return count;
}

const struct soft_completion *soft_cq_look(struct soft_cq *cq, uint64_t *now_ns)
{
	uint32_t head = atomic_load_explicit(&cq->head, memory_order_relaxed);
	struct soft_completion *entry = &cq->ring[head & (cq->size - 1)];

	if (!is_valid(entry, head) ||
	    (soft_cq_is_early(entry, now_ns) && !bring_forward(cq, head, now_ns)))
		return NULL;
	if (unlikely(soft_fault_is_planned))
		soft_fault_poll(entry);
	if (entry->carried)
		copy_carried(entry);
	if (entry->opcode & IBV_WC_RECV)
		learn_head(cq, entry);
	return entry;
}

void soft_cq_advance(struct soft_cq *cq)
{
	uint32_t head = atomic_load_explicit(&cq->head, memory_order_relaxed) + 1;

	atomic_store_explicit(&cq->head, head, memory_order_relaxed);
	atomic_store_explicit(&cq->image->head, head, memory_order_release);
}

static void to_wc(const struct soft_completion *entry, struct ibv_wc *wc)
{
	*wc = (struct ibv_wc){
		.wr_id = entry->wr_id,
		.status = entry->status,
		.opcode = entry->opcode,
		.byte_len = entry->byte_len,
		.imm_data = entry->imm,
		.qp_num = entry->qp_num,
		.src_qp = entry->src_qp,
		.wc_flags = entry->flags,
		.sl = entry->sl,
	};
}

/* Returns whether the queue may no longer be empty. */
static bool idle(struct soft_cq *cq)
{
	uint32_t polls = atomic_load_explicit(&cq->idle_polls, memory_order_relaxed) + 1;

	atomic_store_explicit(&cq->idle_polls, polls, memory_order_relaxed);
	return soft_progress_poll(polls);
}

/* Returns whether the queue is empty, even after trying due operations and yielding. */
static ALWAYS_INLINE bool stays_empty(struct soft_cq *cq, uint64_t *now_ns)
{
	return is_empty(cq, now_ns) && (likely(!idle(cq)) || is_empty(cq, now_ns));
}

int soft_cq_poll(struct ibv_cq *verbs, int count, struct ibv_wc *wc)
{
	struct soft_cq *cq = soft_cq_of(verbs);
	uint64_t now_ns = 0;
	int taken = 0;

	if (stays_empty(cq, &now_ns))
		return 0;
	soft_lock_take(&cq->lock);
	while (taken < count) {
		const struct soft_completion *entry = soft_cq_look(cq, &now_ns);

		if (!entry)
			break;
		to_wc(entry, &wc[taken++]);
		soft_cq_advance(cq);
	}
	soft_lock_release(&cq->lock);
	atomic_store_explicit(&cq->idle_polls, 0, memory_order_relaxed);
	return taken;
}

static int load(struct soft_cq *cq, uint64_t now_ns)
{
	cq->current = soft_cq_look(cq, &now_ns);
	atomic_store_explicit(&cq->is_resting, true, memory_order_release);
	if (!cq->current)
		return ENOENT;
	atomic_store_explicit(&cq->idle_polls, 0, memory_order_relaxed);
	cq->verbs.wr_id = cq->current->wr_id;
	cq->verbs.status = cq->current->status;
	return 0;
}

/* From a successful start until the end, this thread holds the queue's lock. */
static int start_poll(struct ibv_cq_ex *verbs, struct ibv_poll_cq_attr *attr)
{
	struct soft_cq *cq = CONTAINER_OF(verbs, struct soft_cq, verbs);
	uint64_t now_ns = 0;
	int result;

	if (attr && attr->comp_mask)
		return EINVAL;
	if (stays_empty(cq, &now_ns))
		return ENOENT;
	soft_lock_take(&cq->lock);
	result = load(cq, now_ns);
	if (result) {
		atomic_store_explicit(&cq->is_resting, false, memory_order_relaxed);
		soft_lock_release(&cq->lock);
	}
	return result;
}

/* On a link: see soft_flight_poll(). */
static int start_poll_on_link(struct ibv_cq_ex *verbs, struct ibv_poll_cq_attr *attr)
{
	soft_progress_polled();
	soft_progress_poll(1);
	return start_poll(verbs, attr);
}

static int next_poll(struct ibv_cq_ex *verbs)
{
	struct soft_cq *cq = CONTAINER_OF(verbs, struct soft_cq, verbs);

	/* soft_cq_pass() either sees this store, or what the program reads next is still valid. */
	atomic_exchange(&cq->is_resting, false);
	if (cq->current)
		soft_cq_advance(cq);
	return load(cq, 0);
}

static void end_poll(struct ibv_cq_ex *verbs)
{
	struct soft_cq *cq = CONTAINER_OF(verbs, struct soft_cq, verbs);

	atomic_store_explicit(&cq->is_resting, false, memory_order_relaxed);
	if (cq->current)
		soft_cq_advance(cq);
	cq->current = NULL;
	soft_lock_release(&cq->lock);
}

static const struct soft_completion *current(struct ibv_cq_ex *verbs)
{
	return CONTAINER_OF(verbs, struct soft_cq, verbs)->current;
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *cq)
{
	return current(cq)->opcode;
}

static uint32_t read_none(struct ibv_cq_ex *cq)
{
	return 0;
}

static uint32_t read_byte_len(struct ibv_cq_ex *cq)
{
	return current(cq)->byte_len;
}

static __be32 read_imm_data(struct ibv_cq_ex *cq)
{
	return current(cq)->imm;
}

static uint32_t read_qp_num(struct ibv_cq_ex *cq)
{
	return current(cq)->qp_num;
}

static uint32_t read_src_qp(struct ibv_cq_ex *cq)
{
	return current(cq)->src_qp;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *cq)
{
	return current(cq)->flags;
}

static uint8_t read_sl(struct ibv_cq_ex *cq)
{
	return current(cq)->sl;
}

static uint8_t read_path_bits(struct ibv_cq_ex *cq)
{
	return 0;
}

static uint64_t read_time(struct ibv_cq_ex *cq)
{
	return soft_time_cycles(current(cq)->time_ns);
}

/* The same moment as wall-clock time. */
static uint64_t read_wallclock(struct ibv_cq_ex *cq)
{
	struct timespec now;
	uint64_t ago_ns = soft_time_ns() - current(cq)->time_ns;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * SOFT_SECOND_NS + (uint64_t)now.tv_nsec - ago_ns;
}

void soft_cq_extend(struct ibv_cq_ex *verbs)
{
	verbs->start_poll = soft_process.link.is_on ? start_poll_on_link : start_poll;
	verbs->next_poll = next_poll;
	verbs->end_poll = end_poll;
	verbs->read_opcode = read_opcode;
	verbs->read_vendor_err = read_none;
	verbs->read_byte_len = read_byte_len;
	verbs->read_imm_data = read_imm_data;
	verbs->read_qp_num = read_qp_num;
	verbs->read_src_qp = read_src_qp;
	verbs->read_wc_flags = read_wc_flags;
	verbs->read_slid = read_none;
	verbs->read_sl = read_sl;
	verbs->read_dlid_path_bits = read_path_bits;
	verbs->read_completion_ts = read_time;
	verbs->read_completion_wallclock_ns = read_wallclock;
	soft_fault_extend_cq(verbs);
}
