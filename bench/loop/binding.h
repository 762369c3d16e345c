/* SPDX-License-Identifier: MIT */
/*
 * Binds a memory window of type 2 and invalidates it again, one request at a time. A sample is the
 * time of one of the two, from post to local completion.
 */
#ifndef BENCH_LOOP_BINDING_H
#define BENCH_LOOP_BINDING_H

#include <errno.h>

#include "bench/loop/loop.h"

/* Sets *ticks to how long the request took. */
static ALWAYS_INLINE int binding_post(struct lane *lane, const struct loop_run *run,
				      struct post_work *work, enum post_operation operation,
				      uint64_t *ticks, struct error *error)
{
	uint64_t start = clock_ticks(run->is_counter);
	struct ibv_wc wc;
	int code =
		post_send(&lane->flows[0].queue, work, operation, POST_CLASSIC, IBV_SEND_SIGNALED);

	if (unlikely(code))
		return lane_post_failed(code, error);
	code = completion_wait(&lane->endpoint.completion, 1, &wc, lane->settings.stalled_ns,
			       error);
	*ticks = clock_ticks(run->is_counter) - start;
	if (unlikely(code < 0))
		return code == -ETIMEDOUT ? lane_stalled(lane, error) : code;
	lane->result.completions++;
	return likely(wc.status == IBV_WC_SUCCESS) ? 0 : lane_completion_failed(&wc, error);
}

/* operation, the one to time, is POST_BIND_MW or POST_LOCAL_INV. */
static ALWAYS_INLINE int loop_binding(struct lane *lane, const struct loop_run *run,
				      enum post_operation operation, struct error *error)
{
	struct flow *flow = &lane->flows[0];
	uint64_t last = clock_ticks(run->is_counter);
	uint64_t count = 0;
	int code = 0;

	while (count < run->messages && last < run->until) {
		uint64_t bound = 0, invalidated = 0;

		if (unlikely(alarm_raised(&lane->endpoint.alarm))) {
			code = alarm_reason(&lane->endpoint.alarm, error);
			break;
		}
		loop_change_key(flow);
		code = binding_post(lane, run, &flow->work, POST_BIND_MW, &bound, error);
		if (likely(!code))
			code = binding_post(lane, run, &flow->notice, POST_LOCAL_INV, &invalidated,
					    error);
		if (unlikely(code))
			break;
		loop_record(run, operation == POST_BIND_MW ? bound : invalidated);
		count++;
		last = clock_ticks(run->is_counter);
	}
	lane->result.messages += count;
	return code;
}

#endif
