/* SPDX-License-Identifier: MIT */
/*
 * What the loops share. A loop is one always_inline function for each shape; path
 * and clock are constants in each of its instances, and loop_dispatch picks the
 * instance before it starts. An operation wraps a shape with its own constant.
 */
#ifndef BENCH_LOOP_H
#define BENCH_LOOP_H

#include "bench/lane.h"
#include "core/hist.h"

struct loop_run {
	uint64_t messages; /* to measure */
	struct hist *hist; /* of nanoseconds */
	uint64_t mult;     /* of clock_to_ns, halved for half round trips */
	bool is_counter;   /* the clock is a counter of the processor */
	bool is_responder; /* until the alarm; messages and hist are not used */
};

typedef int loop_function(struct lane *lane, const struct loop_run *run, enum post_path path,
			  bool is_counter, struct error *error);

static ALWAYS_INLINE int loop_dispatch(loop_function *loop, struct lane *lane,
				       const struct loop_run *run, struct error *error)
{
	switch (lane->path) {
	case POST_EXTENDED_INLINE:
		return run->is_counter ? loop(lane, run, POST_EXTENDED_INLINE, true, error)
				       : loop(lane, run, POST_EXTENDED_INLINE, false, error);
	case POST_EXTENDED:
		return run->is_counter ? loop(lane, run, POST_EXTENDED, true, error)
				       : loop(lane, run, POST_EXTENDED, false, error);
	case POST_EXTENDED_LIST:
	case POST_CLASSIC:
		break;
	}
	return run->is_counter ? loop(lane, run, POST_CLASSIC, true, error)
			       : loop(lane, run, POST_CLASSIC, false, error);
}

/*
 * Posts the lane's operation, one in signal_every signalled. The one before must
 * be complete by then, so that the send queue never fills.
 */
static ALWAYS_INLINE int loop_post(struct lane *lane, enum post_operation operation,
				   enum post_path path, struct error *error)
{
	unsigned int signalled = 0;
	int code;

	if (unlikely(!--lane->until_signal)) {
		if (lane->is_signal_out && lane_settle(lane, error))
			return -EIO;
		lane->until_signal = lane->signal_every;
		lane->is_signal_out = true;
		signalled = IBV_SEND_SIGNALED;
	}
	code = post_send(&lane->queue, &lane->work, operation, path, signalled);
	return unlikely(code) ? lane_post_failed(code, error) : 0;
}

#endif
