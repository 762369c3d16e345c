/* SPDX-License-Identifier: MIT */
#include "bench/loop/stream.h"

void stream_begin(struct lane *lane, const struct loop_run *run, const struct stream_kind kind)
{
	lane_share_out(lane, run->messages);
	lane->turn = 0;
	for (unsigned int i = 0; i < lane->settings.n_flows; i++) {
		if (kind.has_lists)
			post_list_link(&lane->flows[i].list, kind.operation);
		stream_make_due(lane, &lane->flows[i]);
	}
}

bool stream_is_in_flight(const struct lane *lane)
{
	for (unsigned int i = 0; i < lane->settings.n_flows; i++)
		if (lane->flows[i].room != lane->settings.tx_depth)
			return true;
	return false;
}

int stream_forget(struct lane *lane, const struct stream_kind kind, struct error *error)
{
	uint64_t most = lane->settings.n_flows *
			(lane->settings.tx_depth + lane->settings.parameters->rx_depth);
	uint64_t received = lane->result.received;
	uint64_t completions = lane->result.completions;
	int got = STREAM_BATCH;

	for (uint64_t i = 0; i <= most && got == STREAM_BATCH; i += STREAM_BATCH) {
		struct ibv_wc wc[STREAM_BATCH];

		got = completion_poll(&lane->endpoint.completion, STREAM_BATCH, wc);
		if (got < 0)
			return completion_poll_failed(error);
		if (stream_take(lane, kind, wc, got, error) < 0)
			return error->code;
	}
	lane->result.received = received;
	lane->result.completions = completions;
	return 0;
}

void stream_restart(struct lane *lane, uint64_t received, uint64_t completions)
{
	lane_forget_done(lane);
	lane->result.first_tick = lane->result.last_tick;
	lane->result.received = received;
	lane->result.completions = completions;
}
