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

/* How one end posts: loop_post or loop_post_notified. */
typedef int pingpong_post(struct lane *lane, enum post_operation operation, enum post_path path,
			  struct error *error);

/* Waits for the message, passing by completions of posts. -ETIMEDOUT has no error yet. */
static ALWAYS_INLINE int pingpong_await(struct lane *lane, uint64_t timeout_ns, struct error *error)
{
	bool is_message = false;

	do {
		struct ibv_wc wc;
		int code = completion_wait(lane->completion, 1, &wc, timeout_ns, error);

		if (unlikely(code < 0))
			return code;
		code = lane_take(lane, &wc, &is_message, error);
		if (unlikely(code))
			return code;
	} while (!is_message);
	return 0;
}

/* So many times what one answer may take, until all that are late have come. */
#define PINGPONG_LATE 10

/*
 * What is only late must not be taken for the answer to the next message: after one that
 * is missing nothing is sent before nothing has come for as long again.
 */
static inline int pingpong_missed(struct lane *lane, uint64_t number, int code, struct error *error)
{
	uint64_t deadline = clock_now_ns() + PINGPONG_LATE * lane->stalled_ns;

	if (lane_missed(lane, number, code, error))
		return error->code;
	do
		code = pingpong_await(lane, lane->stalled_ns, error);
	while (!code && clock_now_ns() < deadline);
	if (!code)
		return error_set(error, -EPROTO, "more answers come than messages were sent");
	return code == -ETIMEDOUT ? 0 : code;
}

/* What makes another loop of it. Constants at the call. */
struct pingpong_kind {
	pingpong_post *post;
	enum post_operation operation;
	enum post_path path;
	bool is_counter;
	bool is_verified; /* the payloads of both directions */
};

/* One round trip. *took: it has; where messages may be lost, this one may be. */
static ALWAYS_INLINE int pingpong_round(struct lane *lane, const struct pingpong_kind kind,
					uint64_t number, bool *took, struct error *error)
{
	int code;

	if (kind.is_verified)
		loop_fill(lane);
	if (unlikely(kind.post(lane, kind.operation, kind.path, error)))
		return error->code;
	code = pingpong_await(lane, lane->stalled_ns, error);
	*took = likely(!code);
	if (unlikely(code))
		return pingpong_missed(lane, number, code, error);
	return 0;
}

static ALWAYS_INLINE int pingpong_initiate(struct lane *lane, const struct loop_run *run,
					   const struct pingpong_kind kind, struct error *error)
{
	uint64_t last = clock_ticks(kind.is_counter);
	uint64_t count = 0;
	int code = 0;

	while (count < run->messages && last < run->until) {
		uint64_t now;
		bool took = false;

		code = pingpong_round(lane, kind, lane->messages + count, &took, error);
		if (unlikely(code))
			break;
		now = clock_ticks(kind.is_counter);
		if (likely(took)) {
			hist_add(run->hist, clock_to_ns(now - last, run->mult));
			count++;
		}
		last = now;
		if (kind.is_verified && likely(took)) {
			code = loop_check(lane, error);
			if (unlikely(code))
				break;
		}
	}
	lane->messages += count;
	return code;
}

/* Answers until the alarm. */
static ALWAYS_INLINE int pingpong_respond(struct lane *lane, const struct pingpong_kind kind,
					  struct error *error)
{
	for (;;) {
		int code = pingpong_await(lane, UINT64_MAX, error);

		if (unlikely(code))
			return code;
		lane_think(lane);
		/* What this end reads comes only after it has answered. */
		if (kind.is_verified && !lane->shape->is_read) {
			loop_fill(lane);
			if (unlikely(loop_check(lane, error)))
				return error->code;
		}
		if (unlikely(kind.post(lane, kind.operation, kind.path, error)))
			return error->code;
		lane->messages++;
	}
}

static ALWAYS_INLINE int pingpong(struct lane *lane, const struct loop_run *run,
				  const struct pingpong_kind kind, struct error *error)
{
	if (run->is_responder)
		return pingpong_respond(lane, kind, error);
	return pingpong_initiate(lane, run, kind, error);
}

static ALWAYS_INLINE int loop_pingpong(struct lane *lane, const struct loop_run *run,
				       enum post_operation operation, enum post_path path,
				       bool is_counter, struct error *error)
{
	const struct pingpong_kind verified = {loop_post, operation, path, is_counter, true};
	const struct pingpong_kind plain = {loop_post, operation, path, is_counter, false};

	return lane->verify.every ? pingpong(lane, run, verified, error)
				  : pingpong(lane, run, plain, error);
}

/* The same, with the notification of the specification behind each message. */
static ALWAYS_INLINE int loop_pingpong_notified(struct lane *lane, const struct loop_run *run,
						enum post_operation operation, enum post_path path,
						bool is_counter, struct error *error)
{
	const struct pingpong_kind verified = {loop_post_notified, operation, path, is_counter,
					       true};
	const struct pingpong_kind plain = {loop_post_notified, operation, path, is_counter, false};

	return lane->verify.every ? pingpong(lane, run, verified, error)
				  : pingpong(lane, run, plain, error);
}

#endif
