/* SPDX-License-Identifier: MIT */
#include "bench/op/connect_client.h"
#include "bench/op/connect_server.h"
#include "bench/op/op.h"

static int latency(struct lane *lane, const struct loop_run *run, struct error *error)
{
	return run->is_responder ? connect_server_run(lane, error)
				 : connect_client_run(lane, run, error);
}

const struct op op_connect = {
	.name = "connect",
	.summary = "connect by rdma_cm, and disconnect: one step of it",
	.transports = OP_ON(TRANSPORT_RC),
	.shape = {.is_call = true, .makes_pair = true, .connects = true},
	.takes = OP_TAKES_PAIR,
	.kind = op_is_call,
	.latency = latency,
};
