/* SPDX-License-Identifier: MIT */
#include "bench/loop_request.h"
#include "bench/loop_stream.h"
#include "bench/op.h"

LOOP_BIND(request, loop_request, POST_READ)
LOOP_BIND(requests, loop_stream, POST_READ)

static int latency(struct lane *lane, enum result_kind kind, const struct loop_run *run,
		   struct error *error)
{
	return loop_dispatch(request, lane, run, error);
}

static int bandwidth(struct lane *lane, const struct loop_run *run, struct error *error)
{
	return loop_dispatch(requests, lane, run, error);
}

const struct op op_read = {
	.name = "read",
	.summary = "RDMA READ",
	.transports = OP_ON(TRANSPORT_RC),
	.shape = {.is_read = true},
	.kind = op_is_full,
	.latency = latency,
	.bandwidth = bandwidth,
};
