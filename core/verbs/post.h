/* SPDX-License-Identifier: MIT */
/*
 * Posts work requests. A struct post_work holds everything known before a loop starts. The
 * operation is a constant at each call; the path may be a constant or a run-time value: the
 * extended interface (ibv_wr_*) if the provider has it, else ibv_post_send. Functions that
 * post return 0 or a positive errno, as verbs do.
 */
#ifndef CORE_VERBS_POST_H
#define CORE_VERBS_POST_H

#include <endian.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/base/error.h"
#include "core/verbs/route.h"

/*
 * Every queue pair supports at least POST_SGES scatter/gather elements; POST_SGES_MOST is
 * the maximum.
 */
#define POST_SGES      2
#define POST_SGES_MOST 32

enum post_operation {
	POST_SEND,
	POST_WRITE,
	POST_READ,
	POST_SEND_IMM,
	POST_WRITE_IMM,
	POST_FETCH_ADD,    /* eight bytes; returns the old value */
	POST_COMPARE_SWAP, /* likewise */
	POST_SEND_INV,     /* invalidates the peer's rkey */
	POST_BIND_MW,      /* the window, of type 2, by rkey */
	POST_BIND_MW_1,    /* the window, of type 1; the provider chooses the key */
	POST_LOCAL_INV,    /* invalidates rkey */
	POST_ATOMIC_WRITE, /* eight bytes; only if HAVE_ATOMIC_WRITE */
};

enum post_path {
	POST_CLASSIC,         /* any number of elements */
	POST_EXTENDED,        /* one element */
	POST_EXTENDED_LIST,   /* no elements */
	POST_EXTENDED_INLINE, /* one element of inline data */
};

struct post_queue {
	struct ibv_qp *qp;
	struct ibv_qp_ex *qpx; /* NULL: ibv_post_send only */
	struct ibv_srq *srq;   /* NULL: the queue pair has its own receive queue */
	uint32_t receiver;     /* qp_num in the completions of receives */
};

/* A memory window and what to bind it to. */
struct post_window {
	struct ibv_mw *mw;
	struct ibv_mw_bind_info info;
};

struct post_work {
	uint64_t id;
	uint64_t remote;    /* address and key, of one-sided operations */
	uint32_t rkey;      /* or the one to bind or to invalidate */
	unsigned int flags; /* IBV_SEND_INLINE and others; the caller adds IBV_SEND_SIGNALED */
	int n_sges;         /* at most the queue pair's; 1 with IBV_SEND_INLINE */
	uint32_t imm;       /* in host byte order; the peer reads it with post_imm */
	uint64_t add;       /* of POST_FETCH_ADD */
	uint64_t compare;   /* of POST_COMPARE_SWAP */
	uint64_t swap;      /* or the value to write */
	struct post_window *window;
	struct route route;
	struct ibv_sge sges[POST_SGES_MOST];
};

/*
 * Work requests posted together, all of one operation and path. The caller fills in works
 * and calls post_list_link; afterwards only the contents of their buffers may change, and
 * their remote addresses, by post_list_aim.
 */
struct post_list {
	unsigned int n;
	struct post_work *works;
	struct ibv_send_wr *sends; /* linked, as are the receives */
	struct ibv_recv_wr *receives;
};

/* Zeroes everything but the elements, which are most of the struct. */
static inline void post_clear(struct post_work *work)
{
	memset(work, 0, offsetof(struct post_work, sges));
}

/* Makes a list of n zeroed requests. */
int post_list_open(struct post_list *list, unsigned int n, struct error *error);
void post_list_close(struct post_list *list);

/* Links the work requests for an operation; receives are linked for any operation. */
void post_list_link(struct post_list *list, enum post_operation operation);

/* Splits a buffer into n_sges consecutive elements whose lengths differ by at most a byte. */
void post_cut(struct post_work *work, const struct ibv_sge *whole, unsigned int n_sges);

