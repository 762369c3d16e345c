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

struct granting {
	struct grants grants;
	struct grant *grant; /* NULL: it is not granted */
};

/* Of all of the lane's other buffer. */
int granting_open(struct granting *granting, const struct lane *lane, struct error *error);
void granting_close(struct granting *granting);

/* What is asked becomes the answer. True for a grant. */
bool granting_answer(struct granting *granting, const struct lane *lane);

/* The words that are sent next. */
void granting_write(const struct lane *lane, const struct pool_message *words);

/* Those that answer them, in their place. Other than what was asked for is an error. */
int granting_read(const struct lane *lane, struct pool_message *words, struct error *error);

#endif
