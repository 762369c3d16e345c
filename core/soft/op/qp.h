/* SPDX-License-Identifier: MIT */
/*
 * Queue pairs: what peers see is in the arena, the rest is private. The private lock
 * guards attributes and send queue, the image's lock the state and the receives; who
 * holds both has taken the private one first. Who writes or reads memory through it holds
 * a third one, before the image's.
 */
#ifndef CORE_SOFT_OP_QP_H
#define CORE_SOFT_OP_QP_H

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/soft/link/model.h"
#include "core/soft/op/cq.h"
#include "core/soft/op/receive_queue.h"
#include "core/soft/op/send.h"
#include "core/soft/peer/image.h"

struct soft_peer;
struct soft_srq;

enum {
	SOFT_QP_NO_EVENT = -1,
};

struct soft_qp {
	struct ibv_qp_ex verbs;
	struct soft_qp_image *image;
	uint32_t index;
	struct soft_lock lock;
	struct soft_lock receive_lock; /* who posts receives */
	struct soft_ring receives;
	struct soft_sends sends;
	struct ibv_qp_attr attr;
	struct ibv_qp_cap cap;
	bool is_all_signalled;
	bool was_modified; /* ever */
	bool tells_drained;
	struct soft_cq *send_cq;
	uint32_t sender; /* its */
	struct soft_cq *recv_cq;
	/* Of what may be sent next: soft_cq_coming(), a guess, or 0. Taken without the lock. */
	_Atomic uintptr_t coming;
	struct soft_srq *srq;
	uint32_t fetched_events;
	/* Of a modelled link: */
	struct soft_model *wire; /* NULL: none */
	uint64_t arrives_ns;     /* of what is executed before its time; else 0 */
	/* Of progress: */
	uint64_t wait_until_ns; /* 0: the first operation does not wait */
	uint64_t due_ns;
	uint64_t missed_in; /* the last round in which somebody else had its lock */
	struct soft_qp *next_waiting;
	bool is_waiting;
	bool is_tried;
	/* Of ibv_wr_*: */
	struct soft_operation *building;
	uint32_t tail_before;
	int build_error;
};

static inline struct soft_qp *soft_qp_of(struct ibv_qp *qp)
{
	return CONTAINER_OF((struct ibv_qp_ex *)(void *)qp, struct soft_qp, verbs);
}

/* Something is about to be posted. It is forgotten then: the next one may be a WRITE. */
static inline void soft_qp_expect(struct soft_qp *qp)
{
	uintptr_t coming = atomic_load_explicit(&qp->coming, memory_order_relaxed);

	if (!coming)
		return;
	soft_cq_expect(coming);
	atomic_store_explicit(&qp->coming, 0, memory_order_relaxed);
}

static inline bool soft_qp_is_reliable(const struct soft_qp *qp)
{
	return qp->verbs.qp_base.qp_type == IBV_QPT_RC;
}

/* Whether something may be posted to its send queue. */
static inline bool soft_qp_takes_sends(const struct soft_qp *qp)
{
	uint32_t state = atomic_load_explicit(&qp->image->state, memory_order_relaxed);

	return state >= IBV_QPS_RTS && state <= IBV_QPS_ERR;
}

/*
 * Puts anybody's queue pair into the error state, flushes its receives, and leaves an
 * event of that type. Its owner flushes what it has to send.
 */
void soft_qp_fail(struct soft_peer *owner, uint32_t index, int event);

/* The same, under the image's lock. */
void soft_qp_fail_held(struct soft_peer *owner, uint32_t index, int event);

/*
 * For every queue pair of a table, when a peer has died: the peer may have left it half stopped,
 * or a receive without its completion.
 */
void soft_qp_mend(void *object);

/* After an error, what is not reliable goes on receiving. Under the private lock. */
void soft_qp_stop_sending(struct soft_qp *qp);

/* Flushes receives. Under the image's lock. */
void soft_qp_flush(struct soft_peer *owner, struct soft_qp_image *image);

/* For every queue pair of a table: waits for the threads that are at work on it. */
void soft_qp_pass(void *object);

/* It takes nothing any more: returns when its peer has stopped writing and reading here. */
void soft_qp_await_peer(struct soft_qp *qp);

/* The verbs of the context. */
struct ibv_qp *soft_qp_create_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
int soft_qp_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int soft_qp_post_receive(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

/* Whether a queue pair of that type does that. */
static inline bool soft_qp_can(enum ibv_qp_type type, enum ibv_wr_opcode opcode)
{
	switch ((int)opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		return true;
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return type != IBV_QPT_UD;
	case IBV_WR_RDMA_READ:
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return type == IBV_QPT_RC;
	default:
		return false;
	}
}

/* Gives an extended queue pair its functions. */
void soft_qp_extend(struct ibv_qp_ex *verbs);

#endif
