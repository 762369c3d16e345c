/* SPDX-License-Identifier: MIT */
#include "bench/loop_pingpong.h"
#include "bench/op.h"

static ALWAYS_INLINE int pingpong(struct lane *lane, const struct loop_run *run,
				  enum post_path path, bool is_counter, struct error *error)
{
	return loop_pingpong(lane, run, POST_SEND, path, is_counter, error);
}

static int latency(struct lane *lane, enum result_kind kind, const struct loop_run *run,
		   struct error *error)
{
	return loop_dispatch(pingpong, lane, run, error);
}

static enum result_kind kind_of(enum rdma_wait_mode cq, enum rdma_wait_mode server_cq)
{
	return RESULT_HALF;
}

const struct op op_send = {
	.name = "send",
	.summary = "SEND into a posted RECV",
	.kind = kind_of,
	.latency = latency,
};
