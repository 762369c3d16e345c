/* SPDX-License-Identifier: MIT */
#include "bench/loop_request.h"
#include "bench/loop_stream.h"
#include "bench/op.h"

static ALWAYS_INLINE int request(struct lane *lane, const struct loop_run *run, enum post_path path,
				 bool is_counter, struct error *error)
{
	return loop_request(lane, run, POST_FETCH_ADD, path, is_counter, error);
}

static int latency(struct lane *lane, enum result_kind kind, const struct loop_run *run,
		   struct error *error)
{
	return loop_dispatch(request, lane, run, error);
}

static enum result_kind kind_of(enum rdma_wait_mode cq, enum rdma_wait_mode server_cq)
{
	return RESULT_FULL;
}

static ALWAYS_INLINE int requests(struct lane *lane, const struct loop_run *run,
				  enum post_path path, bool is_counter, struct error *error)
{
	return loop_stream(lane, run, POST_FETCH_ADD, path, is_counter, error);
}

static int bandwidth(struct lane *lane, const struct loop_run *run, struct error *error)
{
	return loop_dispatch(requests, lane, run, error);
}

const struct op op_fetch_add = {
	.name = "fetch-add",
	.summary = "ATOMIC FETCH AND ADD of eight bytes",
	.transports = OP_ON(TRANSPORT_RC),
	.shape = {.is_atomic = true},
	.kind = kind_of,
	.latency = latency,
	.bandwidth = bandwidth,
};
