/* SPDX-License-Identifier: MIT */
/*
 * One signaled write at a time. A sample is the time of one call: the one that posts, or the one
 * that polls a completion that has already arrived. Reading the clock is included.
 */
#ifndef BENCH_LOOP_SINGLE_H
#define BENCH_LOOP_SINGLE_H

#include <errno.h>

#include "bench/loop/loop.h"

struct single {
	uint64_t posted; /* ticks of the post */
	uint64_t polled; /* ticks of the successful poll */
};

/* Polls until the completion arrives, in any completion mode. */
static ALWAYS_INLINE int single_take(struct lane *lane, const struct loop_run *run,
				     struct single *single, struct error *error)
{
	uint64_t first = clock_ticks(run->is_counter);
	uint64_t start = first;
	bool is_message;
	struct ibv_wc wc;
	int got;

	while (true) {
		got = completion_poll(&lane->endpoint.completion, 1, &wc);
		single->polled = clock_ticks(run->is_counter) - start;
		if (likely(got))
			break;
		if (unlikely(alarm_raised(&lane->endpoint.alarm)))
			return alarm_reason(&lane->endpoint.alarm, error);
		start = clock_ticks(run->is_counter);
		if (unlikely(clock_to_ns(start - first, run->mult) > lane->settings.stalled_ns))
			return lane_stalled(lane, error);
	}
	return unlikely(got < 0) ? completion_poll_failed(error)
				 : lane_take(lane, &wc, &is_message, error);
}

static ALWAYS_INLINE int single_once(struct lane *lane, const struct loop_run *run,
				     enum post_path path, struct single *single,
				     struct error *error)
{
	struct flow *flow = &lane->flows[0];
	uint64_t start = clock_ticks(run->is_counter);
	int code = post_send(&flow->queue, &flow->work, POST_WRITE, path, IBV_SEND_SIGNALED);

	single->posted = clock_ticks(run->is_counter) - start;
	return unlikely(code) ? lane_post_failed(code, error)
			      : single_take(lane, run, single, error);
}

/* is_poll: time the poll instead of the post. */
static ALWAYS_INLINE int loop_single(struct lane *lane, const struct loop_run *run, bool is_poll,
				     struct error *error)
{
	uint64_t count = 0;
	int code = 0;

	while (count < run->messages && clock_ticks(run->is_counter) < run->until) {
		struct single single = {0};

		code = single_once(lane, run, lane->path, &single, error);
		if (unlikely(code))
			break;
		loop_record(run, is_poll ? single.polled : single.posted);
		count++;
	}
	lane->result.messages += count;
	return code;
}

#endif
