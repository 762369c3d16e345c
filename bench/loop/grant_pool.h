/* SPDX-License-Identifier: MIT */
/*
 * A pool of one grant, which a lane of 'alloc' asks for again and again, and what both ends
 * say of it in the message that they send and in the one that has come.
 */
#ifndef BENCH_LOOP_GRANT_POOL_H
#define BENCH_LOOP_GRANT_POOL_H

#include "bench/lane/lane.h"
#include "core/pool/grants.h"
#include "core/pool/message.h"

struct grant_pool {
	struct grants grants;
	struct grant *grant; /* NULL: it is not granted */
};

/* Of all of the lane's other buffer. */
int grant_pool_open(struct grant_pool *pool, const struct lane *lane, struct error *error);
void grant_pool_close(struct grant_pool *pool);

/* What is asked becomes the answer. True for a grant. */
bool grant_pool_answer(struct grant_pool *pool, const struct lane *lane);

/* The words that are sent next. */
void grant_pool_write(const struct lane *lane, const struct pool_message *words);

/* Those that answer them, in their place. Other than what was asked for is an error. */
int grant_pool_read(const struct lane *lane, struct pool_message *words, struct error *error);

#endif
