/* SPDX-License-Identifier: MIT */
#include "bench/loop_pingpong.h"
#include "bench/op.h"

static ALWAYS_INLINE int messages(struct lane *lane, const struct loop_run *run,
				  enum post_path path, bool is_counter, struct error *error)
{
	return loop_pingpong_notified(lane, run, POST_READ, path, is_counter, error);
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

const struct op op_read_notify = {
	.name = "read-notify",
	.summary = "RDMA READ, and behind it a small SEND that tells of it",
	.transports = OP_ON(TRANSPORT_RC),
	.is_received = true,
	.shape = {.is_read = true, .is_notified = true},
	.kind = kind_of,
	.latency = latency,
};
