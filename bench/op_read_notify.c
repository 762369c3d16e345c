/* SPDX-License-Identifier: MIT */
#include "bench/loop_pingpong.h"
#include "bench/loop_stream.h"
#include "bench/op.h"

LOOP_BIND(messages, loop_pingpong_notified, POST_READ)
LOOP_BIND(reads, loop_stream_notified, POST_READ)

static int latency(struct lane *lane, enum result_kind kind, const struct loop_run *run,
		   struct error *error)
{
	return loop_dispatch(messages, lane, run, error);
}

static int bandwidth(struct lane *lane, const struct loop_run *run, struct error *error)
{
	return loop_dispatch(reads, lane, run, error);
}

const struct op op_read_notify = {
	.name = "read-notify",
	.summary = "RDMA READ, and behind it a small SEND that tells of it",
	.transports = OP_ON(TRANSPORT_RC),
	.is_received = true,
	.shape = {.is_read = true, .is_notified = true},
	.kind = op_is_half,
	.latency = latency,
	.bandwidth = bandwidth,
};
