/* SPDX-License-Identifier: MIT */
/*
 * Code shared by the measurement loops. A shape is one always_inline function, and an
 * operation binds it to its own constant. Whatever else a case asks for is a run-time
 * value, except in the inner loops of the common cases: see LOOP_ON_PATH.
 */
#ifndef BENCH_LOOP_LOOP_H
#define BENCH_LOOP_LOOP_H

#include <string.h>

#include "bench/lane/lane.h"
#include "core/base/hist.h"
#include "reports/result/rate_windows.h"

struct load;

struct loop_run {
	uint64_t messages;            /* to measure; UINT64_MAX: until the time is over */
	uint64_t until;               /* ticks; UINT64_MAX: until all messages are through */
	uint64_t origin;              /* ticks that windows begin with; 0: with the loop */
	struct hist *hist;            /* of nanoseconds; latency */
	struct rate_windows *windows; /* bandwidth: of messages that are done here, */
	bool counts_received;         /* or, both ways, of those that have come */
	struct load *load;            /* of a load */
	uint64_t mult;                /* of clock_to_ns, halved for half round trips */
	bool is_counter;              /* the clock is a counter of the processor */
	bool is_responder;            /* until the alarm; nothing else here is used */
	bool has_waited;              /* for others, since the loop before, and those did for it */
};

/*
 * Evaluates call, which runs an inner loop with kind, a variable of the caller. The path is a
 * constant in each instance of that loop: one test serves many messages.
 */
#define LOOP_ON_PATH(lane, kind, call)                                                       \
	((lane)->path == POST_EXTENDED_INLINE ? ((kind).path = POST_EXTENDED_INLINE, (call)) \
	 : (lane)->path == POST_EXTENDED      ? ((kind).path = POST_EXTENDED, (call))        \
					      : ((kind).path = POST_CLASSIC, (call)))

/* Defines a loop of an operation, name(lane, run, error): the shape with that operation. */
#define LOOP_BIND(name, shape, operation)                                                   \
	static int name(struct lane *lane, const struct loop_run *run, struct error *error) \
	{                                                                                   \
		return shape(lane, run, operation, error);                                  \
	}

/* The payload of the next message, if it is one to be verified; and what came. */
static ALWAYS_INLINE void loop_fill(struct lane *lane)
{
	if (lane->settings.shape->is_read)
		return;
	if (unlikely(verify_is_due(&lane->verify)))
		verify_fill(&lane->verify);
	else if (lane->verify.is_lossy)
		verify_name(&lane->verify);
}

/* An end that answers goes by what has come, where the one before may be lost. */
static ALWAYS_INLINE void loop_find(struct lane *lane)
{
	if (lane->verify.is_lossy)
		verify_find(&lane->verify);
}

static ALWAYS_INLINE int loop_check(struct lane *lane, struct error *error)
{
	int code = 0;

	if (unlikely(verify_is_due(&lane->verify))) {
		code = verify_check(&lane->verify, error);
		/* Whatever the next ones do not bring is missed at the next look. */
		memory_clear(lane->verify.memory, lane->verify.received, lane->verify.length);
	}
	verify_next(&lane->verify);
	return code;
}

/* Whether the next post is to be signalled: one in signal_every. */
static ALWAYS_INLINE int loop_next_signal(struct lane *lane, struct error *error)
{
	if (likely(--lane->until_signal))
		return 0;
	/* The one before must be complete by then, so that the send queue never fills. */
	if (lane->is_signal_out && lane_settle(lane, error))
		return -EIO;
	lane->until_signal = lane->settings.signal_every;
	lane->is_signal_out = true;
	return IBV_SEND_SIGNALED;
}

/* Posts the operation, and with it the notification of the specification or not. */
static ALWAYS_INLINE int loop_post_flow(struct flow *flow, enum post_operation operation,
					enum post_path path, bool is_notified,
					unsigned int signalled, struct error *error)
{
	int code =
		post_send(&flow->queue, &flow->work, operation, path, is_notified ? 0 : signalled);

	if (is_notified && likely(!code))
		code = post_send(&flow->queue, &flow->notice, POST_SEND, path, signalled);
	return unlikely(code) ? lane_post_failed(code, error) : 0;
}

/* A write; one that is signalled rings, and tells the other end its number, from 1. */
static ALWAYS_INLINE int loop_post_ringing(struct flow *flow, enum post_path path,
					   unsigned int signalled, struct error *error)
{
	if (likely(!signalled))
		return loop_post_flow(flow, POST_WRITE, path, false, 0, error);
	flow->work.imm++;
	return loop_post_flow(flow, POST_WRITE_IMM, path, false, signalled, error);
}

#endif
