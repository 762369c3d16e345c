/* SPDX-License-Identifier: MIT */
/*
 * One at a time, from posting to the own completion: operations that the other end
 * takes no part in.
 */
#ifndef BENCH_LOOP_REQUEST_H
#define BENCH_LOOP_REQUEST_H

#include <errno.h>

#include "bench/loop.h"

/* Constants at the call. */
struct request_kind {
	enum post_operation operation;
	enum post_path path;
	bool is_counter;
	bool is_verified; /* the payloads that come */
};

static ALWAYS_INLINE int request_one(struct lane *lane, const struct request_kind kind,
				     struct error *error)
{
	struct ibv_wc wc;
	bool is_message;
	int code = post_send(&lane->flows[0].queue, &lane->flows[0].work, kind.operation, kind.path,
			     IBV_SEND_SIGNALED);

	if (unlikely(code))
		return lane_post_failed(code, error);
	code = completion_wait(lane->completion, 1, &wc, lane->stalled_ns, error);
	if (unlikely(code < 0))
		return code == -ETIMEDOUT ? lane_stalled(lane, error) : code;
	return lane_take(lane, &wc, &is_message, error);
}

static ALWAYS_INLINE int request_each(struct lane *lane, const struct loop_run *run,
				      const struct request_kind kind, struct error *error)
{
	uint64_t last = clock_ticks(kind.is_counter);
	uint64_t count = 0;
	int code = 0;

	while (count < run->messages && last < run->until) {
		uint64_t now;

		code = request_one(lane, kind, error);
		if (unlikely(code))
			break;
		now = clock_ticks(kind.is_counter);
		hist_add(run->hist, clock_to_ns(now - last, run->mult));
		last = now;
		count++;
		if (kind.is_verified) {
			code = loop_check(lane, error);
			if (unlikely(code))
				break;
		}
	}
	lane->messages += count;
	return code;
}

static ALWAYS_INLINE int loop_request(struct lane *lane, const struct loop_run *run,
				      enum post_operation operation, enum post_path path,
				      bool is_counter, struct error *error)
{
	const struct request_kind verified = {operation, path, is_counter, true};
	const struct request_kind plain = {operation, path, is_counter, false};

	return lane->verify.every ? request_each(lane, run, verified, error)
				  : request_each(lane, run, plain, error);
}

#endif
