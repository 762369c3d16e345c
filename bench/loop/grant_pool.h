/* SPDX-License-Identifier: MIT */
/*
 * A pool with a single grant, requested repeatedly by a lane of 'alloc', and the messages that
 * both sides exchange about it.
 */
#ifndef BENCH_LOOP_GRANT_POOL_H
#define BENCH_LOOP_GRANT_POOL_H

#include "bench/lane/lane.h"
#include "core/pool/grants.h"
#include "core/pool/message.h"

struct grant_pool {
	struct grants grants;
	struct grant *grant; /* NULL: not granted */
};

/* Opens a pool over the lane's memory to grant. */
int grant_pool_open(struct grant_pool *pool, const struct lane *lane, struct error *error);
void grant_pool_close(struct grant_pool *pool);

/* Writes the reply to the received request. Returns true for a grant. */
bool grant_pool_answer(struct grant_pool *pool, const struct lane *lane);

/* Writes the message to send next. */
void grant_pool_write(const struct lane *lane, const struct pool_message *words);

/*
 * Replaces the request in `words` by the received reply. Fails if the reply does not match the
 * request.
 */
int grant_pool_read(const struct lane *lane, struct pool_message *words, struct error *error);

#endif
