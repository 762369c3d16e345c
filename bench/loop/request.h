/* SPDX-License-Identifier: MIT */
/* One operation at a time, from post to local completion. The peer's program takes no part. */
#ifndef BENCH_LOOP_REQUEST_H
#define BENCH_LOOP_REQUEST_H

#include <errno.h>

#include "bench/loop/round.h"
#include "core/verbs/verbs.h"

static ALWAYS_INLINE int request_once(struct lane *lane, const struct round_kind kind,
				      uint64_t number, struct round *round, struct error *error)
{
	struct flow *flow = round->flow;
	struct ibv_wc wc;
	int code;

	if (kind.walks)
		lane_walk(flow, &flow->work);
	code = post_send(&flow->queue, &flow->work, kind.operation, kind.path, IBV_SEND_SIGNALED);
	if (unlikely(code))
		return lane_post_failed(code, error);
	round_posted(round, kind);
	code = kind.is_split ? completion_poll_timed(&lane->endpoint.completion, &wc)
			     : completion_poll(&lane->endpoint.completion, 1, &wc);
	if (code <= 0) {
		if (unlikely(code < 0))
			return completion_poll_failed(error);
		round_record(round);
		code = completion_wait_on(&lane->endpoint.completion, 1, &wc,
					  lane->settings.stalled_ns, error);
		if (unlikely(code < 0))
			return code == -ETIMEDOUT ? lane_stalled(lane, error) : code;
	}
	round_completed(round, kind, lane);
	round->took = true;
	/* Only posts complete here, and each does: request_each counts them. */
	return likely(wc.status == IBV_WC_SUCCESS) ? 0 : lane_completion_failed(&wc, error);
}

/* Registers the memory for each message, as a program without reusable buffers would. */
static ALWAYS_INLINE int request_registered(struct lane *lane, const struct round_kind kind,
					    uint64_t number, struct round *round,
					    struct error *error)
{
	struct ibv_sge *place = &round->flow->work.sges[0];
	uint32_t lkey = place->lkey;
	struct ibv_mr *mr = memory_register(
		&lane->endpoint.memory, place->addr - lane->endpoint.memory.address, place->length,
		lane->endpoint.pd, lane->endpoint.access & ~IBV_ACCESS_REMOTE_ATOMIC, error);
	int undone;
	int code;

	if (unlikely(!mr))
		return error->code;
	place->lkey = mr->lkey;
	code = request_once(lane, kind, number, round, error);
	place->lkey = lkey;
	undone = verbs_result(ibv_dereg_mr(mr));
	if (unlikely(undone && !code))
		return error_set_errno(error, undone, "cannot deregister memory");
	return code;
}

static ALWAYS_INLINE int request_each(struct lane *lane, const struct loop_run *run,
				      const struct round_kind kind, struct error *error)
{
	uint64_t before = lane->result.messages;
	int code = round_each(lane, run, kind, error);

	lane->result.completions += lane->result.messages - before;
	return code;
}

static ALWAYS_INLINE int loop_request(struct lane *lane, const struct loop_run *run,
				      enum post_operation operation, struct error *error)
{
	const struct round_kind kind = {.once = request_once, .operation = operation};

	return round_run(request_each, lane, run, kind, error);
}

static ALWAYS_INLINE int loop_request_registering(struct lane *lane, const struct loop_run *run,
						  enum post_operation operation,
						  struct error *error)
{
	const struct round_kind kind = {.once = request_registered,
					.operation = operation,
					.path = lane->path,
					.is_verified = lane->verify.every};

	return request_each(lane, run, kind, error);
}

#endif
