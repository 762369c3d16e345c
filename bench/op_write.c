/* SPDX-License-Identifier: MIT */
#include "bench/loop_memory.h"
#include "bench/loop_request.h"
#include "bench/loop_stream.h"
#include "bench/op.h"

static ALWAYS_INLINE int request(struct lane *lane, const struct loop_run *run, enum post_path path,
				 bool is_counter, struct error *error)
{
	return loop_request(lane, run, POST_WRITE, path, is_counter, error);
}

static int latency(struct lane *lane, enum result_kind kind, const struct loop_run *run,
		   struct error *error)
{
	if (kind == RESULT_HALF)
		return loop_dispatch(loop_memory, lane, run, error);
	return loop_dispatch(request, lane, run, error);
}

/* Nothing wakes the target of a write: only an end that polls its memory can answer. */
static enum result_kind kind_of(enum rdma_wait_mode cq, enum rdma_wait_mode server_cq)
{
	return cq == RDMA_POLL && server_cq == RDMA_POLL ? RESULT_HALF : RESULT_COMPLETION;
}

static ALWAYS_INLINE int writes(struct lane *lane, const struct loop_run *run, enum post_path path,
				bool is_counter, struct error *error)
{
	return loop_stream(lane, run, POST_WRITE, path, is_counter, error);
}

static int bandwidth(struct lane *lane, const struct loop_run *run, struct error *error)
{
	return loop_dispatch(writes, lane, run, error);
}

const struct op op_write = {
	.name = "write",
	.summary = "RDMA WRITE",
	.transports = OP_ON(TRANSPORT_RC) | OP_ON(TRANSPORT_UC),
	.kind = kind_of,
	.latency = latency,
	.bandwidth = bandwidth,
};
