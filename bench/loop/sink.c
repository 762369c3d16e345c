/* SPDX-License-Identifier: MIT */
#include "bench/loop/sink.h"

#include <errno.h>

/* After this long without a message, assume that no more will arrive. */
#define QUIET_NS (10 * NS_PER_MS)
/* Do not wait longer for a client that keeps sending after its stop. */
#define DRAIN_NS (5 * NS_PER_S)

uint64_t sink_count(struct lane *lane, const struct ibv_wc *wc, int n_wc)
{
	uint64_t count = 0;

	for (int i = 0; i < n_wc; i++) {
		if (wc[i].status != IBV_WC_SUCCESS || !(wc[i].wr_id & LANE_RECEIVE))
			continue;
		count++;
		lane->flows[lane_flow(&wc[i])].arrived++;
	}
	return count;
}

int sink_leave(struct lane *lane, const struct ibv_wc *wc, int n_wc, struct error *error)
{
	lane->result.left = sink_count(lane, wc, n_wc);
	for (int i = 0; i < n_wc && error->code == -ECANCELED; i++) {
		if (wc[i].status == IBV_WC_SUCCESS || wc[i].status == IBV_WC_WR_FLUSH_ERR)
			continue;
		*error = (struct error){0};
		lane_completion_failed(&wc[i], error);
	}
	return error->code;
}

/* Reposts receives, because more messages may be in flight than receives are posted. */
static int post_again(struct lane *lane, const struct ibv_wc *wc, int n_wc, struct error *error)
{
	bool is_moved = lane->settings.walks || lane->settings.parameters->verify;
	int code = 0;

	for (int i = 0; i < n_wc && !code; i++)
		if (wc[i].status == IBV_WC_SUCCESS && wc[i].wr_id & LANE_RECEIVE)
			code = lane_post_receive(lane, &lane->flows[lane_flow(&wc[i])], wc[i].wr_id,
						 is_moved);
	return code ? lane_post_failed(code, error) : 0;
}

int sink_drain(struct lane *lane, uint64_t *messages, struct error *error)
{
	uint64_t start = clock_now_ns();
	uint64_t last = start;

	*messages += lane->result.left;
	lane->result.left = 0;
	while (clock_now_ns() - last < QUIET_NS && last - start < DRAIN_NS) {
		struct ibv_wc wc[SINK_BATCH];
		int got = completion_poll(&lane->endpoint.completion, SINK_BATCH, wc);

		if (got < 0)
			return completion_poll_failed(error);
		if (lane->settings.parameters->verify && verify_slots_check(lane, wc, got, error))
			return error->code;
		if (post_again(lane, wc, got, error))
			return error->code;
		*messages += sink_count(lane, wc, got);
		if (got)
			last = clock_now_ns();
	}
	return 0;
}
