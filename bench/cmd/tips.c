/* SPDX-License-Identifier: MIT */
#include "bench/cmd/command.h"
#include "bench/plan/plan.h"

/* The plan is the tips' own. */
static const char *says(const struct option_row *row)
{
	static const struct option_said others[] = {
		{"op",         "in the place of the operations of all tips"             },
		{"metric",     "in the place of what they measure: lat, bw, load"       },
		{"iterations", "messages of a trial, in the place of -D"                },
		{"duration",   "measure for that long, each trial (30ms)"               },
		{"warmup",     "warming up takes at most that long, each trial (30ms)"  },
		{"trials",     "how often a case is measured, on fresh queue pairs (12)"},
		{"interleave", "what tips do anyway: trials in turn, and ratios of them"},
	};

	return option_said(others, ARRAY_LENGTH(others), row);
}

static const struct option_table options = {
	.operand = "[HOST]",
	.next = &plan_preset_options,
	.says = says,
};

/* A run, of cases beside each other. */
static int tips(int argc, char *argv[], const char **operands, struct error *error)
{
	return run_command("tips", argc, argv, error);
}

const struct command command_tips = {
	.name = "tips",
	.summary = "measures what inline, batching, events, ... are worth on this device",
	.options = &options,
	.run = tips,
};
