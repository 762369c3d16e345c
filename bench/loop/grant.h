/* SPDX-License-Identifier: MIT */
/*
 * The loop of 'alloc': the client asks for memory and gives it back once granted. A sample is the
 * time from request to grant; giving back is not included.
 */
#ifndef BENCH_LOOP_GRANT_H
#define BENCH_LOOP_GRANT_H

#include <errno.h>

#include "bench/loop/grant_pool.h"
#include "bench/loop/pingpong.h"

/* Sends a request and receives the reply. *ticks is set to how long that took. */
static ALWAYS_INLINE int grant_ask(struct lane *lane, const struct loop_run *run,
				   const struct round_kind kind, struct pool_message *words,
				   uint64_t *ticks, struct error *error)
{
	uint64_t start;
	int code;

	*ticks = 0;
	grant_pool_write(lane, words);
	start = clock_ticks(run->is_counter);
	if (unlikely(pingpong_post(lane, kind, NULL, error)))
		return error->code;
	code = pingpong_await(lane, kind, lane->settings.stalled_ns, error);
	*ticks = clock_ticks(run->is_counter) - start;
	if (unlikely(code))
		return code == -ETIMEDOUT ? lane_stalled(lane, error) : code;
	return grant_pool_read(lane, words, error);
}

static ALWAYS_INLINE int grant_drive(struct lane *lane, const struct loop_run *run,
				     const struct round_kind kind, struct error *error)
{
	uint64_t last = clock_ticks(run->is_counter);
	uint64_t count = 0;
	int code = 0;

	while (count < run->messages && last < run->until && !code) {
		struct pool_message words = {.type = POOL_REQ_ALLOC,
					     .size = lane->settings.parameters->size};
		uint64_t ticks;

		code = grant_ask(lane, run, kind, &words, &ticks, error);
		if (unlikely(code))
			break;
		loop_record(run, ticks);
		count++;
		words.type = POOL_REQ_FREE;
		code = grant_ask(lane, run, kind, &words, &ticks, error);
		last = clock_ticks(run->is_counter);
	}
	lane->result.messages += count;
	return unlikely(code) ? code : lane_post_deferred(lane, false, error);
}

/* Serves requests until the alarm. */
static ALWAYS_INLINE int grant_respond(struct lane *lane, struct grant_pool *pool,
				       const struct round_kind kind, struct error *error)
{
	for (;;) {
		int code = pingpong_await(lane, kind, UINT64_MAX, error);

		if (unlikely(code))
			return code;
		lane_think(lane);
		lane->result.messages += grant_pool_answer(pool, lane);
		if (unlikely(pingpong_post(lane, kind, NULL, error)))
			return error->code;
	}
}

static ALWAYS_INLINE int loop_grant(struct lane *lane, const struct loop_run *run,
				    enum post_operation operation, struct error *error)
{
	const struct round_kind kind = {.operation = operation, .path = lane->path};
	struct grant_pool pool;
	int code;

	if (!run->is_responder)
		return grant_drive(lane, run, kind, error);
	code = grant_pool_open(&pool, lane, error);
	if (!code)
		code = grant_respond(lane, &pool, kind, error);
	grant_pool_close(&pool);
	return code;
}

#endif
