/* SPDX-License-Identifier: MIT */
/*
 * Queue pairs. The part that peers see is in the arena, the rest is private. The private lock
 * guards the attributes and the send queue; the lock in the image guards the state and the
 * receives. When taking both, take the private one first. A third lock (`work`) is held to access
 * memory through the queue pair without a receive; take it before the image's lock.
 */
#ifndef CORE_SOFT_OP_QP_H
#define CORE_SOFT_OP_QP_H

#include <infiniband/verbs.h>
#ifdef HAVE_MLX5DV
#include <infiniband/mlx5dv.h>
#endif
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
struct soft_xrcd;

enum {
	SOFT_QP_NO_EVENT = -1,
	SOFT_QP_RATE_MAX = 100000000, /* limit of a rate limit: 100 Gb/s in kbps */
};

/* Types that verbs.h calls IBV_QPT_DRIVER. */
enum {
	SOFT_QPT_DCI = 0x1000, /* the initiator of DC */
	SOFT_QPT_DCT,          /* the target of DC */
	SOFT_QPT_SRD,
};

struct soft_qp {
	struct ibv_qp_ex verbs;
	struct soft_qp_image *image;
	uint32_t index;
	int type; /* enum ibv_qp_type or SOFT_QPT_... */
	struct soft_lock lock;
	struct soft_lock receive_lock; /* held to post receives */
	struct soft_ring receives;
	struct soft_sends sends;
	struct ibv_qp_attr attr;
	struct ibv_qp_cap cap;
	bool is_all_signaled;
	bool was_modified; /* ever */
	bool reports_drained;
	struct soft_cq *send_cq;
	uint32_t sender; /* of send_cq */
	struct soft_cq *recv_cq;
	/*
	 * A guess at where the next message's completion goes, from soft_cq_coming(), or 0.
	 * Accessed without the lock.
	 */
	_Atomic uintptr_t coming;
	struct soft_srq *srq;
	struct soft_xrcd *xrcd; /* targets of XRC only, which have no CQ and no PD */
	uint32_t handles;       /* from creation and ibv_open_qp */
	uint32_t fetched_events;
	/* For a modeled link: */
	struct soft_model *wire; /* NULL: no link */
	uint64_t arrives_ns;     /* arrival of the message that is being executed; else 0 */
	bool is_early;           /* it has not arrived yet */
	/* For progress: */
	uint64_t wait_until_ns; /* 0: the first operation does not wait */
	uint64_t due_ns;
	uint64_t missed_in; /* the last round in which its lock was busy */
	struct soft_qp *next_waiting;
	bool is_waiting;
	bool is_tried;
	/* For ibv_wr_*: */
	struct soft_operation *building;
	uint32_t tail_before;
	int build_error;
	/* For SRD: */
	uint64_t chance; /* state of random_next() */
	bool is_held;    /* the first operation waits for others to pass it */
#ifdef HAVE_MLX5DV
	struct mlx5dv_qp_ex dc;
#endif
};

static inline struct soft_qp *soft_qp_of(struct ibv_qp *qp)
{
	return CONTAINER_OF((struct ibv_qp_ex *)(void *)qp, struct soft_qp, verbs);
}

/*
 * Prefetches for the completion of the message about to be posted. Then forgets the guess: the next
 * operation may be a WRITE.
 */
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
	return qp->type == IBV_QPT_RC || qp->type == IBV_QPT_XRC_SEND || qp->type == SOFT_QPT_DCI ||
	       qp->type == SOFT_QPT_SRD;
}

/* Returns whether it is the initiator of XRC. */
static inline bool soft_qp_is_xrc(const struct soft_qp *qp)
{
	return unlikely(qp->type == IBV_QPT_XRC_SEND);
}

/* Returns whether each of its requests names a peer, so that it is not connected to one. */
static inline bool soft_qp_is_addressed(const struct soft_qp *qp)
{
	return unlikely(qp->type == IBV_QPT_UD || qp->type == SOFT_QPT_DCI ||
			qp->type == SOFT_QPT_SRD);
}

