/* SPDX-License-Identifier: MIT */
#include "bench/loop_pingpong.h"
#include "bench/loop_stream.h"
#include "bench/op.h"

static ALWAYS_INLINE int messages(struct lane *lane, const struct loop_run *run,
				  enum post_path path, bool is_counter, struct error *error)
{
	return loop_pingpong(lane, run, POST_SEND, path, is_counter, error);
}

static ALWAYS_INLINE int datagram_pingpong(struct lane *lane, const struct loop_run *run,
					   enum post_path path, bool is_counter,
					   struct error *error)
{
	return loop_pingpong(lane, run, POST_UD_SEND, path, is_counter, error);
}

static int latency(struct lane *lane, enum result_kind kind, const struct loop_run *run,
		   struct error *error)
{
	if (lane->transport == TRANSPORT_UD)
		return loop_dispatch(datagram_pingpong, lane, run, error);
	return loop_dispatch(messages, lane, run, error);
}

static enum result_kind kind_of(enum rdma_wait_mode cq, enum rdma_wait_mode server_cq)
{
	return RESULT_HALF;
}

static ALWAYS_INLINE int stream_sends(struct lane *lane, const struct loop_run *run,
				      enum post_path path, bool is_counter, struct error *error)
{
	return loop_stream(lane, run, POST_SEND, path, is_counter, error);
}

static ALWAYS_INLINE int stream_datagrams(struct lane *lane, const struct loop_run *run,
					  enum post_path path, bool is_counter, struct error *error)
{
	return loop_stream(lane, run, POST_UD_SEND, path, is_counter, error);
}

static int bandwidth(struct lane *lane, const struct loop_run *run, struct error *error)
{
	if (lane->transport == TRANSPORT_UD)
		return loop_dispatch(stream_datagrams, lane, run, error);
	return loop_dispatch(stream_sends, lane, run, error);
}

const struct op op_send = {
	.name = "send",
	.summary = "SEND into a posted RECV",
	.transports = OP_ON(TRANSPORT_RC) | OP_ON(TRANSPORT_UC) | OP_ON(TRANSPORT_UD),
	.is_received = true,
	.kind = kind_of,
	.latency = latency,
	.bandwidth = bandwidth,
};
