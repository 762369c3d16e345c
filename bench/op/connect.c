/* SPDX-License-Identifier: MIT */
#include "bench/op/connect_client.h"
#include "bench/op/connect_server.h"
#include "bench/op/op.h"

static int latency(struct lane *lane, const struct loop_run *run, struct error *error)
{
	return run->is_responder ? connect_server_run(lane, error)
				 : connect_client_run(lane, run, error);
}

const struct op_loops op_connect = {
	.latency = latency,
};
