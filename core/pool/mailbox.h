/* SPDX-License-Identifier: MIT */
/*
 * Shared receives, of all clients of a pool or of one. Some are kept back: when more are taken
 * at once than are being given back, the device says that they run low, and these are posted,
 * before anything that has come is looked at. The qp_context of a queue pair that takes of
 * them is an atomic_bool: true once it has taken its last, where the device tells that. One
 * thread has all this; only events come by another.
 */
#ifndef CORE_POOL_MAILBOX_H
#define CORE_POOL_MAILBOX_H

#include <stdatomic.h>

#include "core/async.h"
#include "core/buffer.h"
#include "core/pool/message.h"

/* In the wr_id of receives. */
#define MAILBOX_RECEIVE (1ULL << 63)

/* What the device has said of the mailboxes of one server. */
struct mailbox_news {
	int fd; /* an eventfd: there is some */
	uint64_t n_low;
	atomic_bool is_broken;
};

struct mailbox {
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	struct buffer buffer;
	uint32_t depth;
	uint32_t n_reserve;
	uint32_t *reserve; /* numbers of those that are kept back */
	const struct ibv_cq *cq;
	struct async async;
	struct mailbox_news *news;
	atomic_bool is_low; /* the device has said so */
};

/* For any number of mailboxes. A zeroed one may be closed. */
int mailbox_news_open(struct mailbox_news *news, struct error *error);
void mailbox_news_close(struct mailbox_news *news);

/* 1: mailboxes are to be looked at, 0, or an error: one of them failed. */
int mailbox_news_take(struct mailbox_news *news, struct error *error);

/* cq: where their completions come; it fails for all of them. The news outlive it. */
int mailbox_open(struct mailbox *mailbox, struct ibv_pd *pd, const struct ibv_cq *cq,
		 uint32_t depth, struct mailbox_news *news, struct error *error);
int mailbox_close(struct mailbox *mailbox); /* a zeroed one is fine */

/* Posts what was kept back, if the device has said that they run low. */
int mailbox_look(struct mailbox *mailbox, struct error *error);

/* What came by a receive, which is looked at before it is given back. */
const uint8_t *mailbox_at(const struct mailbox *mailbox, uint64_t wr_id);
int mailbox_give(struct mailbox *mailbox, uint64_t wr_id, struct error *error);

#endif
