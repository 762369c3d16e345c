/* SPDX-License-Identifier: MIT */
#include "core/soft/op/deliver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/soft/memory/mw.h"
#include "core/soft/memory/region.h"
#include "core/soft/op/cq.h"
#include "core/soft/op/event.h"
#include "core/soft/op/grh.h"
#include "core/soft/op/qp.h"
#include "core/soft/op/receive_queue.h"
#include "core/soft/peer/process.h"
#include "core/soft/port.h"

enum {
	AHEAD = 4, /* prefetch this many completions ahead: the target polls the next one */
};

/* A message to be delivered into a receive. */
struct delivery {
	struct soft_qp *qp;
	const struct soft_target *target;
	struct soft_operation *operation;
	const struct soft_span *data;
	struct soft_queue *queue;
	struct soft_srq_image *srq; /* NULL: the queue pair's own queue */
	struct soft_taken *receive;
	uint64_t length; /* including the GRH */
	unsigned char grh[SOFT_GRH];
	bool has_grh;
};

static bool is_write(const struct delivery *delivery)
{
	return delivery->operation->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static ALWAYS_INLINE void describe(const struct delivery *delivery, struct soft_cq_entry *entry)
{
	const struct soft_operation *operation = delivery->operation;
	struct soft_completion *completion = &entry->completion;

	soft_cq_begin(entry);
	completion->wr_id = delivery->receive->wr_id;
	completion->opcode = is_write(delivery) ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
	completion->byte_len = (uint32_t)delivery->length;
	completion->qp_num =
		atomic_load_explicit(&delivery->target->qp->number, memory_order_relaxed);
	completion->src_qp = delivery->qp->verbs.qp_base.qp_num;
	if (delivery->has_grh) {
		completion->flags |= IBV_WC_GRH;
		completion->sl = soft_grh_level(delivery->grh);
	}
	if (is_write(delivery) || operation->opcode == IBV_WR_SEND_WITH_IMM) {
		completion->flags |= IBV_WC_WITH_IMM;
		completion->imm = operation->imm;
	} else if (operation->opcode == IBV_WR_SEND_WITH_INV) {
		completion->flags |= IBV_WC_WITH_INV;
		completion->imm = operation->imm;
	}
	entry->is_solicited = operation->flags & IBV_SEND_SOLICITED;
	entry->completion.time_ns = delivery->qp->arrives_ns;
	if (unlikely(delivery->qp->is_early))
		soft_cq_postpone(entry, delivery->qp->arrives_ns);
}

/*
 * Uses the receive up, successfully or with an error. Returns false if a process that took the lock
 * over may have the receive now.
 */
static ALWAYS_INLINE bool consume(const struct delivery *delivery, struct soft_cq_entry *entry)
{
	struct soft_peer *peer = delivery->target->peer;
	struct soft_queue *queue = delivery->queue;
	uint32_t limit = atomic_load_explicit(&queue->limit, memory_order_relaxed);

	if (unlikely(!soft_lock_is_held(&queue->lock) ||
		     !soft_lock_is_held(&delivery->target->qp->queue.lock)))
		return false;
	if (unlikely(!soft_queue_complete(peer, queue, soft_target_cq(delivery->target), entry)))
		return false;
	if (delivery->srq && limit && soft_queue_count(queue) < limit) {
		atomic_store(&queue->limit, 0);
		soft_event_leave(peer, IBV_EVENT_SRQ_LIMIT_REACHED,
				 (uint32_t)(delivery->srq - peer->arena->image->srq));
	}
	return true;
}

/* Completes the receive with an error (`remote`) and returns `local` for the initiator. */
static COLD enum soft_outcome complete_with_error(const struct delivery *delivery,
						  enum ibv_wc_status remote,
						  enum ibv_wc_status local)
{
	struct soft_cq_entry entry;

	if (!soft_qp_is_reliable(delivery->qp))
		return SOFT_DONE;
	describe(delivery, &entry);
	entry.completion.status = (uint8_t)remote;
	return consume(delivery, &entry) ? (enum soft_outcome)local : SOFT_SILENT;
}

/*
 * Returns whether the data travels in the completion: it is small, and goes to one piece of memory.
 */
static bool fits_completion(const struct delivery *delivery, const struct soft_span *remote)
{
	return delivery->operation->length <= SOFT_SMALL && remote->count <= 1;
}

static void attach_data(const struct delivery *delivery, struct soft_cq_entry *entry)
{
	const struct soft_taken *receive = delivery->receive;
	uint32_t i = 0;

	if (!delivery->length)
		return;
	while (!receive->sge[i].length)
		i++;
	entry->completion.address = receive->sge[i].addr;
	entry->completion.key = receive->sge[i].lkey;
	entry->completion.carried = (uint32_t)delivery->length;
	entry->data = delivery->data;
	if (delivery->has_grh)
		entry->grh = (unsigned char *)(uintptr_t)delivery->grh;
}

static ALWAYS_INLINE int copy_whole(const struct delivery *delivery, const struct soft_span *remote)
{
	struct soft_span with_grh;

	if (!delivery->has_grh)
		return soft_copy_to(delivery->target->peer, remote, delivery->data);
	with_grh.length = delivery->length;
	with_grh.count = delivery->data->count + 1;
	with_grh.piece[0] = (struct iovec){(void *)(uintptr_t)delivery->grh, SOFT_GRH};
	memcpy(&with_grh.piece[1], delivery->data->piece,
	       delivery->data->count * sizeof(with_grh.piece[0]));
	return soft_copy_to(delivery->target->peer, remote, &with_grh);
}

/*
 * Copies. If there is one piece, a lane holds it, and `way` says how to reach it. More pieces would
 * need several lanes at once, which could deadlock.
 */
static ALWAYS_INLINE int copy(const struct delivery *delivery, struct soft_span *remote,
			      enum soft_way way)
{
	_Atomic uint32_t *lane = NULL;
	int result;

	if (remote->count == 1) {
		lane = soft_region_hold(delivery->target->peer->arena, delivery->target->sender,
					remote->key[0]);
		if (!lane)
			return -EFAULT;
		remote->way = way;
	}
	result = copy_whole(delivery, remote);
	if (lane)
		soft_region_leave(lane);
	return result;
}

static int copy_piece(const struct delivery *delivery, const struct soft_span *remote,
		      unsigned int i, unsigned char *from)
{
	const struct soft_target *target = delivery->target;
	size_t size = remote->piece[i].iov_len;
	const struct soft_span local = {.length = size, .count = 1, .piece = {{from, size}}};
	const struct soft_span piece = {
		.length = size,
		.count = 1,
		.piece = {remote->piece[i]},
		.qp = remote->qp,
		.srq = remote->srq,
		.access = remote->access,
		.key = {remote->key[i]},
		.way = remote->way == SOFT_BY_KERNEL ? SOFT_BY_KERNEL : SOFT_HELD,
	};
	_Atomic uint32_t *lane =
		soft_region_hold(target->peer->arena, target->sender, remote->key[i]);
	int result = lane ? soft_copy_to(target->peer, &piece, &local) : -EFAULT;

	if (lane)
		soft_region_leave(lane);
	return result;
}

/*
 * Copies again after a copy has failed: the kernel may be unable to copy memory of a dma-buf, which
 * this process can only map, one piece at a time. Local memory that is missing is the cause as well.
 */
static COLD enum soft_outcome copy_in_pieces(const struct delivery *delivery,
					     const struct soft_span *remote)
{
	unsigned char *whole = malloc(delivery->length);
	size_t head = delivery->has_grh ? SOFT_GRH : 0;
	size_t size = delivery->length - head;
	const struct soft_span payload = {
		.length = size, .count = 1, .piece = {{whole + head, size}}};
	unsigned char *from = whole;
	int result = whole ? 0 : -EFAULT;

	if (whole) {
		memcpy(whole, delivery->grh, head);
		if (soft_copy_carefully(&payload, delivery->data)) {
			free(whole);
			return (enum soft_outcome)IBV_WC_LOC_PROT_ERR;
		}
	}
	for (unsigned int i = 0; i < remote->count && !result; i++) {
		result = copy_piece(delivery, remote, i, from);
		from += remote->piece[i].iov_len;
	}
	free(whole);
	return soft_execute_copied(result);
}

/* Copies the data and completes the receive. */
static ALWAYS_INLINE enum soft_outcome deliver_copy(const struct delivery *delivery,
						    struct soft_span *remote, enum soft_way way,
						    struct soft_cq_entry *entry)
{
	enum soft_outcome outcome = soft_execute_copied(copy(delivery, remote, way));

	if (outcome == SOFT_SILENT)
		return outcome;
	if (unlikely(outcome)) {
		outcome = copy_in_pieces(delivery, remote);
		if (outcome == SOFT_SILENT || outcome == (enum soft_outcome)IBV_WC_LOC_PROT_ERR)
			return outcome;
		if (outcome)
			return complete_with_error(delivery, IBV_WC_LOC_PROT_ERR,
						   IBV_WC_REM_OP_ERR);
	}
	return consume(delivery, entry) ? SOFT_DONE : SOFT_SILENT;
}

/* Delivers to memory that ordinary accesses do not reach, unless it is not allowed at all. */
static COLD enum soft_outcome deliver_carefully(const struct delivery *delivery,
						const struct soft_reach *wanted)
{
	const struct soft_target *target = delivery->target;
	struct soft_cq_entry entry;
	struct soft_span remote;

	if (!soft_region_span_carefully(target->peer->arena, delivery->receive->sge,
					delivery->receive->count, wanted, &remote) ||
	    remote.length != delivery->length)
		return complete_with_error(delivery, IBV_WC_LOC_PROT_ERR, IBV_WC_REM_OP_ERR);
	remote.qp = target->index;
	remote.srq = target->srq;
	describe(delivery, &entry);
	return deliver_copy(delivery, &remote, SOFT_BY_KERNEL, &entry);
}

static enum soft_outcome deliver_data(const struct delivery *delivery)
{
	const struct soft_target *target = delivery->target;
	struct soft_reach wanted = {
		.length = delivery->length,
		.pd = delivery->srq ? delivery->srq->pd : target->qp->pd,
		.access = IBV_ACCESS_LOCAL_WRITE,
	};
	struct soft_cq_entry entry;
	struct soft_span remote;

	if (delivery->length > delivery->receive->length)
		return complete_with_error(delivery, IBV_WC_LOC_LEN_ERR, IBV_WC_REM_INV_REQ_ERR);
	if (!soft_region_span(target->peer->arena, delivery->receive->sge, delivery->receive->count,
			      &wanted, &remote) ||
	    remote.length != delivery->length)
		return deliver_carefully(delivery, &wanted);
	remote.qp = target->index;
	remote.srq = target->srq;
	describe(delivery, &entry);
	if (!fits_completion(delivery, &remote))
		return deliver_copy(delivery, &remote, SOFT_HELD, &entry);
	attach_data(delivery, &entry);
	return consume(delivery, &entry) ? SOFT_DONE : SOFT_SILENT;
}

/* The key becomes invalid before the program can see the completion. */
static enum soft_outcome deliver_send(const struct delivery *delivery)
{
	uint32_t key = delivery->operation->imm;

	if (delivery->operation->opcode != IBV_WR_SEND_WITH_INV)
		return deliver_data(delivery);
	if (!soft_mw_may_revoke(delivery->target, key))
		return complete_with_error(delivery, IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_ACCESS_ERR);
	soft_mw_revoke(delivery->target, key);
	return deliver_data(delivery);
}

static enum soft_outcome deliver_write(const struct delivery *delivery)
{
	struct soft_cq_entry entry;
	enum soft_outcome outcome =
		soft_execute_write(delivery->target, delivery->operation, delivery->data);

	if (outcome)
		return outcome;
	describe(delivery, &entry);
	return consume(delivery, &entry) ? SOFT_DONE : SOFT_SILENT;
}

/*
 * A request of XRC whose SRQ does not exist in the target's domain takes no receive that could
 * report it, so the target gets an event.
 */
static COLD enum soft_outcome deny(const struct soft_target *target)
{
	soft_qp_fail_held(target->peer, target->index, IBV_EVENT_QP_REQ_ERR);
	return (enum soft_outcome)IBV_WC_REM_INV_REQ_ERR;
}

/* Delivers the message. Call with the target's queue, and its SRQ if any, locked. */
static enum soft_outcome deliver(struct delivery *delivery)
{
	if (unlikely(!soft_target_has_srq(delivery->target)))
		return deny(delivery->target);
	if (!soft_queue_first(delivery->target->peer->arena, delivery->queue, delivery->receive))
		return SOFT_REFUSED;
	return is_write(delivery) ? deliver_write(delivery) : deliver_send(delivery);
}

/* Call with the target's queue locked, after checking that the target accepts the operation. */
static void prepare(struct delivery *delivery)
{
	struct soft_image *image = delivery->target->peer->arena->image;
	uint32_t srq = delivery->target->srq ? delivery->target->srq
					     : soft_image_read(&delivery->target->qp->srq);
	const struct soft_operation *operation = delivery->operation;
	const union ibv_gid *from;

	delivery->srq = srq ? &image->srq[srq % SOFT_SRQS] : NULL;
	delivery->queue = srq ? &delivery->srq->queue : &delivery->target->qp->queue;
	delivery->length = operation->length;
	delivery->has_grh = delivery->qp->type == IBV_QPT_UD;
	if (!delivery->has_grh)
		return;
	from = soft_port_gid(soft_process.arena.image, operation->sgid_index);
	delivery->length += SOFT_GRH;
	soft_grh_write(delivery->grh, from ? from : &operation->gid, &operation->gid,
		       (uint8_t)operation->traffic_class, (uint32_t)operation->length);
}

/*
 * Guesses whether a send is an answer that the peer waits for: that is assumed if one or two
 * completions were taken since the last send (a message, and perhaps the completion of that send).
 * Otherwise, the send is assumed to be part of a stream.
 */
static bool take_answer(struct soft_cq *cq)
{
	uint32_t head = atomic_load_explicit(&cq->head, memory_order_relaxed);
	uint32_t taken = head - atomic_load_explicit(&cq->answered, memory_order_relaxed);

	if (taken)
		atomic_store_explicit(&cq->answered, head, memory_order_relaxed);
	return taken == 1 || taken == 2;
}

static ALWAYS_INLINE uintptr_t coming(const struct soft_target *target, uint32_t ahead)
{
	return soft_cq_coming(target->peer, soft_target_cq(target), ahead);
}

/*
 * After putting a completion, prepares for the next one. A peer that waits for an answer should get
 * it soon; the lines of the next completion are prefetched only when the next message is posted,
 * because the peer's polls would take them back until then. In a stream, the lines of a later
 * completion are fetched while others are made.
 */
static ALWAYS_INLINE void look_ahead(struct soft_qp *qp, const struct soft_target *target,
				     uintptr_t place)
{
	if (!take_answer(qp->recv_cq)) {
		soft_cq_expect(coming(target, AHEAD));
		return;
	}
	soft_cq_hand_over(place);
	/* The next one may go to another target, and on a link the completion is put later. */
	if (!soft_qp_is_addressed(qp) && !qp->wire)
		atomic_store_explicit(&qp->coming, coming(target, 0), memory_order_relaxed);
}

enum soft_outcome soft_deliver(struct soft_qp *qp, const struct soft_target *target,
			       struct soft_operation *operation, const struct soft_span *data)
{
	struct soft_taken taken;
	struct delivery delivery = {.qp = qp,
				    .target = target,
				    .operation = operation,
				    .data = data,
				    .receive = &taken};
	enum soft_outcome outcome = SOFT_SILENT;
	bool is_small =
		operation->length <= SOFT_SMALL && operation->opcode != IBV_WR_RDMA_WRITE_WITH_IMM;
	uintptr_t place = 0;

	soft_queue_hold(&target->qp->queue);
	if (is_small) {
		place = coming(target, 0);
		soft_cq_expect(place);
	}
	if (soft_execute_is_open(qp, target, operation)) {
		prepare(&delivery);
		if (delivery.srq)
			soft_queue_hold(&delivery.srq->queue);
		outcome = deliver(&delivery);
		if (delivery.srq)
			soft_lock_release(&delivery.srq->queue.lock);
	}
	outcome = soft_execute_settle(qp, target, operation, outcome);
	soft_lock_release(&target->qp->queue.lock);
	if (is_small && outcome == SOFT_DONE)
		look_ahead(qp, target, place);
	return outcome;
}
