/* SPDX-License-Identifier: MIT */
#include "bench/host/snapshot.h"

#include <errno.h>
#include <stdio.h>

#include "bench/host/facts/facts.h"

int snapshot_open(struct snapshot *snapshot, const char *device, unsigned int port,
		  struct error *error)
{
	int code;

	*snapshot = (struct snapshot){.port = port};
	snprintf(snapshot->device, sizeof(snapshot->device), "%s", device);
	snapshot->facts = facts_gather("", *device ? device : NULL, port);
	snapshot->before = facts_noise("");
	if (!snapshot->facts || !snapshot->before)
		code = error_set_errno(error, -ENOMEM, "cannot gather facts");
	else
		code = counters_open(&snapshot->counters, "", device, port, NULL, error);
	if (code)
		snapshot_close(snapshot);
	return code;
}

void snapshot_close(struct snapshot *snapshot)
{
	json_decref(snapshot->facts);
	json_decref(snapshot->before);
	counters_close(&snapshot->counters);
	*snapshot = (struct snapshot){0};
}

int snapshot_note(struct snapshot *snapshot, json_t **moved, struct error *error)
{
	struct counters now;
	int code = counters_open(&now, "", snapshot->device, snapshot->port, &snapshot->counters,
				 error);

	if (code)
		return code;
	*moved = counters_moved(&snapshot->counters, &now);
	counters_close(&snapshot->counters);
	snapshot->counters = now;
	return *moved ? 0 : error_set_errno(error, -ENOMEM, "cannot note counters");
}
