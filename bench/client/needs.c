/* SPDX-License-Identifier: MIT */
#include "bench/client/needs.h"

#include <errno.h>

/* Runs one operation with the given receives at the server. *seen receives its status. */
static int try_with(struct trial *trial, const struct plan_case *wanted, enum receives receives,
		    struct error *seen, struct error *error)
{
	struct plan_case probe = *wanted;
	int code;

	probe.parameters.receives = receives;
	/* One queue pair suffices. With rdma_cm, a disconnect event would precede the status. */
	probe.parameters.qps = 1;
	probe.parameters.connect = CONNECT_QP;
	code = trial_open(trial, &probe, error);
	if (!code)
		code = trial_probe(trial, seen, error);
	trial_close(trial);
	return code;
}

static const char *outcome(const struct error *seen)
{
	return seen->code ? seen->text : "complete";
}

int needs_find(struct trial *trial, const struct plan_case *wanted, json_t **needs,
	       struct error *error)
{
	struct error seen[RECEIVES_NONE + 1] = {0};
	int code = 0;

	for (unsigned int i = 0; i < ARRAY_LENGTH(seen) && !code; i++)
		code = try_with(trial, wanted, (enum receives)i, &seen[i], error);
	if (code)
		return code;
	/* With receives and buffers the operation must succeed. */
	if (seen[RECEIVES_BUFFERS].code)
		return error_set(error, seen[RECEIVES_BUFFERS].code, "%s",
				 seen[RECEIVES_BUFFERS].text);
	*needs = json_pack(
		"{s:b, s:b, s:{s:s, s:s, s:s}}", "receive", seen[RECEIVES_NONE].code != 0, "buffer",
		seen[RECEIVES_BARE].code != 0, "seen", "none", outcome(&seen[RECEIVES_NONE]),
		"bare", outcome(&seen[RECEIVES_BARE]), "buffers", outcome(&seen[RECEIVES_BUFFERS]));
	return *needs ? 0 : error_set_errno(error, -ENOMEM, "cannot store the result");
}
