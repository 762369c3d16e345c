/* SPDX-License-Identifier: MIT */
/*
 * Posting of work requests. A struct post_work holds all that is known before a
 * loop starts; operation and path are constants at the call, so that none of them
 * is asked for in a loop. The path is the extended interface (ibv_wr_*) where the
 * provider has it, else ibv_post_send.
 */
#ifndef CORE_POST_H
#define CORE_POST_H

#include <infiniband/verbs.h>

#include "core/compiler.h"

#define POST_SGES 2

enum post_operation {
	POST_SEND,
	POST_WRITE,
	POST_READ,
};

enum post_path {
	POST_CLASSIC,
	POST_EXTENDED,        /* one piece */
	POST_EXTENDED_LIST,   /* none */
	POST_EXTENDED_INLINE, /* one piece, of inline data */
};

struct post_queue {
	struct ibv_qp *qp;
	struct ibv_qp_ex *qpx; /* NULL: ibv_post_send only */
};

struct post_work {
	uint64_t id;
	uint64_t remote; /* address and key, of one-sided operations */
	uint32_t rkey;
	unsigned int flags; /* IBV_SEND_INLINE and others; IBV_SEND_SIGNALED is the caller's */
	int n_sges;         /* 0 to 2; 1 with IBV_SEND_INLINE */
	struct ibv_sge sges[POST_SGES];
};

static inline enum post_path post_choose(const struct post_queue *queue,
					 const struct post_work *work)
{
	/* rdma-core's rxe adds up a list wrongly there; the two may be posted in turn. */
	if (!queue->qpx || work->n_sges > 1)
		return POST_CLASSIC;
	if (work->flags & IBV_SEND_INLINE)
		return POST_EXTENDED_INLINE;
	return work->n_sges == 1 ? POST_EXTENDED : POST_EXTENDED_LIST;
}

static ALWAYS_INLINE void post_data(struct ibv_qp_ex *qpx, const struct post_work *work,
				    enum post_path path)
{
	const struct ibv_sge *sge = &work->sges[0];

	if (path == POST_EXTENDED_INLINE)
		ibv_wr_set_inline_data(qpx, (void *)(uintptr_t)sge->addr, sge->length);
	else if (path == POST_EXTENDED)
		ibv_wr_set_sge(qpx, sge->lkey, sge->addr, sge->length);
	else
		ibv_wr_set_sge_list(qpx, (size_t)work->n_sges, work->sges);
}

static ALWAYS_INLINE int post_extended(const struct post_queue *queue, const struct post_work *work,
				       enum post_operation operation, enum post_path path,
				       unsigned int signalled)
{
	struct ibv_qp_ex *qpx = queue->qpx;

	ibv_wr_start(qpx);
	qpx->wr_id = work->id;
	/* IBV_SEND_INLINE among them: rxe does not set it by itself. */
	qpx->wr_flags = work->flags | signalled;
	switch (operation) {
	case POST_SEND:
		ibv_wr_send(qpx);
		break;
	case POST_WRITE:
		ibv_wr_rdma_write(qpx, work->rkey, work->remote);
		break;
	case POST_READ:
		ibv_wr_rdma_read(qpx, work->rkey, work->remote);
		break;
	}
	post_data(qpx, work, path);
	return ibv_wr_complete(qpx);
}

static ALWAYS_INLINE int post_classic(const struct post_queue *queue, struct post_work *work,
				      enum post_operation operation, unsigned int signalled)
{
	static const enum ibv_wr_opcode opcodes[] = {
		[POST_SEND] = IBV_WR_SEND,
		[POST_WRITE] = IBV_WR_RDMA_WRITE,
		[POST_READ] = IBV_WR_RDMA_READ,
	};
	struct ibv_send_wr wr = {
		.wr_id = work->id,
		.sg_list = work->sges,
		.num_sge = work->n_sges,
		.opcode = opcodes[operation],
		.send_flags = work->flags | signalled,
		.wr.rdma = {.remote_addr = work->remote, .rkey = work->rkey},
	};
	struct ibv_send_wr *bad;

	return ibv_post_send(queue->qp, &wr, &bad);
}

/* signalled is IBV_SEND_SIGNALED or 0. Returns 0 or a positive errno, as verbs does. */
static ALWAYS_INLINE int post_send(const struct post_queue *queue, struct post_work *work,
				   enum post_operation operation, enum post_path path,
				   unsigned int signalled)
{
	if (path == POST_CLASSIC)
		return post_classic(queue, work, operation, signalled);
	return post_extended(queue, work, operation, path, signalled);
}

static inline int post_receive(const struct post_queue *queue, struct post_work *work)
{
	struct ibv_recv_wr wr = {.wr_id = work->id, .sg_list = work->sges, .num_sge = work->n_sges};
	struct ibv_recv_wr *bad;

	return ibv_post_recv(queue->qp, &wr, &bad);
}

#endif
