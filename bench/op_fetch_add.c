/* SPDX-License-Identifier: MIT */
#include "bench/loop_request.h"
#include "bench/loop_stream.h"
#include "bench/op.h"

LOOP_BIND(request, loop_request, POST_FETCH_ADD)
LOOP_BIND(requests, loop_stream, POST_FETCH_ADD)

static int latency(struct lane *lane, enum result_kind kind, const struct loop_run *run,
		   struct error *error)
{
	return loop_dispatch(request, lane, run, error);
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
	.kind = op_is_full,
	.latency = latency,
	.bandwidth = bandwidth,
};
