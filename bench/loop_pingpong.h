/* SPDX-License-Identifier: MIT */
/*
 * Ping-pong by messages: one end posts, the other waits for the completion of its
 * receive and posts back. The initiator takes one sample for each round trip, from
 * completion to completion, so that the samples add up to all the time there was.
 */
#ifndef BENCH_LOOP_PINGPONG_H
#define BENCH_LOOP_PINGPONG_H

#include <errno.h>

#include "bench/loop.h"

/* Waits for the message, passing by completions of posts. */
static ALWAYS_INLINE int pingpong_await(struct lane *lane, uint64_t timeout_ns, struct error *error)
{
	bool is_message = false;

	do {
		struct ibv_wc wc;
		int code = completion_wait(lane->completion, 1, &wc, timeout_ns, error);

		if (unlikely(code < 0))
			return code == -ETIMEDOUT ? lane_stalled(error) : code;
		code = lane_take(lane, &wc, &is_message, error);
		if (unlikely(code))
			return code;
	} while (!is_message);
	return 0;
}

static ALWAYS_INLINE int pingpong_initiate(struct lane *lane, const struct loop_run *run,
					   enum post_operation operation, enum post_path path,
					   bool is_counter, struct error *error)
{
	uint64_t last = clock_ticks(is_counter);

	for (uint64_t i = 0; i < run->messages; i++) {
		uint64_t now;

		if (unlikely(loop_post(lane, operation, path, error)) ||
		    unlikely(pingpong_await(lane, lane->stalled_ns, error)))
			return error->code;
		now = clock_ticks(is_counter);
		hist_add(run->hist, clock_to_ns(now - last, run->mult));
		last = now;
	}
	lane->messages += run->messages;
	return 0;
}

/* Answers until the alarm. */
static ALWAYS_INLINE int pingpong_respond(struct lane *lane, enum post_operation operation,
					  enum post_path path, struct error *error)
{
	for (;;) {
		if (unlikely(pingpong_await(lane, UINT64_MAX, error)) ||
		    unlikely(loop_post(lane, operation, path, error)))
			return error->code;
		lane->messages++;
	}
}

static ALWAYS_INLINE int loop_pingpong(struct lane *lane, const struct loop_run *run,
				       enum post_operation operation, enum post_path path,
				       bool is_counter, struct error *error)
{
	if (run->is_responder)
		return pingpong_respond(lane, operation, path, error);
	return pingpong_initiate(lane, run, operation, path, is_counter, error);
}

#endif
