/* SPDX-License-Identifier: MIT */
#include "bench/loop/load.h"
#include "bench/loop/pingpong.h"
#include "bench/loop/stream.h"
#include "bench/op/op.h"

LOOP_BIND(pingpong_sends, loop_pingpong, POST_SEND)
LOOP_BIND(pingpong_datagrams, loop_pingpong, POST_UD_SEND)
LOOP_BIND(stream_sends, loop_stream, POST_SEND)
LOOP_BIND(stream_datagrams, loop_stream, POST_UD_SEND)
LOOP_BIND(load, loop_load, POST_SEND)

static int latency(struct lane *lane, const struct loop_run *run, struct error *error)
{
	return lane->transport == TRANSPORT_UD ? pingpong_datagrams(lane, run, error)
					       : pingpong_sends(lane, run, error);
}

static int bandwidth(struct lane *lane, const struct loop_run *run, struct error *error)
{
	return lane->transport == TRANSPORT_UD ? stream_datagrams(lane, run, error)
					       : stream_sends(lane, run, error);
}

const struct op_loops op_send = {
	.latency = latency,
	.bandwidth = bandwidth,
	.load = load,
};
