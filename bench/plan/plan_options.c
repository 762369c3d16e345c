/* SPDX-License-Identifier: MIT */
/* The options of 'verbmark run' that are not parameters of a case. */
#include "bench/cli/tty.h"
#include "bench/cli/units.h"
#include "bench/plan/plan.h"
#include "bench/plan/preset.h"

#define FIELD(member) offsetof(struct plan, member)
#define FLAG(member)  NULL, option_flag, FIELD(member)

/* Aligned, these would be wider than any screen. */
// clang-format off
static const struct option_row sources[] = {
	{"preset", 0, "NAME", preset_parse_name, FIELD(preset),
	 "a set of cases: " PRESET_NAMES " (quick, if nothing else is chosen)",
	 .group = OPTION_WHAT, .values = OPTION_VALUES(preset_names)},
	{"plan", 0, "FILE", option_text, FIELD(file),
	 "cases from a plan file, or from a result",
	 .group = OPTION_WHAT},
};

static const struct option_row rows[] = {
	{"all", 'a', FLAG(all_sizes),
	 "all sizes from 1 to 8m, in powers of two",
	 .group = OPTION_WHAT, .is_rare = true},
	{"events", 'e', FLAG(with_events),
	 "same as --cq event",
	 .group = OPTION_WHAT, .is_rare = true},
	{"dry-run", 0, FLAG(is_dry),
	 "print the cases without running them",
	 .group = OPTION_HOW},
	{"device", 'd', "NAME", option_text, FIELD(device),
	 "RDMA device: NAME, NAME/PORT, soft0 (software) or auto (a device that reaches HOST)",
	 .group = OPTION_WHERE},
	{"device-port", 'i', "PORT", option_device_port, FIELD(device_port),
	 "port of the device (one that reaches HOST)",
	 .group = OPTION_WHERE, .is_rare = true},
	{"server-device", 0, "NAME", option_text, FIELD(server_device),
	 "RDMA device of the server (chosen automatically)",
	 .group = OPTION_WHERE, .is_rare = true},
	{"port", 'p', "PORT", option_port, FIELD(port),
	 "TCP port of the server (7471)",
	 .group = OPTION_WHERE},
	{"launch", 0, "COMMAND", option_text, FIELD(launch),
	 "start the server by this command, for example 'ssh %h'",
	 .group = OPTION_WHERE},
	{"secret-file", 0, "FILE", option_text, FIELD(secret_file),
	 "file with the secret shared with the server",
	 .group = OPTION_WHERE, .is_rare = true},
	{"wait", 0, "TIME", option_duration, FIELD(wait_ms),
	 "keep trying to reach the server for this long (0s)",
	 .group = OPTION_WHERE, .is_rare = true},
	{"json", 0, "FILE", option_text, FIELD(json),
	 "write the result to FILE; - is standard output (verbmark-HOST-UTC.json)",
	 .group = OPTION_OUTPUT},
	{"save-dir", 0, "DIR", option_text, FIELD(save_dir),
	 "write the default file to DIR, which is created if it is missing",
	 .group = OPTION_OUTPUT, .is_rare = true},
	{"samples", 0, "FILE", option_text, FIELD(samples),
	 "write each latency to FILE in order, as CSV; at most a million per thread and trial",
	 .group = OPTION_OUTPUT, .is_rare = true},
	{"payload", 0, "FILE", option_text, FIELD(payload),
	 "fill the client's buffers with the content of FILE, repeated",
	 .group = OPTION_MEMORY, .is_rare = true},
	{"no-save", 0, FLAG(no_save),
	 "do not write a result",
	 .group = OPTION_OUTPUT},
	{"redact", 0, FLAG(is_redacted),
	 "omit host names and addresses from the result",
	 .group = OPTION_OUTPUT, .is_rare = true},
	{"units", 0, "UNIT", table_parse_unit, FIELD(unit),
	 "bandwidth unit of the table: Gb/s, Mb/s, GB/s, MB/s or MiB/s (Gb/s)",
	 .group = OPTION_OUTPUT, .is_rare = true, .values = OPTION_VALUES(unit_values)},
	TTY_COLOR_ROW(FIELD(color), true),
	{"quiet", 0, FLAG(is_quiet),
	 "do not show progress",
	 .group = OPTION_OUTPUT, .is_rare = true},
	{"progress", 0, FLAG(with_progress),
	 "show progress for each case even if standard error is not a terminal",
	 .group = OPTION_OUTPUT, .is_rare = true},
	{"fail-below", 0, "LIMIT", threshold_parse_below, FIELD(limits),
	 "fail if a bandwidth is lower: 90%line, 50Gb/s, 10GB/s or 1.2Mmsg/s",
	 .group = OPTION_OUTPUT, .may_repeat = true},
	{"fail-above", 0, "LIMIT", threshold_parse_above, FIELD(limits),
	 "fail if a latency is higher, for example p99=5us or max=1ms",
	 .group = OPTION_OUTPUT, .may_repeat = true},
	{"rdma-cm", 'R', FLAG(ignored),
	 "ignored; see --connect",
	 .group = OPTION_COMPAT, .is_rare = true},
	{"cpu-freq", 'F', FLAG(ignored),
	 "ignored",
	 .group = OPTION_COMPAT, .is_rare = true},
};
// clang-format on

static const char *take_list(const struct option_row *row, const char *text, void *target)
{
	const struct parameter *parameter = (const void *)row;
	struct plan *plan = target;

	/* Flags and options with an optional value default to 1. */
	return value_list_parse(product_list(&plan->asked, parameter), parameter,
				text ? text : "1");
}

const struct option_table plan_case_options = {
	.rows = &parameter_table[0].option,
	.count = PARAMETERS,
	.stride = sizeof(parameter_table[0]),
	.parse = take_list,
};

const struct option_table plan_preset_options = {
	.rows = rows,
	.count = ARRAY_LENGTH(rows),
	.operand = "[HOST]",
	.operand_offset = FIELD(host),
	.next = &plan_case_options,
};

const struct option_table plan_options = {
	.rows = sources,
	.count = ARRAY_LENGTH(sources),
	.operand = "[HOST]",
	.operand_offset = FIELD(host),
	.next = &plan_preset_options,
};
