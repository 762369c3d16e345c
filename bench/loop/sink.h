/* SPDX-License-Identifier: MIT */
/*
 * The other end of a stream of messages: takes them and posts their receives again,
 * until the alarm.
 */
#ifndef BENCH_LOOP_SINK_H
#define BENCH_LOOP_SINK_H

#include "bench/loop/verify_slots.h"
#include "core/base/clock.h"
#include "reports/result/rate_windows.h"

#define SINK_BATCH 16

/* The messages among completions. */
uint64_t sink_count(const struct ibv_wc *wc, int n_wc);

/*
 * Of completions that are left because of an error: its code. That the client has said
 * stop hides none that failed before.
 */
int sink_leave(struct lane *lane, const struct ibv_wc *wc, int n_wc, struct error *error);

static ALWAYS_INLINE int sink_take(struct lane *lane, const struct ibv_wc *wc, int n_wc,
				   bool is_moved, struct error *error)
{
	for (int i = 0; i < n_wc; i++) {
		bool is_message = false;
		int code = lane_take_next(lane, &wc[i], &is_message, is_moved, error);

		if (unlikely(code))
			return sink_leave(lane, &wc[i], n_wc - i, error);
		lane->result.messages += is_message;
		lane_think(lane);
	}
	return 0;
}

/*
 * Constants at the call: whether its receives have several places, are looked at, and when they
 * come is kept: windows NULL, it is not.
 */
static ALWAYS_INLINE int sink(struct lane *lane, bool is_moved, bool is_verified,
			      struct rate_windows *windows, struct error *error)
{
	uint64_t start = windows ? clock_now_ns() : 0;
	/* Those of a batch would all come when the last of them has been thought about. */
	int most = windows && lane->settings.parameters->think_ns ? 1 : SINK_BATCH;

	for (;;) {
		uint64_t before = lane->result.messages;
		struct ibv_wc wc[SINK_BATCH];
		int got = completion_wait(&lane->endpoint.completion, most, wc, UINT64_MAX, error);

		/* Before their receives are posted again. */
		if (is_verified && got > 0 && verify_slots_check(lane, wc, got, error))
			return error->code;
		if (got > 0)
			got = sink_take(lane, wc, got, is_moved, error);
		if (windows)
			rate_windows_add(windows, clock_now_ns() - start,
					 lane->result.messages - before);
		if (unlikely(got < 0))
			return got;
		/* There may always be more, and the client's word says how long ago it is. */
		if (windows && unlikely(alarm_raised(&lane->endpoint.alarm)))
			return alarm_reason(&lane->endpoint.alarm, error);
	}
}

/* windows NULL: nothing is lost on its way, and the client knows when each one came. */
static inline int loop_sink(struct lane *lane, struct rate_windows *windows, struct error *error)
{
	bool is_verified = lane->settings.parameters->verify;

	if (windows)
		return sink(lane, lane->settings.walks || is_verified, is_verified, windows, error);
	if (lane->settings.walks)
		return sink(lane, true, false, NULL, error);
	return is_verified ? sink(lane, true, true, NULL, error)
			   : sink(lane, false, false, NULL, error);
}

/*
 * Adds what the loop has left, and what is still to come once the client has said stop:
 * where messages are lost, or looked at.
 */
int sink_drain(struct lane *lane, uint64_t *messages, struct error *error);

#endif
