/* SPDX-License-Identifier: MIT */
#include "bench/command.h"
#include "bench/plan.h"

/* A run, of cases beside each other. */
static int tips(int argc, char *argv[], struct error *error)
{
	return run_command(&command_tips, "tips", argc, argv, error);
}

const struct command command_tips = {
	.name = "tips",
	.summary = "measures what inline, batching, events, ... are worth on this device",
	.options = &plan_preset_options,
	.run = tips,
};
