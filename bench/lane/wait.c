/* SPDX-License-Identifier: MIT */
/* Waits, failures and losses of a lane's loops. */
#include <errno.h>

#include "bench/lane/lane.h"
#include "core/verbs/verbs.h"

/* After this many losses in a row, assume that nothing gets through. */
#define LOST_MAX 10

int lane_failed(const struct flow *flow, struct error *error)
{
	return error_set(error, flow->context.code ? flow->context.code : -EIO, "%s",
			 flow->context.reason);
}

int lane_post_failed(int code, struct error *error)
{
	error_set_errno(error, verbs_result(code), "cannot post");
	return error_append(error, "the device has an unreported limit: see dmesg, or try smaller "
				   "-t, -I or --sge");
}

int lane_completion_failed(const struct ibv_wc *wc, struct error *error)
{
	return verbs_completion_error(error, wc->wr_id & LANE_RECEIVE ? "receive" : "post", wc);
}

/* Counts all posts except those in flight, and earlier posts that completed since. */
uint64_t lane_flow_done(const struct flow *flow)
{
	return flow->share - flow->left + flow->room - flow->room_before;
}

void lane_forget_done(struct lane *lane)
{
	for (unsigned int i = 0; i < lane->settings.n_flows; i++)
		lane->flows[i].room_before += (uint32_t)lane_flow_done(&lane->flows[i]);
}

void lane_forget_due(struct lane *lane)
{
	lane->first_due = NULL;
	lane->last_due = &lane->first_due;
	for (unsigned int i = 0; i < lane->settings.n_flows; i++)
		lane->flows[i].is_due = false;
}

void lane_compute(uint64_t ns)
{
	uint64_t end = clock_now_ns() + ns;

	while (clock_now_ns() < end)
		continue;
}

int lane_settle(struct lane *lane, struct error *error)
{
	while (lane->is_signal_outstanding) {
		bool is_message;
		struct ibv_wc wc;
		int code = completion_wait(&lane->endpoint.completion, 1, &wc,
					   lane->settings.stalled_ns, error);

		if (code == -ETIMEDOUT)
			return lane_stalled(lane, error);
		if (code >= 0)
			code = lane_take(lane, &wc, &is_message, error);
		if (code)
			return code;
	}
	return 0;
}

/* Seen with rxe of Linux 6.1, only with fences. */
static const char fenced[] = "; Soft-RoCE sometimes loses work requests behind a fence";
static const char path[] = "; run 'verbmark doctor HOST' to check the path for packet loss";
static const char slow[] = "; raise --rate-limit, or run 'verbmark doctor HOST' to check the path "
			   "for packet loss";
/* A thread that has finished receives nothing. */
static const char early[] =
	"; with -b one thread may finish long before others: use -D instead of -n";

int lane_stalled(const struct lane *lane, struct error *error)
{
	const struct parameters *p = lane->settings.parameters;
	bool is_counted = p->bidirectional && p->threads > 1 && p->iterations != PARAMETER_AUTO;
	const char *hint = path;

	if (lane->flows[0].notice.flags & IBV_SEND_FENCE)
		hint = fenced;
	else if (is_counted)
		hint = early;
	else if (p->rate_limit != PARAMETER_AUTO)
		hint = slow;
	return error_set(error, -ETIMEDOUT,
			 "nothing arrived for %.3g s although the peer is alive%s",
			 (double)lane->settings.stalled_ns / (double)NS_PER_S, hint);
}

int lane_missed(struct lane *lane, uint64_t number, int code, struct error *error)
{
	if (code != -ETIMEDOUT)
		return code;
	if (!lane_is_lossy(lane))
		return lane_stalled(lane, error);
	lane->result.lost++;
	lane->lost_in_a_row = number == lane->lost_at ? lane->lost_in_a_row + 1 : 1;
	lane->lost_at = number;
	if (lane->lost_in_a_row < LOST_MAX)
		return 0;
	return error_set(error, -ETIMEDOUT,
			 "%u messages in a row were lost; try RC, which retransmits",
			 lane->lost_in_a_row);
}
