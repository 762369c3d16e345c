/* SPDX-License-Identifier: MIT */
/*
 * Ping-pong with messages: one side posts; the other waits for the completion of its receive and
 * posts a reply.
 */
#ifndef BENCH_LOOP_PINGPONG_H
#define BENCH_LOOP_PINGPONG_H

#include <errno.h>
#include <inttypes.h>

#include "bench/loop/round.h"

/*
 * Defers reposting a receive until the reply is on its way, because the peer waits for the reply.
 * At most one receive is deferred; if it is the only one, it is reposted at once.
 */
static ALWAYS_INLINE int pingpong_defer(struct lane *lane, uint64_t id, bool walks,
					struct error *error)
{
	if (unlikely(lane_post_deferred(lane, walks, error)))
		return error->code;
	lane->deferred = id;
	return likely(lane->settings.may_defer) ? 0 : lane_post_deferred(lane, walks, error);
}

/* Doorbells are numbered from 1, and none may be missing. */
static ALWAYS_INLINE int pingpong_check_number(const struct lane *lane, const struct ibv_wc *wc,
					       struct error *error)
{
	if (likely(post_imm(wc) == (uint32_t)lane->result.received))
		return 0;
	return error_set(error, -EBADMSG,
			 "received doorbell %" PRIu32 ", expected doorbell %" PRIu32, post_imm(wc),
			 (uint32_t)lane->result.received);
}

/*
 * Waits for a message and takes completions of posts on the way. -ETIMEDOUT leaves the error
 * unset.
 */
static ALWAYS_INLINE int pingpong_await(struct lane *lane, const struct round_kind kind,
					uint64_t timeout_ns, struct error *error)
{
	bool is_message = false;

	do {
		struct ibv_wc wc;
		struct completion *completion = &lane->endpoint.completion;
		int code = kind.is_split ? completion_wait_timed(completion, &wc, timeout_ns, error)
					 : completion_wait(completion, 1, &wc, timeout_ns, error);

		if (unlikely(code < 0))
			return code;
		code = lane_see(lane, &wc, &is_message, error);
		if (is_message && likely(!code))
			code = pingpong_defer(lane, wc.wr_id, kind.walks, error);
		if (kind.is_asked && is_message)
			lane->flows[0].work.rkey = post_imm(&wc);
		if (kind.rings && kind.is_verified && is_message && likely(!code))
			code = pingpong_check_number(lane, &wc, error);
		if (unlikely(code))
			return code;
	} while (!is_message);
	return 0;
}

/* Limit for late replies, as a multiple of the time allowed for one. */
#define PINGPONG_LATE 10

/*
 * A late reply must not be taken for the reply to the next message: after a missing one, wait
 * until nothing has arrived for that long.
 */
static inline int pingpong_missed(struct lane *lane, uint64_t number, int code, struct error *error)
{
	const struct round_kind kind = {.walks = lane->settings.walks};
	uint64_t deadline = clock_now_ns() + PINGPONG_LATE * lane->settings.lost_ns;

	if (lane_missed(lane, number, code, error))
		return error->code;
	do
		code = pingpong_await(lane, kind, lane->settings.lost_ns, error);
	while (!code && clock_now_ns() < deadline);
	if (!code)
		return error_set(error, -EPROTO, "received more replies than messages were sent");
	return code == -ETIMEDOUT ? 0 : code;
}

/* Posts the message, then the receive that was deferred. round: NULL for a reply. */
static ALWAYS_INLINE int pingpong_post(struct lane *lane, const struct round_kind kind,
				       const struct round *round, struct error *error)
{
	struct flow *flow = &lane->flows[0];
	int code;

	if (kind.walks && !kind.rings)
		lane_walk(flow, &flow->work);
	code = kind.rings ? round_ring(lane, kind, error) : round_post(lane, kind, error);
	if (round)
		round_posted(round, kind);
	return unlikely(code) ? code : lane_post_deferred(lane, kind.walks, error);
}

static ALWAYS_INLINE int pingpong_once(struct lane *lane, const struct round_kind kind,
				       uint64_t number, struct round *round, struct error *error)
{
	int code;

	if (kind.is_verified)
		loop_fill(lane);
	if (unlikely(pingpong_post(lane, kind, round, error)))
		return error->code;
	round_record(round);
	code = pingpong_await(lane, kind, lane->settings.lost_ns, error);
	round_completed(round, kind, lane);
	round->took = likely(!code);
	return unlikely(code) ? pingpong_missed(lane, number, code, error) : 0;
}

/* Replies until the alarm. */
static ALWAYS_INLINE int pingpong_respond(struct lane *lane, const struct round_kind kind,
					  struct error *error)
{
	for (;;) {
		int code = pingpong_await(lane, kind, UINT64_MAX, error);

		if (unlikely(code))
			return code;
		lane_think(lane);
		/* Data that this side reads arrives only after its reply. */
		if (kind.is_verified && !lane->settings.shape->is_read) {
			loop_find(lane);
			loop_fill(lane);
			if (unlikely(loop_check(lane, error)))
				return error->code;
		}
		if (unlikely(pingpong_post(lane, kind, NULL, error)))
			return error->code;
		lane->result.messages++;
	}
}

static ALWAYS_INLINE int pingpong(struct lane *lane, const struct loop_run *run,
				  const struct round_kind kind, struct error *error)
{
	int code;

	if (run->is_responder)
		return pingpong_respond(lane, kind, error);
	code = round_each(lane, run, kind, error);
	return unlikely(code) ? code : lane_post_deferred(lane, kind.walks, error);
}

static ALWAYS_INLINE int loop_pingpong(struct lane *lane, const struct loop_run *run,
				       enum post_operation operation, struct error *error)
{
	const struct round_kind kind = {.once = pingpong_once, .operation = operation};

	return round_run(pingpong, lane, run, kind, error);
}

/* Like loop_pingpong, but each message is followed by the specification's notification. */
static ALWAYS_INLINE int loop_pingpong_notified(struct lane *lane, const struct loop_run *run,
						enum post_operation operation, struct error *error)
{
	const struct round_kind kind = {
		.once = pingpong_once, .operation = operation, .notice = LOOP_NOTIFIED};

	return round_run(pingpong, lane, run, kind, error);
}

/*
 * The client binds a memory window and sends its key as immediate data; the server invalidates the
 * window by its reply.
 */
static ALWAYS_INLINE int loop_pingpong_bound(struct lane *lane, const struct loop_run *run,
					     enum post_operation operation, struct error *error)
{
	const struct round_kind kind = {
		.once = pingpong_once, .operation = POST_BIND_MW, .notice = LOOP_BOUND};
	const struct round_kind reply = {.operation = operation, .is_asked = true};

	return run->is_responder ? round_run(pingpong, lane, run, reply, error)
				 : round_run(pingpong, lane, run, kind, error);
}

/* Each message is a series of writes, the last of which rings. */
static ALWAYS_INLINE int loop_pingpong_ringing(struct lane *lane, const struct loop_run *run,
					       enum post_operation operation, struct error *error)
{
	const struct round_kind kind = {
		.once = pingpong_once, .operation = operation, .rings = true};

	return round_run(pingpong, lane, run, kind, error);
}

#endif
