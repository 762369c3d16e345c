/* SPDX-License-Identifier: MIT */
#include "bench/loop/load.h"
#include "bench/loop/request.h"
#include "bench/loop/stream.h"
#include "bench/op/op.h"

LOOP_BIND(registered_once, loop_request, POST_READ)
LOOP_BIND(registered_each, loop_request_registering, POST_READ)
LOOP_BIND(bandwidth, loop_stream, POST_READ)
LOOP_BIND(load, loop_load, POST_READ)

static int latency(struct lane *lane, const struct loop_run *run, struct error *error)
{
	return lane->settings.parameters->registration == REGISTRATION_EACH
		       ? registered_each(lane, run, error)
		       : registered_once(lane, run, error);
}

const struct op_loops op_read = {
	.latency = latency,
	.bandwidth = bandwidth,
	.load = load,
};
