/* SPDX-License-Identifier: MIT */
/*
 * The receives that all clients of a pool share. Some are kept back: when more are taken at
 * once than are being given back, the device says that they run low, and these are posted,
 * before anything that has come is looked at. The qp_context of a queue pair that takes of
 * them is an atomic_bool: true once it has taken its last, where the device tells that. One
 * thread has all this; only events come by another.
 */
#ifndef CORE_POOL_SHARED_RECEIVES_H
#define CORE_POOL_SHARED_RECEIVES_H

#include <stdatomic.h>

#include "core/memory/memory.h"
#include "core/pool/message.h"
#include "core/verbs/async.h"

/* In the wr_id of receives. */
#define SHARED_RECEIVES_RECEIVE (1ULL << 63)

struct shared_receives {
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	struct memory memory;
	uint32_t depth;
	uint32_t n_reserve;
	uint32_t *reserve; /* numbers of those that are kept back */
	const struct ibv_cq *cq;
	struct async async;
	int wake; /* an eventfd: the device has said something */
	atomic_bool is_low;
	uint64_t n_low;
	atomic_bool is_broken;
};

/* cq: where their completions come; it fails for all of them. */
int shared_receives_open(struct shared_receives *mailbox, struct ibv_pd *pd,
			 const struct ibv_cq *cq, uint32_t depth, struct error *error);
int shared_receives_close(struct shared_receives *mailbox); /* a zeroed one is fine */

/* Posts what was kept back, if the device has said that they run low. */
int shared_receives_look(struct shared_receives *mailbox, struct error *error);

/* What came by a receive, which is looked at before it is given back. */
const uint8_t *shared_receives_at(const struct shared_receives *mailbox, uint64_t wr_id);
int shared_receives_give(struct shared_receives *mailbox, uint64_t wr_id, struct error *error);

#endif
