/* SPDX-License-Identifier: MIT */
#include "bench/op/op.h"
#include "bench/op/timed_call.h"
#include "core/verbs/verbs.h"

/* Opens the device a second time. */
static int open_again(struct timed_call *calling, struct error *error)
{
	calling->verbs = ibv_open_device(calling->lane->endpoint.verbs->device);
	return calling->verbs ? 0 : error_set_errno(error, verbs_null(), "cannot open the device");
}

static int close_again(struct timed_call *calling, struct error *error)
{
	int code = verbs_result(ibv_close_device(calling->verbs));

	calling->verbs = NULL;
	return code ? error_set_errno(error, code, "cannot close the device") : 0;
}

static int latency(struct lane *lane, const struct loop_run *run, struct error *error)
{
	static const struct call_kind kind = {.timed = open_again, .after = close_again};

	return timed_call_run(lane, run, &kind, error);
}

const struct op_loops op_open_device = {
	.latency = latency,
};
