/* SPDX-License-Identifier: MIT */
#include "bench/host/snapshot.h"

#include <errno.h>
#include <stdio.h>

#include "bench/host/facts/facts.h"

int witness_open(struct witness *witness, const char *device, unsigned int port,
		 struct error *error)
{
	int code;

	*witness = (struct witness){.port = port};
	snprintf(witness->device, sizeof(witness->device), "%s", device);
	witness->facts = facts_gather("", *device ? device : NULL, port);
	witness->before = facts_noise("");
	if (!witness->facts || !witness->before)
		code = error_set_errno(error, -ENOMEM, "cannot gather facts");
	else
		code = counters_open(&witness->counters, "", device, port, NULL, error);
	if (code)
		witness_close(witness);
	return code;
}

void witness_close(struct witness *witness)
{
	json_decref(witness->facts);
	json_decref(witness->before);
	counters_close(&witness->counters);
	*witness = (struct witness){0};
}

int witness_note(struct witness *witness, json_t **moved, struct error *error)
{
	struct counters now;
	int code =
		counters_open(&now, "", witness->device, witness->port, &witness->counters, error);

	if (code)
		return code;
	*moved = counters_moved(&witness->counters, &now);
	counters_close(&witness->counters);
	witness->counters = now;
	return *moved ? 0 : error_set_errno(error, -ENOMEM, "cannot note counters");
}
