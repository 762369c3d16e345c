/* SPDX-License-Identifier: MIT */
#include "bench/micro/instant.h"

#include <errno.h>
#include <stdlib.h>

static ALWAYS_INLINE struct instant *instant_of(struct ibv_context *verbs)
{
	return CONTAINER_OF(verbs, struct instant, verbs);
}

static ALWAYS_INLINE struct instant_queue *queue_of(struct ibv_qp *qp)
{
	return CONTAINER_OF(qp, struct instant_queue, qpx.qp_base);
}

static ALWAYS_INLINE void complete(struct instant *instant, uint64_t id)
{
	instant->ids[instant->made++ % INSTANT_RING] = id;
}

/* The peer is a constant at each call: none of the functions asks for it. */
static ALWAYS_INLINE void take(struct ibv_qp *qp, uint64_t id, unsigned int flags,
			       enum instant_peer peer)
{
	struct instant *instant = instant_of(qp->context);
	struct instant_queue *queue = queue_of(qp);

	queue->posts++;
	if (flags & IBV_SEND_SIGNALED)
		complete(instant, id);
	if (peer == INSTANT_ANSWERS) {
		queue->receives--;
		complete(instant, queue->receive_id);
	}
}

static ALWAYS_INLINE void place(struct ibv_qp *qp, uint64_t address, size_t length)
{
	*queue_of(qp)->placed = ((const uint8_t *)(uintptr_t)address)[length - 1];
}

static void on_start(struct ibv_qp_ex *qpx)
{
}

static int on_complete(struct ibv_qp_ex *qpx)
{
	return 0;
}

static void on_send(struct ibv_qp_ex *qpx)
{
	take(&qpx->qp_base, qpx->wr_id, qpx->wr_flags, INSTANT_ABSENT);
}

static void on_send_answered(struct ibv_qp_ex *qpx)
{
	take(&qpx->qp_base, qpx->wr_id, qpx->wr_flags, INSTANT_ANSWERS);
}

static void on_one_sided(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote)
{
	take(&qpx->qp_base, qpx->wr_id, qpx->wr_flags, INSTANT_ABSENT);
}

static void on_inline(struct ibv_qp_ex *qpx, void *address, size_t length)
{
}

static void on_inline_placed(struct ibv_qp_ex *qpx, void *address, size_t length)
{
	place(&qpx->qp_base, (uintptr_t)address, length);
}

static void on_sge(struct ibv_qp_ex *qpx, uint32_t lkey, uint64_t address, uint32_t length)
{
}

static void on_sge_placed(struct ibv_qp_ex *qpx, uint32_t lkey, uint64_t address, uint32_t length)
{
	place(&qpx->qp_base, address, length);
}

static ALWAYS_INLINE int take_list(struct ibv_qp *qp, const struct ibv_send_wr *wr,
				   enum instant_peer peer)
{
	for (; wr; wr = wr->next) {
		take(qp, wr->wr_id, wr->send_flags, peer);
		if (peer == INSTANT_PLACES)
			place(qp, wr->sg_list->addr, wr->sg_list->length);
	}
	return 0;
}

static int post_send_alone(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	return take_list(qp, wr, INSTANT_ABSENT);
}

static int post_send_answered(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	return take_list(qp, wr, INSTANT_ANSWERS);
}

static int post_send_placed(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	return take_list(qp, wr, INSTANT_PLACES);
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct instant_queue *queue = queue_of(qp);

	for (; wr; wr = wr->next) {
		queue->receives++;
		queue->receive_id = wr->wr_id;
	}
	return 0;
}

static int post_recv_supplied(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct instant *instant = instant_of(qp->context);

	for (; wr; wr = wr->next) {
		if (unlikely(!instant->supply)) {
			queue_of(qp)->receives++;
			queue_of(qp)->receive_id = wr->wr_id;
			continue;
		}
		instant->supply--;
		complete(instant, wr->wr_id);
	}
	return 0;
}

static ALWAYS_INLINE int poll_ring(struct instant *instant, int max, struct ibv_wc *wc)
{
	int got = 0;

	for (; got < max && instant->taken != instant->made; got++) {
		wc[got].wr_id = instant->ids[instant->taken++ % INSTANT_RING];
		wc[got].status = IBV_WC_SUCCESS;
	}
	return got;
}

static int poll_cq(struct ibv_cq *cq, int max, struct ibv_wc *wc)
{
	return poll_ring(instant_of(cq->context), max, wc);
}

/* Nothing else would end an end that only responds. */
static int poll_cq_supplied(struct ibv_cq *cq, int max, struct ibv_wc *wc)
{
	struct instant *instant = instant_of(cq->context);
	int got = poll_ring(instant, max, wc);

	if (unlikely(!got))
		alarm_raise(instant->alarm, -ESHUTDOWN, "all messages have come");
	return got;
}

static struct ibv_context_ops make_ops(enum instant_peer peer)
{
	return (struct ibv_context_ops){
		.post_send = peer == INSTANT_ANSWERS  ? post_send_answered
			     : peer == INSTANT_PLACES ? post_send_placed
						      : post_send_alone,
		.post_recv = peer == INSTANT_SENDS ? post_recv_supplied : post_recv,
		.poll_cq = peer == INSTANT_SENDS ? poll_cq_supplied : poll_cq,
	};
}

static void make_queue(struct instant *instant, struct instant_queue *queue, enum instant_peer peer)
{
	struct ibv_qp_ex *qpx = &queue->qpx;
	bool is_placed = peer == INSTANT_PLACES;

	qpx->qp_base.context = &instant->verbs;
	qpx->wr_start = on_start;
	qpx->wr_complete = on_complete;
	qpx->wr_send = peer == INSTANT_ANSWERS ? on_send_answered : on_send;
	qpx->wr_rdma_write = on_one_sided;
	qpx->wr_rdma_read = on_one_sided;
	qpx->wr_set_inline_data = is_placed ? on_inline_placed : on_inline;
	qpx->wr_set_sge = is_placed ? on_sge_placed : on_sge;
}

int instant_open(struct instant *instant, unsigned int n_queues, enum instant_peer peer,
		 struct error *error)
{
	*instant = (struct instant){
		.verbs.ops = make_ops(peer),
		.cq.context = &instant->verbs,
		.queues = calloc(n_queues, sizeof(*instant->queues)),
		.n_queues = n_queues,
	};
	if (!instant->queues)
		return error_set_errno(error, -ENOMEM, "cannot make queue pairs");
	for (unsigned int i = 0; i < n_queues; i++)
		make_queue(instant, &instant->queues[i], peer);
	return 0;
}

void instant_close(struct instant *instant)
{
	free(instant->queues);
	instant->queues = NULL;
}

/* Receives that were posted before the messages come are taken first. */
void instant_supply(struct instant *instant, uint64_t messages)
{
	struct instant_queue *queue = &instant->queues[0];

	instant->supply += messages;
	for (; instant->supply && queue->receives; instant->supply--) {
		queue->receives--;
		complete(instant, queue->receive_id);
	}
}
