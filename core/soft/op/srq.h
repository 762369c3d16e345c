/* SPDX-License-Identifier: MIT */
/*
 * Shared receive queues. A process that takes a receive and leaves fewer than the limit notifies
 * the owner, once.
 */
#ifndef CORE_SOFT_OP_SRQ_H
#define CORE_SOFT_OP_SRQ_H

#include <infiniband/verbs.h>
#include <stdatomic.h>

#include "core/base/compiler.h"
#include "core/soft/op/receive_queue.h"
#include "core/soft/peer/image.h"

struct soft_cq;
struct soft_xrcd;

struct soft_srq {
	struct ibv_srq verbs;
	struct soft_srq_image *image;
	struct soft_lock lock;
	struct soft_ring receives;
	_Atomic uint32_t known_head;
	uint32_t number;
	uint32_t max_sge;
	struct soft_xrcd *xrcd; /* XRC only, as is its completion queue */
	struct soft_cq *cq;
	uint32_t fetched_events;
	_Atomic uint32_t users;
};

static inline struct soft_srq *soft_srq_of(struct ibv_srq *srq)
{
	return CONTAINER_OF(srq, struct soft_srq, verbs);
}

/* Verbs that the context calls by pointer. */
struct ibv_srq *soft_srq_create_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr);
int soft_srq_number(struct ibv_srq *srq, uint32_t *number);
int soft_srq_post(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

#endif