/* Returns the number of the queue pair that an operation is sent to. */
static inline uint32_t soft_qp_target_of(const struct soft_qp *qp,
					 const struct soft_operation *operation)
{
	return soft_qp_is_addressed(qp) ? operation->remote_qp : qp->attr.dest_qp_num;
}

/* Returns the type of the peers that a queue pair of this type sends to. */
static inline uint32_t soft_qp_peer_type(int type)
{
	if (unlikely(type == IBV_QPT_XRC_SEND))
		return IBV_QPT_XRC_RECV;
	return unlikely(type == SOFT_QPT_DCI) ? SOFT_QPT_DCT : (uint32_t)type;
}

/* Returns whether its send queue accepts work requests. */
static inline bool soft_qp_takes_sends(const struct soft_qp *qp)
{
	uint32_t state = atomic_load_explicit(&qp->image->state, memory_order_relaxed);

	return state >= IBV_QPS_RTS && state <= IBV_QPS_ERR;
}

/*
 * Puts a queue pair of any process into the error state, flushes its receives, and leaves the given
 * event. The owner flushes its sends.
 */
void soft_qp_fail(struct soft_peer *owner, uint32_t index, int event);

/* The same, with the image's lock held. */
void soft_qp_fail_held(struct soft_peer *owner, uint32_t index, int event);

/*
 * Repairs a queue pair that a dead peer left half stopped, or a receive without its completion.
 * Called for every queue pair of a table.
 */
void soft_qp_repair(void *object);

/*
 * Stops sending after an error on an unreliable queue pair, which continues to receive. Call with
 * the private lock held.
 */
void soft_qp_stop_sending(struct soft_qp *qp);

/* Flushes receives. Call with the image's lock held. */
void soft_qp_flush(struct soft_peer *owner, struct soft_qp_image *image);

/* Removes its completions from its completion queues. */
void soft_qp_purge(struct soft_qp *qp);

/* Waits for threads that are using the queue pair. Called for every queue pair of a table. */
void soft_qp_pass(void *object);

/*
 * Call after the queue pair stops accepting operations. Waits until its peer has stopped accessing
 * memory through it.
 */
void soft_qp_await_peer(struct soft_qp *qp);

/* Returns the number by which peers know the queue pair. */
uint32_t soft_qp_number(const struct soft_qp *qp);

/* Creates a queue pair whose type may also be SOFT_QPT_... Sets errno if it returns NULL. */
struct ibv_qp *soft_qp_create(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);

/* Verbs that the context calls by pointer. */
struct ibv_qp *soft_qp_create_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
struct ibv_qp *soft_qp_open(struct ibv_context *context, struct ibv_qp_open_attr *attr);
int soft_qp_limit_rate(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr);
int soft_qp_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int soft_qp_post_receive(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

/* Returns whether a queue pair of this type supports the operation. */
static inline bool soft_qp_can(int type, enum ibv_wr_opcode opcode)
{
	if (type == IBV_QPT_XRC_RECV || type == SOFT_QPT_DCT)
		return false;
	switch ((int)opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		return true;
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return type != IBV_QPT_UD;
	case IBV_WR_BIND_MW:
	case IBV_WR_LOCAL_INV:
		return type != IBV_QPT_UD && type < IBV_QPT_DRIVER;
	case IBV_WR_RDMA_READ:
		if (type == SOFT_QPT_SRD)
			return true;
		__attribute__((fallthrough));
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
	case SOFT_ATOMIC_WRITE:
		return type == IBV_QPT_RC || type == IBV_QPT_XRC_SEND || type == SOFT_QPT_DCI;
	case IBV_WR_SEND_WITH_INV:
		return type == IBV_QPT_RC || type == IBV_QPT_XRC_SEND;
	default:
		return false;
	}
}

/* Sets the functions of an extended queue pair. */
void soft_qp_extend(struct ibv_qp_ex *verbs);

#endif
