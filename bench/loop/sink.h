/* SPDX-License-Identifier: MIT */
/* The receiving side of a stream: takes messages and reposts their receives until the alarm. */
#ifndef BENCH_LOOP_SINK_H
#define BENCH_LOOP_SINK_H

#include "bench/loop/verify_slots.h"
#include "core/base/clock.h"
#include "reports/result/rate_windows.h"

#define SINK_BATCH 16

/* Returns the number of messages among completions, and counts them for their queue pairs. */
uint64_t sink_count(struct lane *lane, const struct ibv_wc *wc, int n_wc);

/*
 * Handles completions left over because of an error. Returns its code. A completion that failed is
 * reported even if the client has stopped the loop.
 */
int sink_leave(struct lane *lane, const struct ibv_wc *wc, int n_wc, struct error *error);

static ALWAYS_INLINE int sink_take(struct lane *lane, const struct ibv_wc *wc, int n_wc,
				   bool is_moved, bool counts_each, struct error *error)
{
	for (int i = 0; i < n_wc; i++) {
		bool is_message = false;
		int code = lane_take_next(lane, &wc[i], &is_message, is_moved, error);

		if (unlikely(code))
			return sink_leave(lane, &wc[i], n_wc - i, error);
		lane->result.messages += is_message;
		if (counts_each)
			lane->flows[lane_flow(&wc[i])].arrived += is_message;
		lane_think(lane);
	}
	return 0;
}

/*
 * is_moved, is_verified, counts_each and whether windows is NULL are constants at the call. windows: counts
 * messages by the time they arrive.
 */
static ALWAYS_INLINE int sink(struct lane *lane, bool is_moved, bool is_verified, bool counts_each,
			      struct rate_windows *windows, struct error *error)
{
	uint64_t start = windows ? clock_now_ns() : 0;
	/* Without this, a whole batch would be counted after the last one's think time. */
	int most = windows && lane->settings.parameters->think_ns ? 1 : SINK_BATCH;

	for (;;) {
		uint64_t before = lane->result.messages;
		struct ibv_wc wc[SINK_BATCH];
		int got = completion_wait(&lane->endpoint.completion, most, wc, UINT64_MAX, error);

		/* Verify before their receives are reposted. */
		if (is_verified && got > 0 && verify_slots_check(lane, wc, got, error))
			return error->code;
		if (got > 0)
			got = sink_take(lane, wc, got, is_moved, counts_each, error);
		if (windows)
			rate_windows_add(windows, clock_now_ns() - start,
					 lane->result.messages - before);
		if (unlikely(got < 0))
			return got;
		/* More messages may keep arriving, so check the alarm here as well. */
		if (windows && unlikely(alarm_raised(&lane->endpoint.alarm)))
			return alarm_reason(&lane->endpoint.alarm, error);
	}
}

/*
 * windows may be NULL if nothing is lost, because the client then knows when each message arrived.
 */
static inline int loop_sink(struct lane *lane, struct rate_windows *windows, struct error *error)
{
	bool is_verified = lane->settings.parameters->verify;

	if (pattern_is_multicast(lane->settings.parameters))
		return sink(lane, true, is_verified, true, windows, error);
	if (windows)
		return sink(lane, lane->settings.walks || is_verified, is_verified, false, windows,
			    error);
	if (lane->settings.walks)
		return sink(lane, true, false, false, NULL, error);
	return is_verified ? sink(lane, true, true, false, NULL, error)
			   : sink(lane, false, false, false, NULL, error);
}

/*
 * Adds the messages that the loop left over and those that still arrive after the client's stop.
 * Needed if messages are lost or verified.
 */
int sink_drain(struct lane *lane, uint64_t *messages, struct error *error);

#endif
