/* SPDX-License-Identifier: MIT */
#include "bench/loop/load.h"
#include "bench/loop/memory.h"
#include "bench/loop/request.h"
#include "bench/loop/stream.h"
#include "bench/op/op.h"

LOOP_BIND(latency, loop_memory, POST_WRITE)
LOOP_BIND(completion, loop_request, POST_WRITE)
LOOP_BIND(bandwidth, loop_stream, POST_WRITE)
LOOP_BIND(load, loop_load, POST_WRITE)

/* Nothing wakes the target of a write: only an end that polls its memory can answer. */
static enum result_kind kind_of(enum rdma_wait_mode cq, enum rdma_wait_mode server_cq)
{
	return cq == RDMA_POLL && server_cq == RDMA_POLL ? RESULT_HALF : RESULT_COMPLETION;
}

const struct op op_write = {
	.name = "write",
	.summary = "RDMA WRITE",
	.transports = OP_ON(TRANSPORT_RC) | OP_ON(TRANSPORT_UC),
	.kind = kind_of,
	.latency = latency,
	.completion = completion,
	.bandwidth = bandwidth,
	.load = load,
};
