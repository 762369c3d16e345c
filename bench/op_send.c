/* SPDX-License-Identifier: MIT */
#include "bench/loop_pingpong.h"
#include "bench/loop_stream.h"
#include "bench/op.h"

LOOP_BIND(messages, loop_pingpong, POST_SEND)
LOOP_BIND(datagram_pingpong, loop_pingpong, POST_UD_SEND)
LOOP_BIND(stream_sends, loop_stream, POST_SEND)
LOOP_BIND(stream_datagrams, loop_stream, POST_UD_SEND)

static int latency(struct lane *lane, enum result_kind kind, const struct loop_run *run,
		   struct error *error)
{
	if (lane->transport == TRANSPORT_UD)
		return loop_dispatch(datagram_pingpong, lane, run, error);
	return loop_dispatch(messages, lane, run, error);
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
	.kind = op_is_half,
	.latency = latency,
	.bandwidth = bandwidth,
};
