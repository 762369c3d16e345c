/* SPDX-License-Identifier: MIT */
#include "bench/loop/poll_memory.h"

int poll_memory_look(struct lane *lane, uint64_t *since_ns, bool is_responder, struct error *error)
{
	bool is_message;
	struct ibv_wc wc;
	uint64_t now;
	int got;

	if (alarm_raised(&lane->endpoint.alarm))
		return alarm_reason(&lane->endpoint.alarm, error);
	/* A failed write completes even if it is unsignaled. */
	got = completion_poll(&lane->endpoint.completion, 1, &wc);
	if (got)
		return got > 0 ? lane_take(lane, &wc, &is_message, error)
			       : completion_poll_failed(error);
	if (is_responder)
		return 0;
	now = clock_now_ns();
	if (!*since_ns)
		*since_ns = now;
	return now - *since_ns < lane->settings.lost_ns ? 0 : -ETIMEDOUT;
}
