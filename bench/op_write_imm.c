/* SPDX-License-Identifier: MIT */
#include "bench/loop_pingpong.h"
#include "bench/loop_stream.h"
#include "bench/op.h"

LOOP_BIND(messages, loop_pingpong, POST_WRITE_IMM)
LOOP_BIND(writes, loop_stream, POST_WRITE_IMM)

static int latency(struct lane *lane, enum result_kind kind, const struct loop_run *run,
		   struct error *error)
{
	return loop_dispatch(messages, lane, run, error);
}

static int bandwidth(struct lane *lane, const struct loop_run *run, struct error *error)
{
	return loop_dispatch(writes, lane, run, error);
}

const struct op op_write_imm = {
	.name = "write-imm",
	.summary = "RDMA WRITE WITH IMMEDIATE, which takes a RECV",
	.transports = OP_ON(TRANSPORT_RC) | OP_ON(TRANSPORT_UC),
	.is_received = true,
	.kind = op_is_half,
	.latency = latency,
	.bandwidth = bandwidth,
};