/* Moves all elements to address, still consecutive. */
static ALWAYS_INLINE void post_move(struct post_work *work, uint64_t address)
{
	work->sges[0].addr = address;
	for (int i = 1; unlikely(i < work->n_sges); i++)
		work->sges[i].addr = work->sges[i - 1].addr + work->sges[i - 1].length;
}

/* Returns the immediate data of a completion. */
static inline uint32_t post_imm(const struct ibv_wc *wc)
{
	return be32toh(wc->imm_data);
}

static inline enum post_path post_choose(const struct post_queue *queue,
					 const struct post_work *work)
{
	/* rdma-core's rxe miscounts the bytes of a list here; the two paths may be mixed. */
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

/*
 * Returns whether the operation is posted by ibv_post_send on any path: queue pairs are created
 * without its ibv_wr_* function, which many providers lack.
 */
static ALWAYS_INLINE bool post_is_classic(enum post_operation operation)
{
	return operation == POST_SEND_INV || operation == POST_BIND_MW ||
	       operation == POST_LOCAL_INV;
}

/* Builds one work request, between ibv_wr_start and ibv_wr_complete. */
static ALWAYS_INLINE void post_build(struct ibv_qp_ex *qpx, const struct post_work *work,
				     enum post_operation operation, enum post_path path,
				     unsigned int signaled)
{
	qpx->wr_id = work->id;
	/* Includes IBV_SEND_INLINE, which rxe does not set itself. */
	qpx->wr_flags = work->flags | signaled;
	switch (operation) {
	case POST_SEND:
		ibv_wr_send(qpx);
		break;
	case POST_SEND_IMM:
		ibv_wr_send_imm(qpx, htobe32(work->imm));
		break;
	case POST_WRITE:
		ibv_wr_rdma_write(qpx, work->rkey, work->remote);
		break;
	case POST_WRITE_IMM:
		ibv_wr_rdma_write_imm(qpx, work->rkey, work->remote, htobe32(work->imm));
		break;
	case POST_READ:
		ibv_wr_rdma_read(qpx, work->rkey, work->remote);
		break;
	case POST_FETCH_ADD:
		ibv_wr_atomic_fetch_add(qpx, work->rkey, work->remote, work->add);
		break;
	case POST_COMPARE_SWAP:
		ibv_wr_atomic_cmp_swp(qpx, work->rkey, work->remote, work->compare, work->swap);
		break;
	case POST_SEND_INV:
	case POST_BIND_MW:
	case POST_BIND_MW_1:
	case POST_LOCAL_INV:
		__builtin_unreachable();
	case POST_ATOMIC_WRITE:
#ifdef HAVE_ATOMIC_WRITE
		ibv_wr_atomic_write(qpx, work->rkey, work->remote, &work->swap);
#endif
		route_set(&work->route, qpx);
		return;
	}
	route_set(&work->route, qpx);
	post_data(qpx, work, path);
}

static ALWAYS_INLINE int post_extended(const struct post_queue *queue, const struct post_work *work,
				       enum post_operation operation, enum post_path path,
				       unsigned int signaled)
{
	struct ibv_qp_ex *qpx = queue->qpx;

	ibv_wr_start(qpx);
	post_build(qpx, work, operation, path, signaled);
	return ibv_wr_complete(qpx);
}

static ALWAYS_INLINE int post_extended_list(const struct post_queue *queue,
					    const struct post_list *list, unsigned int count,
					    enum post_operation operation, enum post_path path,
					    unsigned int signaled)
{
	unsigned int last = list->n - 1;

	ibv_wr_start(queue->qpx);
	for (unsigned int i = list->n - count; i < last; i++)
		post_build(queue->qpx, &list->works[i], operation, path, 0);
	post_build(queue->qpx, &list->works[last], operation, path, signaled);
	return ibv_wr_complete(queue->qpx);
}

static ALWAYS_INLINE enum ibv_wr_opcode post_opcode(enum post_operation operation)
{
	switch (operation) {
	case POST_SEND:
		return IBV_WR_SEND;
	case POST_SEND_IMM:
		return IBV_WR_SEND_WITH_IMM;
	case POST_WRITE:
		return IBV_WR_RDMA_WRITE;
	case POST_WRITE_IMM:
		return IBV_WR_RDMA_WRITE_WITH_IMM;
	case POST_READ:
		return IBV_WR_RDMA_READ;
	case POST_FETCH_ADD:
		return IBV_WR_ATOMIC_FETCH_AND_ADD;
	case POST_COMPARE_SWAP:
		return IBV_WR_ATOMIC_CMP_AND_SWP;
	case POST_SEND_INV:
		return IBV_WR_SEND_WITH_INV;
	case POST_BIND_MW:
		return IBV_WR_BIND_MW;
	case POST_LOCAL_INV:
		return IBV_WR_LOCAL_INV;
#ifdef HAVE_ATOMIC_WRITE
	case POST_ATOMIC_WRITE:
		return IBV_WR_ATOMIC_WRITE;
#else
	case POST_ATOMIC_WRITE:
#endif
	case POST_BIND_MW_1:
		break;
	}
	__builtin_unreachable();
}

/*
 * Sets only the fields that the operation uses: zeroing the whole request costs more than
 * the rest. Providers copy imm_data for every operation.
 */
static ALWAYS_INLINE void post_request(struct ibv_send_wr *wr, struct post_work *work,
				       enum post_operation operation, unsigned int signaled)
{
	enum ibv_wr_opcode opcode = post_opcode(operation);
	bool has_imm = opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;

	wr->wr_id = work->id;
	wr->next = NULL;
	wr->sg_list = work->sges;
	wr->num_sge = work->n_sges;
	wr->opcode = opcode;
	wr->send_flags = work->flags | signaled;
	wr->imm_data = has_imm ? htobe32(work->imm) : 0;
	switch (operation) {
	case POST_SEND:
	case POST_SEND_IMM:
		break;
	case POST_WRITE:
	case POST_WRITE_IMM:
	case POST_READ:
		wr->wr.rdma.remote_addr = work->remote;
		wr->wr.rdma.rkey = work->rkey;
		break;
	case POST_FETCH_ADD:
	case POST_COMPARE_SWAP:
		wr->wr.atomic.remote_addr = work->remote;
		wr->wr.atomic.rkey = work->rkey;
		wr->wr.atomic.compare_add = operation == POST_FETCH_ADD ? work->add : work->compare;
		wr->wr.atomic.swap = operation == POST_FETCH_ADD ? 0 : work->swap;
		break;
	case POST_SEND_INV:
	case POST_LOCAL_INV:
		wr->invalidate_rkey = work->rkey;
		break;
	case POST_BIND_MW:
		wr->bind_mw.mw = work->window->mw;
		wr->bind_mw.rkey = work->rkey;
		wr->bind_mw.bind_info = work->window->info;
		break;
	case POST_BIND_MW_1:
	case POST_ATOMIC_WRITE:
		break;
	}
	route_set_send(&work->route, wr);
}

static ALWAYS_INLINE int post_bind_mw_1(const struct post_queue *queue,
					const struct post_work *work, unsigned int signaled)
{
	struct ibv_mw_bind bind = {
		.wr_id = work->id,
		.send_flags = work->flags | signaled,
		.bind_info = work->window->info,
	};

	return ibv_bind_mw(queue->qp, work->window->mw, &bind);
}

/* Updates the remote address of request i of a list. */
static ALWAYS_INLINE void post_list_aim(struct post_list *list, unsigned int i,
					enum post_operation operation)
{
	if (operation == POST_FETCH_ADD || operation == POST_COMPARE_SWAP)
		list->sends[i].wr.atomic.remote_addr = list->works[i].remote;
	else if (operation == POST_WRITE || operation == POST_WRITE_IMM || operation == POST_READ)
		list->sends[i].wr.rdma.remote_addr = list->works[i].remote;
}

/*
 * Post what ibv_post_send cannot, because it has no such route: one request, and the last count
 * requests of a list.
 */
int post_routed(const struct post_queue *queue, const struct post_work *work,
		enum post_operation operation, unsigned int signaled);
int post_routed_list(const struct post_queue *queue, const struct post_list *list,
		     unsigned int count, enum post_operation operation, unsigned int signaled);

/* signaled is IBV_SEND_SIGNALED or 0. */
static ALWAYS_INLINE int post_send(const struct post_queue *queue, struct post_work *work,
				   enum post_operation operation, enum post_path path,
				   unsigned int signaled)
{
	if (operation == POST_BIND_MW_1)
		return post_bind_mw_1(queue, work, signaled);
	if (operation == POST_ATOMIC_WRITE)
		return post_extended(queue, work, operation, POST_EXTENDED, signaled);
	if (path == POST_CLASSIC || post_is_classic(operation)) {
		struct ibv_send_wr wr;
		struct ibv_send_wr *bad;

		if (unlikely(route_is_extended(&work->route)))
			return post_routed(queue, work, operation, signaled);
		post_request(&wr, work, operation, signaled);
		return ibv_post_send(queue->qp, &wr, &bad);
	}
	return post_extended(queue, work, operation, path, signaled);
}

/*
 * Posts the last count requests of a list. signaled applies to the last one; the others
 * use their own flags.
 */
static ALWAYS_INLINE int post_send_list(const struct post_queue *queue,
					const struct post_list *list, unsigned int count,
					enum post_operation operation, enum post_path path,
					unsigned int signaled)
{
	unsigned int last = list->n - 1;

	if ((path == POST_CLASSIC || post_is_classic(operation)) &&
	    operation != POST_ATOMIC_WRITE) {
		struct ibv_send_wr *bad;

		if (unlikely(route_is_extended(&list->works[last].route)))
			return post_routed_list(queue, list, count, operation, signaled);
		list->sends[last].send_flags = list->works[last].flags | signaled;
		return ibv_post_send(queue->qp, &list->sends[list->n - count], &bad);
	}
	if (path == POST_EXTENDED_INLINE)
		return post_extended_list(queue, list, count, operation, POST_EXTENDED_INLINE,
					  signaled);
	if (path == POST_EXTENDED)
		return post_extended_list(queue, list, count, operation, POST_EXTENDED, signaled);
	return post_extended_list(queue, list, count, operation, POST_EXTENDED_LIST, signaled);
}

static inline int post_receive(const struct post_queue *queue, struct post_work *work)
{
	struct ibv_recv_wr wr = {.wr_id = work->id, .sg_list = work->sges, .num_sge = work->n_sges};
	struct ibv_recv_wr *bad;

	return ibv_post_recv(queue->qp, &wr, &bad);
}

/* For a queue pair with a shared receive queue. */
static inline int post_receive_shared(const struct post_queue *queue, struct post_work *work)
{
	struct ibv_recv_wr wr = {.wr_id = work->id, .sg_list = work->sges, .num_sge = work->n_sges};
	struct ibv_recv_wr *bad;

	return ibv_post_srq_recv(queue->srq, &wr, &bad);
}

/* Posts the last count receives of a list. */
static inline int post_receive_list(const struct post_queue *queue, const struct post_list *list,
				    unsigned int count)
{
	struct ibv_recv_wr *bad;

	return ibv_post_recv(queue->qp, &list->receives[list->n - count], &bad);
}

static inline int post_receive_list_shared(const struct post_queue *queue,
					   const struct post_list *list, unsigned int count)
{
	struct ibv_recv_wr *bad;

	return ibv_post_srq_recv(queue->srq, &list->receives[list->n - count], &bad);
}

#endif
