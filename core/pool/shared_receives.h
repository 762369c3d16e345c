/* SPDX-License-Identifier: MIT */
/*
 * The shared receive queue of all clients of a pool. Some receives are kept in reserve:
 * when the device reports that the queue runs low, they are posted before any completion is
 * handled. The qp_context of each queue pair on this queue is an atomic_bool, which is set
 * when the queue pair has taken its last receive, if the device reports that. Everything
 * but the device's events happens in one thread.
 */
#ifndef CORE_POOL_SHARED_RECEIVES_H
#define CORE_POOL_SHARED_RECEIVES_H

#include <stdatomic.h>

#include "core/memory/memory.h"
#include "core/pool/message.h"
#include "core/verbs/async.h"

/* Set in the wr_id of receives. */
#define SHARED_RECEIVES_RECEIVE (1ULL << 63)

struct shared_receives {
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	struct memory memory;
	uint32_t depth;
	uint32_t n_reserve;
	uint32_t *reserve; /* numbers of the receives in reserve */
	const struct ibv_cq *cq;
	struct async async;
	int wake; /* an eventfd: the device has reported an event */
	atomic_bool is_low;
	uint64_t n_low;
	atomic_bool is_broken;
};

/* cq is the completion queue of the receives; if it fails, so does shared_receives_look. */
int shared_receives_open(struct shared_receives *mailbox, struct ibv_pd *pd,
			 const struct ibv_cq *cq, uint32_t depth, struct error *error);
int shared_receives_close(struct shared_receives *mailbox); /* a zeroed one is fine */

/* Posts the reserve if the device has reported that the queue runs low. */
int shared_receives_look(struct shared_receives *mailbox, struct error *error);

/*
 * Returns the message of a receive. Handle it before shared_receives_give, which posts the
 * receive again.
 */
const uint8_t *shared_receives_at(const struct shared_receives *mailbox, uint64_t wr_id);
int shared_receives_give(struct shared_receives *mailbox, uint64_t wr_id, struct error *error);

#endif
