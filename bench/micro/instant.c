/* SPDX-License-Identifier: MIT */
#include "bench/micro/instant.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/*
 * peer is a constant at each call, and so is is_message with ibv_wr_*, so that no function tests
 * them.
 */
static ALWAYS_INLINE void instant_take(struct ibv_qp *qp, uint64_t id, unsigned int flags,
				       enum instant_peer peer, bool is_message)
{
	struct instant *instant = instant_of(qp->context);
	struct instant_queue *queue = queue_of(qp);

	queue->posts++;
	if (flags & IBV_SEND_SIGNALED)
		complete(instant, id);
	if (peer == INSTANT_PLACES)
		queue->received[queue->size - 1] = queue->sent[queue->size - 1];
	if (peer == INSTANT_ECHOES)
		memcpy(queue->received, queue->sent, queue->size);
	if ((peer == INSTANT_ANSWERS || peer == INSTANT_ECHOES) && is_message) {
		queue->receives--;
		complete(instant, queue->receive_id);
	}
}

static ALWAYS_INLINE void take_next(struct ibv_qp_ex *qpx, enum instant_peer peer, bool is_message)
{
	instant_take(&qpx->qp_base, qpx->wr_id, qpx->wr_flags, peer, is_message);
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
	take_next(qpx, INSTANT_ABSENT, true);
}

static void on_send_answered(struct ibv_qp_ex *qpx)
{
	take_next(qpx, INSTANT_ANSWERS, true);
}

static void on_send_echoed(struct ibv_qp_ex *qpx)
{
	take_next(qpx, INSTANT_ECHOES, true);
}

static void on_one_sided(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote)
{
	take_next(qpx, INSTANT_ABSENT, false);
}

static void on_one_sided_placed(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote)
{
	take_next(qpx, INSTANT_PLACES, false);
}

static void on_one_sided_echoed(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote)
{
	take_next(qpx, INSTANT_ECHOES, false);
}

static ALWAYS_INLINE void note(uint64_t places[INSTANT_PLACES_NOTED], uint64_t address)
{
	places[address / 64 % INSTANT_PLACES_NOTED]++;
}

static void on_one_sided_noted(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote)
{
	note(queue_of(&qpx->qp_base)->remote_visits, remote);
	take_next(qpx, INSTANT_ABSENT, false);
}

static void on_inline_noted(struct ibv_qp_ex *qpx, void *address, size_t length)
{
	note(queue_of(&qpx->qp_base)->local_visits, (uintptr_t)address);
	queue_of(&qpx->qp_base)->pieces++;
}

static void on_sge_noted(struct ibv_qp_ex *qpx, uint32_t lkey, uint64_t address, uint32_t length)
{
	note(queue_of(&qpx->qp_base)->local_visits, address);
	queue_of(&qpx->qp_base)->pieces++;
}

static void on_write_imm(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote, __be32 imm)
{
	take_next(qpx, INSTANT_ABSENT, true);
}

static void on_write_imm_answered(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote, __be32 imm)
{
	take_next(qpx, INSTANT_ANSWERS, true);
}

static void on_fetch_add(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote, uint64_t add)
{
	take_next(qpx, INSTANT_ABSENT, false);
}

static void on_compare_swap(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote, uint64_t compare,
			    uint64_t swap)
{
	take_next(qpx, INSTANT_ABSENT, false);
}

static void on_ud_addr(struct ibv_qp_ex *qpx, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
}

static void on_inline(struct ibv_qp_ex *qpx, void *address, size_t length)
{
}

static void on_sge(struct ibv_qp_ex *qpx, uint32_t lkey, uint64_t address, uint32_t length)
{
}

static ALWAYS_INLINE int take_list(struct ibv_qp *qp, const struct ibv_send_wr *wr,
				   enum instant_peer peer)
{
	const unsigned int messages = 1U << IBV_WR_SEND | 1U << IBV_WR_RDMA_WRITE_WITH_IMM;

	for (; wr; wr = wr->next)
		instant_take(qp, wr->wr_id, wr->send_flags, peer, messages >> wr->opcode & 1);
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

static int post_send_noted(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	for (const struct ibv_send_wr *each = wr; each; each = each->next) {
		note(queue_of(qp)->remote_visits, each->wr.rdma.remote_addr);
		note(queue_of(qp)->local_visits, each->sg_list[0].addr);
		queue_of(qp)->pieces += (unsigned int)each->num_sge;
	}
	return take_list(qp, wr, INSTANT_ABSENT);
}

static int post_send_echoed(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	return take_list(qp, wr, INSTANT_ECHOES);
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

/* Raises the alarm once all messages have arrived: nothing else would end a responder. */
static int poll_cq_supplied(struct ibv_cq *cq, int max, struct ibv_wc *wc)
{
	struct instant *instant = instant_of(cq->context);
	int got = poll_ring(instant, max, wc);

	if (unlikely(!got))
		alarm_raise(instant->alarm, -ESHUTDOWN, "all messages have arrived");
	return got;
}

static struct ibv_context_ops make_ops(enum instant_peer peer)
{
	static int (*const post_send[])(struct ibv_qp *, struct ibv_send_wr *,
					struct ibv_send_wr **) = {
		[INSTANT_ABSENT] = post_send_alone,  [INSTANT_ANSWERS] = post_send_answered,
		[INSTANT_PLACES] = post_send_placed, [INSTANT_ECHOES] = post_send_echoed,
		[INSTANT_NOTES] = post_send_noted,   [INSTANT_SENDS] = post_send_alone,
	};

	return (struct ibv_context_ops){
		.post_send = post_send[peer],
		.post_recv = peer == INSTANT_SENDS ? post_recv_supplied : post_recv,
		.poll_cq = peer == INSTANT_SENDS ? poll_cq_supplied : poll_cq,
	};
}

static void make_queue(struct instant *instant, struct instant_queue *queue, enum instant_peer peer)
{
	struct ibv_qp_ex *qpx = &queue->qpx;

	qpx->qp_base.context = &instant->verbs;
	qpx->wr_start = on_start;
	qpx->wr_complete = on_complete;
	qpx->wr_send = peer == INSTANT_ANSWERS  ? on_send_answered
		       : peer == INSTANT_ECHOES ? on_send_echoed
						: on_send;
	qpx->wr_rdma_write = peer == INSTANT_PLACES   ? on_one_sided_placed
			     : peer == INSTANT_ECHOES ? on_one_sided_echoed
						      : on_one_sided;
	qpx->wr_rdma_read = peer == INSTANT_ECHOES ? on_one_sided_echoed : on_one_sided;
	qpx->wr_rdma_write_imm = peer == INSTANT_ANSWERS ? on_write_imm_answered : on_write_imm;
	qpx->wr_atomic_fetch_add = on_fetch_add;
	qpx->wr_atomic_cmp_swp = on_compare_swap;
	qpx->wr_set_ud_addr = on_ud_addr;
	qpx->wr_set_inline_data = on_inline;
	qpx->wr_set_sge = on_sge;
	if (peer == INSTANT_NOTES) {
		qpx->wr_rdma_write = qpx->wr_rdma_read = on_one_sided_noted;
		qpx->wr_set_inline_data = on_inline_noted;
		qpx->wr_set_sge = on_sge_noted;
	}
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

/* Receives that are already posted are used first. */
void instant_supply(struct instant *instant, uint64_t messages)
{
	struct instant_queue *queue = &instant->queues[0];

	instant->supply += messages;
	for (; instant->supply && queue->receives; instant->supply--) {
		queue->receives--;
		complete(instant, queue->receive_id);
	}
}
