/* SPDX-License-Identifier: MIT */
#include "bench/loop_memory.h"
#include "bench/loop_request.h"
#include "bench/loop_stream.h"
#include "bench/op.h"

LOOP_BIND(rounds, loop_memory, POST_WRITE)
LOOP_BIND(request, loop_request, POST_WRITE)
LOOP_BIND(writes, loop_stream, POST_WRITE)

static int latency(struct lane *lane, enum result_kind kind, const struct loop_run *run,
		   struct error *error)
{
	if (kind == RESULT_HALF)
		return loop_dispatch(rounds, lane, run, error);
	return loop_dispatch(request, lane, run, error);
}

/* Nothing wakes the target of a write: only an end that polls its memory can answer. */
static enum result_kind kind_of(enum rdma_wait_mode cq, enum rdma_wait_mode server_cq)
{
	return cq == RDMA_POLL && server_cq == RDMA_POLL ? RESULT_HALF : RESULT_COMPLETION;
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
