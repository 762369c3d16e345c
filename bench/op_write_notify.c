/* SPDX-License-Identifier: MIT */
#include "bench/loop_pingpong.h"
#include "bench/loop_stream.h"
#include "bench/op.h"

LOOP_BIND(messages, loop_pingpong_notified, POST_WRITE)
LOOP_BIND(writes, loop_stream_notified, POST_WRITE)

static int latency(struct lane *lane, enum result_kind kind, const struct loop_run *run,
		   struct error *error)
{
	return loop_dispatch(messages, lane, run, error);
}

static int bandwidth(struct lane *lane, const struct loop_run *run, struct error *error)
{
	return loop_dispatch(writes, lane, run, error);
}

const struct op op_write_notify = {
	.name = "write-notify",
	.summary = "RDMA WRITE, and a small SEND that tells of it",
	.transports = OP_ON(TRANSPORT_RC),
	.is_received = true,
	.shape = {.is_notified = true},
	.kind = op_is_half,
	.latency = latency,
	.bandwidth = bandwidth,
};
