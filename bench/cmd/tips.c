/* SPDX-License-Identifier: MIT */
#include "bench/cmd/command.h"
#include "bench/plan/plan.h"

/* Describes options whose defaults tips change. */
static const char *says(const struct option_row *row)
{
	static const struct option_said others[] = {
		{"op",         "operations (each tip has its own)"            },
		{"metric",     "lat, bw or load (each tip has its own)"       },
		{"size",       "message sizes (each tip has its own)"         },
		{"iterations", "messages per trial, instead of -D"            },
		{"duration",   "time per trial (30ms)"                        },
		{"warmup",     "maximum warm-up before each trial (30ms)"     },
		{"trials",     "trials per case, each on new queue pairs (12)"},
		{"budget",     "unsupported: tips interleave trials"          },
		{"precision",  "unsupported, as is --budget"                  },
		{"interleave", "ignored: tips always interleave trials"       },
	};

	return option_said(others, ARRAY_LENGTH(others), row);
}

static const struct option_table options = {
	.operand = "[HOST]",
	.next = &plan_preset_options,
	.says = says,
};

/* Runs the preset tips. */
static int tips(int argc, char *argv[], const char **operands, struct error *error)
{
	return run_command("tips", argc, argv, error);
}

// clang-format off
const struct command command_tips = {
	.name = "tips",
	.group = COMMAND_MEASURE,
	.summary = "measure what inline data, batching or events gain",
	.about = "Measures what seven programming techniques gain on this device, each next to its "
		 "opposite. Takes the options of 'verbmark run'.",
	.examples = {
		{"verbmark tips n02",
		 "measure all techniques against n02"},
		{"verbmark tips n02 --op send",
		 "measure them with SEND"},
	},
	.options = &options,
	.run = tips,
};
// clang-format on
