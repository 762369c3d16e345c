/* SPDX-License-Identifier: MIT */
#include "bench/loop_pingpong.h"
#include "bench/loop_stream.h"
#include "bench/op.h"

static ALWAYS_INLINE int messages(struct lane *lane, const struct loop_run *run,
				  enum post_path path, bool is_counter, struct error *error)
{
	return loop_pingpong(lane, run, POST_WRITE_IMM, path, is_counter, error);
}

static int latency(struct lane *lane, enum result_kind kind, const struct loop_run *run,
		   struct error *error)
{
	return loop_dispatch(messages, lane, run, error);
}

static enum result_kind kind_of(enum rdma_wait_mode cq, enum rdma_wait_mode server_cq)
{
	return RESULT_HALF;
}

static ALWAYS_INLINE int writes(struct lane *lane, const struct loop_run *run, enum post_path path,
				bool is_counter, struct error *error)
{
	return loop_stream(lane, run, POST_WRITE_IMM, path, is_counter, error);
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
	.kind = kind_of,
	.latency = latency,
	.bandwidth = bandwidth,
};
