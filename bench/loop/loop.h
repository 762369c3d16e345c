/* SPDX-License-Identifier: MIT */
/*
 * Code shared by the measurement loops. A shape is one always_inline function, and an operation
 * binds it to its own constant. All other settings of a case are run-time values, except in the
 * inner loops of the common cases: see LOOP_ON_PATH.
 */
#ifndef BENCH_LOOP_LOOP_H
#define BENCH_LOOP_LOOP_H

#include <string.h>

#include "bench/lane/lane.h"
#include "bench/loop/samples.h"
#include "bench/loop/timeline.h"
#include "core/base/clock.h"
#include "core/base/hist.h"
#include "reports/result/rate_windows.h"

struct load;

struct loop_run {
	uint64_t messages;            /* to measure; UINT64_MAX: limited by time */
	uint64_t until;               /* tick at which to end; UINT64_MAX: limited by messages */
	uint64_t origin;              /* tick at which throughput windows start; 0: with the loop */
	struct hist *hist;            /* latencies in nanoseconds */
	struct samples *samples;      /* the same in order; NULL: not wanted */
	struct timeline *timeline;    /* parts of latencies; NULL: not wanted */
	struct rate_windows *windows; /* bandwidth: counts of local completions, */
	bool counts_received;         /* or, if bidirectional, of received messages */
	struct load *load;            /* for a load */
	uint64_t mult;                /* for clock_to_ns; halved for half round trips */
	bool is_counter;              /* the clock is the CPU's counter */
	bool is_responder;            /* run until the alarm; no other member is used */
	bool has_waited;              /* waited for other threads after the previous loop */
};

/*
 * Evaluates call, which runs an inner loop with kind, a variable of the caller. The path is a
 * constant in each instance of that loop, so one test serves many messages.
 */
#define LOOP_ON_PATH(lane, kind, call)                                                       \
	((lane)->path == POST_EXTENDED_INLINE ? ((kind).path = POST_EXTENDED_INLINE, (call)) \
	 : (lane)->path == POST_EXTENDED      ? ((kind).path = POST_EXTENDED, (call))        \
					      : ((kind).path = POST_CLASSIC, (call)))

/* Defines an operation's loop, name(lane, run, error): the shape bound to that operation. */
#define LOOP_BIND(name, shape, operation)                                                   \
	static int name(struct lane *lane, const struct loop_run *run, struct error *error) \
	{                                                                                   \
		return shape(lane, run, operation, error);                                  \
	}

static ALWAYS_INLINE void loop_record(const struct loop_run *run, uint64_t ticks)
{
	uint64_t ns = clock_to_ns(ticks, run->mult);

	hist_add(run->hist, ns);
	if (unlikely(run->samples))
		samples_add(run->samples, ns);
}

/* Fills the payload of the next message if it is to be verified. */
static ALWAYS_INLINE void loop_fill(struct lane *lane)
{
	if (lane->settings.shape->is_read)
		return;
	if (unlikely(verify_is_due(&lane->verify)))
		verify_fill(&lane->verify);
	else if (lane->verify.is_lossy)
		verify_name(&lane->verify);
}

/* On unreliable transports the responder takes the number from the received message. */
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
		/* Clear the buffer, so that data missing from the next message is noticed. */
		memory_clear(lane->verify.memory, lane->verify.received, lane->verify.length);
	}
	verify_next(&lane->verify);
	return code;
}

/* Returns the flags of the next post: one in signal_every is signaled. */
static ALWAYS_INLINE int loop_next_signal(struct lane *lane, struct error *error)
{
	if (likely(--lane->until_signal))
		return 0;
	/* The previous signaled post must have completed, so that the send queue never fills. */
	if (lane->is_signal_outstanding && lane_settle(lane, error))
		return -EIO;
	lane->until_signal = lane->settings.signal_every;
	lane->is_signal_outstanding = true;
	return IBV_SEND_SIGNALED;
}

/*
 * Makes the next binding of the flow's memory window use another key. Soft-RoCE expects the previous
 * one in the window.
 */
static ALWAYS_INLINE void loop_change_key(struct flow *flow)
{
	flow->window.post.mw->rkey = flow->work.rkey;
	flow->work.rkey = ibv_inc_rkey(flow->work.rkey);
	flow->notice.rkey = flow->notice.imm = flow->work.rkey;
}

/* The post that follows each message, which is then the signaled one. */
enum loop_notice {
	LOOP_ALONE,    /* nothing */
	LOOP_NOTIFIED, /* the specification's notification */
	LOOP_BOUND,    /* a message with the key of the memory window that was bound */
	LOOP_REVOKED,  /* the invalidation of that key */
};

static ALWAYS_INLINE enum post_operation loop_notice_operation(enum loop_notice notice)
{
	return notice == LOOP_BOUND     ? POST_SEND_IMM
	       : notice == LOOP_REVOKED ? POST_LOCAL_INV
					: POST_SEND;
}

/* Posts the operation, and what follows it. */
static ALWAYS_INLINE int loop_post_flow(struct flow *flow, enum post_operation operation,
					enum post_path path, enum loop_notice notice,
					unsigned int signaled, struct error *error)
{
	int code;

	if (operation == POST_BIND_MW)
		loop_change_key(flow);
	code = post_send(&flow->queue, &flow->work, operation, path, notice ? 0 : signaled);
	if (notice && likely(!code))
		code = post_send(&flow->queue, &flow->notice, loop_notice_operation(notice), path,
				 signaled);
	return unlikely(code) ? lane_post_failed(code, error) : 0;
}

/* Posts a write. A signaled one rings: it carries its number, from 1. */
static ALWAYS_INLINE int loop_post_ringing(struct flow *flow, enum post_path path,
					   unsigned int signaled, struct error *error)
{
	if (likely(!signaled))
		return loop_post_flow(flow, POST_WRITE, path, LOOP_ALONE, 0, error);
	flow->work.imm++;
	return loop_post_flow(flow, POST_WRITE_IMM, path, LOOP_ALONE, signaled, error);
}

#endif
