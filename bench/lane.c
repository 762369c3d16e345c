/* SPDX-License-Identifier: MIT */
#include "bench/lane.h"

#include <errno.h>

#include "core/verbs.h"

/* Areas begin on pages of their own. */
#define AREA 4096

/* A client or a message that does not come is the control connection's affair. */
#define CLIENT_MS 10000

/* A completion takes no longer than this: on a link of 100 Mb/s, say. */
#define STALLED_NS          (5 * NS_PER_S)
#define SLOWEST_NS_PER_BYTE 80

static size_t area(size_t size)
{
	return (size + AREA - 1) / AREA * AREA;
}

void lane_init(struct lane *lane, size_t size, enum rdma_wait_mode cq)
{
	*lane = (struct lane){
		.context = {.buffer_size = 2 * area(size),
			    .cq_notify = (int)cq,
			    .settings = {.send_depth = LANE_DEPTH,
					 .recv_depth = LANE_DEPTH,
					 .idle_timeout_ms = CLIENT_MS,
					 .max_message = size,
					 .own_receives = true}},
		.signal_every = LANE_DEPTH / 2,
		.stalled_ns = STALLED_NS + size * SLOWEST_NS_PER_BYTE,
		.until_signal = LANE_DEPTH / 2,
	};
}

int lane_failed(const struct lane *lane, struct error *error)
{
	return error_set(error, -EIO, "%s", lane->context.reason);
}

int lane_post_failed(int code, struct error *error)
{
	return error_set_errno(error, verbs_result(code), "cannot post");
}

const char *lane_device(const struct lane *lane)
{
	return context_device(&lane->context);
}

int lane_start(struct lane *lane, size_t size, bool is_read, struct error *error)
{
	struct rdma_context *context = &lane->context;
	struct ibv_sge sge = {.addr = (uintptr_t)context->buffer,
			      .length = (uint32_t)size,
			      .lkey = context->mr->lkey};
	int code = 0;

	lane->completion = context_completion(context);
	lane->queue = *context_queue(context);
	lane->last_sent = (uint8_t *)context->buffer + size - 1;
	lane->last_received = (uint8_t *)context->buffer + area(size) + size - 1;
	lane->work = (struct post_work){.n_sges = 1, .sges = {sge}, .rkey = context->remote.rkey};
	/* A read fetches what the other end would send; the rest goes where it receives. */
	lane->work.remote = context->remote.address + (is_read ? 0 : area(size));
	if (!is_read && size <= context->max_inline)
		lane->work.flags = IBV_SEND_INLINE;
	sge.addr += area(size);
	lane->receive = (struct post_work){.id = LANE_RECEIVE, .n_sges = 1, .sges = {sge}};
	if (is_read)
		lane->work.sges[0].addr = sge.addr;
	lane->path = post_choose(&lane->queue, &lane->work);
	for (unsigned int i = 0; i < LANE_DEPTH && !code; i++)
		code = post_receive(&lane->queue, &lane->receive);
	return code ? lane_post_failed(code, error) : 0;
}

int lane_take(struct lane *lane, const struct ibv_wc *wc, bool *is_message, struct error *error)
{
	int code;

	if (unlikely(wc->status != IBV_WC_SUCCESS))
		return verbs_completion_error(error, wc->wr_id == LANE_RECEIVE ? "receive" : "post",
					      wc);
	/* Where the device is fast no poll is ever empty, and nobody else would look. */
	if (unlikely(alarm_raised(lane->completion->alarm)))
		return alarm_reason(lane->completion->alarm, error);
	lane->completions++;
	*is_message = wc->opcode & IBV_WC_RECV;
	if (!*is_message) {
		lane->is_signal_out = false;
		return 0;
	}
	code = post_receive(&lane->queue, &lane->receive);
	return unlikely(code) ? lane_post_failed(code, error) : 0;
}

int lane_settle(struct lane *lane, struct error *error)
{
	while (lane->is_signal_out) {
		bool is_message;
		struct ibv_wc wc;
		int code = completion_wait(lane->completion, 1, &wc, lane->stalled_ns, error);

		if (code == -ETIMEDOUT)
			return lane_stalled(error);
		if (code >= 0)
			code = lane_take(lane, &wc, &is_message, error);
		if (code)
			return code;
	}
	return 0;
}

int lane_stalled(struct error *error)
{
	return error_set(error, -ETIMEDOUT,
			 "no completion for 5 s or more, while the other end is alive");
}
