/* SPDX-License-Identifier: MIT */
#include "bench/gate/gate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cli/progress.h"
#include "bench/cli/signals.h"
#include "bench/cli/tty.h"
#include "bench/cli/utc.h"
#include "bench/cli/value.h"
#include "bench/cmd/command.h"
#include "bench/plan/plan.h"
#include "bench/plan/preset.h"
#include "core/base/clock.h"
#include "reports/gate/show.h"
#include "reports/io/save.h"
#include "reports/table/markdown.h"

/* Exit statuses that tell 'git bisect run' to skip a revision, and to stop. */
#define BISECT_SKIP  125
#define BISECT_ABORT 128

/* A file that is written when the gate ends. */
struct output {
	const char *option;
	save_writer *write;
	const char *path; /* NULL: not requested */
};

enum {
	OUTPUT_JSON,
	OUTPUT_MARKDOWN,
	OUTPUT_JUNIT,
	OUTPUT_HTML,
	OUTPUTS,
};

struct settings {
	struct plan plan; /* must be first: its options are parsed into it */
	struct gate_settings gating;
	struct output outputs[OUTPUTS];
	bool with_annotations;
	bool is_bisecting;
	bool is_strict;
};

static const char *parse_rounds(const char *text, void *field);

#define FIELD(member) offsetof(struct settings, member)

// clang-format off
static const struct option_row rows[] = {
	{"base", 0, "SIDE", option_text, FIELD(gating.sides[GATE_BASE].what),
	 "known to be good: a command that contains a '/', such as ./verbmark, or a host",
	 .group = OPTION_WHAT},
	{"head", 0, "SIDE", option_text, FIELD(gating.sides[GATE_HEAD].what),
	 "to be tested: a command or a host, like --base",
	 .group = OPTION_WHAT},
	{"rounds", 0, "N", parse_rounds, FIELD(gating.rounds),
	 "pairs of runs, at least 12; unclear cases get more (60)",
	 .group = OPTION_HOW},
	{"floor", 0, "LIST", gate_parse_floors, FIELD(gating.floors),
	 "thresholds: smaller regressions pass; off disables a figure (p50=5%,bw=5%,p99=10%)",
	 .group = OPTION_HOW},
	{"differs", 0, "LIST", gate_parse_differs, FIELD(gating.differs),
	 "facts that may differ between the sides, for example rdma_core,kernel (tool)",
	 .group = OPTION_HOW, .is_rare = true},
	{"time-limit", 0, "TIME", gate_parse_limit, FIELD(gating.limit_ms),
	 "start no pair of runs after this time (none: at most 4 times --rounds)",
	 .group = OPTION_HOW},
	{"order-seed", 0, "N", gate_parse_seed, FIELD(gating.seed),
	 "seed of the order of sides and cases (random)",
	 .group = OPTION_HOW, .is_rare = true},
	{"json", 0, "FILE", option_text, FIELD(outputs[OUTPUT_JSON].path),
	 "write all trials and verdicts to FILE; - is standard output",
	 .group = OPTION_OUTPUT},
	{"markdown", 0, "FILE", option_text, FIELD(outputs[OUTPUT_MARKDOWN].path),
	 "write a summary to FILE, for example for a pull request",
	 .group = OPTION_OUTPUT},
	{"junit", 0, "FILE", option_text, FIELD(outputs[OUTPUT_JUNIT].path),
	 "write JUnit XML to FILE",
	 .group = OPTION_OUTPUT},
	{"html", 0, "FILE", option_text, FIELD(outputs[OUTPUT_HTML].path),
	 "write a page to FILE",
	 .group = OPTION_OUTPUT},
	{"annotations", 0, NULL, option_flag, FIELD(with_annotations),
	 "print GitHub annotations",
	 .group = OPTION_OUTPUT, .is_rare = true},
	{"strict", 0, NULL, option_flag, FIELD(is_strict),
	 "exit with status 3 if a verdict is unclear",
	 .group = OPTION_OUTPUT},
	{"bisect", 0, NULL, option_flag, FIELD(is_bisecting),
	 "exit status for 'git bisect run': an invalid gate is 125",
	 .group = OPTION_OUTPUT},
	{"preset", 0, "NAME", preset_parse_name, FIELD(plan.preset),
	 "a set of cases: " PRESET_NAMES " (gate)",
	 .group = OPTION_WHAT, .values = OPTION_VALUES(preset_names)},
	{"plan", 0, "FILE", option_text, FIELD(plan.file),
	 "cases from a plan file, or from a result",
	 .group = OPTION_WHAT},
	{"dry-run", 0, NULL, option_flag, FIELD(plan.is_dry),
	 "print the cases without running them",
	 .group = OPTION_HOW},
	{"device", 'd', "NAME", option_text, FIELD(gating.device),
	 "RDMA device of both sides",
	 .group = OPTION_WHERE},
	{"base-device", 0, "NAME", option_text, FIELD(gating.sides[GATE_BASE].device),
	 "RDMA device of the base (same as --device)",
	 .group = OPTION_WHERE, .is_rare = true},
	{"head-device", 0, "NAME", option_text, FIELD(gating.sides[GATE_HEAD].device),
	 "RDMA device of the head (same as --device)",
	 .group = OPTION_WHERE, .is_rare = true},
	{"server-device", 0, "NAME", option_text, FIELD(gating.server_device),
	 "RDMA device of the server (chosen automatically)",
	 .group = OPTION_WHERE, .is_rare = true},
	{"port", 'p', "PORT", option_port, FIELD(gating.port),
	 "TCP port of the server (7471)",
	 .group = OPTION_WHERE},
	{"secret-file", 0, "FILE", option_text, FIELD(gating.secret_file),
	 "file with the secret shared with the server",
	 .group = OPTION_WHERE, .is_rare = true},
	{"quiet", 0, NULL, option_flag, FIELD(plan.is_quiet),
	 "do not show progress",
	 .group = OPTION_OUTPUT, .is_rare = true},
	{"progress", 0, NULL, option_flag, FIELD(plan.with_progress),
	 "show progress even if standard error is not a terminal",
	 .group = OPTION_OUTPUT, .is_rare = true},
	TTY_COLOR_ROW(FIELD(plan.color), true),
};
// clang-format on

static const struct option_table options = {
	.rows = rows,
	.count = ARRAY_LENGTH(rows),
	.operand = "[HOST]",
	.operand_offset = FIELD(plan.host),
	.next = &plan_case_options,
	.hides = gate_refuses,
	.says = gate_says,
};

static const char *parse_rounds(const char *text, void *field)
{
	uint64_t count;

	if (!value_count(text, JUDGE_ROUNDS_LEAST, 100000, &count))
		return "is not a number of pairs of runs from 12 to 100000";
	*(size_t *)field = count;
	return NULL;
}

/* The progress line. */
struct screen {
	struct rounds_view view;
	struct progress progress;
};

static void round_begins(struct rounds_view *view, size_t number, size_t count)
{
	struct screen *screen = CONTAINER_OF(view, struct screen, view);
	const struct progress_step step = {
		.number = number + 1,
		.count = count,
		.unit = "pairs of runs",
		.done_ns = number * NS_PER_S,
	};

	/* Progress counts pairs of runs; repeated pairs start a new count. */
	if (!number)
		progress_restart(&screen->progress, 0);
	screen->progress.estimate_ns = count * NS_PER_S;
	if (screen->progress.is_terminal || screen->progress.is_eager)
		progress_show(&screen->progress, &step);
}

static int write_json(FILE *out, const void *what)
{
	return save_json(out, gate_make(what, VERBMARK_VERSION), JSON_INDENT(1));
}

static int write_markdown(FILE *out, const void *what)
{
	gate_markdown(out, what, MARKDOWN_MOST);
	return 0;
}

static int write_junit(FILE *out, const void *what)
{
	gate_junit(out, what);
	return 0;
}

static int write_html(FILE *out, const void *what)
{
	return gate_page(out, what);
}

/* Writes all files, even if one fails. */
static int write_files(const struct settings *settings, const struct gate_record *gate,
		       struct error *error)
{
	for (size_t i = 0; i < OUTPUTS; i++)
		if (settings->outputs[i].path)
			save_path(settings->outputs[i].path, settings->outputs[i].write, gate,
				  error);
	return error->code;
}

static unsigned int count_stdout(const struct settings *settings)
{
	unsigned int count = 0;

	for (size_t i = 0; i < OUTPUTS; i++)
		count += settings->outputs[i].path && save_is_stdout(settings->outputs[i].path);
	return count;
}

/* Checks that the files can be written, before anything is measured. */
static int check_files(const struct settings *settings, struct error *error)
{
	int code = 0;

	for (size_t i = 0; i < OUTPUTS && !code; i++)
		if (settings->outputs[i].path)
			code = save_check(settings->outputs[i].path, error);
	return code;
}

/* Rejects two outputs in one file: the second would replace the first. */
static int check_apart(const struct settings *settings, struct error *error)
{
	const struct output *outputs = settings->outputs;

	if (count_stdout(settings) > 1)
		return error_set(
			error, -EINVAL,
			"only one of --json, --markdown, --junit and --html may be standard output");
	for (size_t i = 1; i < OUTPUTS; i++)
		for (size_t j = 0; j < i; j++)
			if (outputs[i].path && outputs[j].path &&
			    save_is_same(outputs[i].path, outputs[j].path))
				return error_set(error, -EINVAL, "%s and %s name the same file",
						 outputs[j].option, outputs[i].option);
	return 0;
}

static int status_of(const struct settings *settings, const struct gate_record *gate)
{
	const int statuses[VERDICTS] = {
		[VERDICT_BETTER] = COMMAND_GOOD,
		[VERDICT_SAME] = COMMAND_GOOD,
		[VERDICT_UNCLEAR] = settings->is_strict ? COMMAND_INVALID : COMMAND_GOOD,
		[VERDICT_INVALID] = COMMAND_INVALID,
		[VERDICT_WORSE] = COMMAND_FAILED,
	};

	return statuses[gate_end(gate)];
}

/* Writes the files first: the reader of standard output may exit at any time. */
static int show(const struct settings *settings, const struct gate_record *gate,
		struct error *error)
{
	bool has_stdout = count_stdout(settings) > 0;
	FILE *out = has_stdout ? stderr : stdout;
	struct terminal terminal = tty_find(out, settings->plan.color);
	int code = write_files(settings, gate, error);

	gate_table(&terminal, gate);
	if (settings->with_annotations)
		gate_annotations(out, gate);
	if (!has_stdout && (fflush(stdout) || ferror(stdout)) && !code)
		code = error_set_errno(error, -EIO, "cannot write to standard output");
	return code;
}

static int measure(const struct settings *settings, struct error *error)
{
	struct screen screen = {.view = {.begins = round_begins}};
	struct gate_settings gating = settings->gating;
	struct gate_record gate = {0};
	struct interrupt interrupt;
	bool was_interrupted;
	int code = check_files(settings, error);

	if (!code)
		code = interrupt_open(&interrupt, error);
	if (code)
		return COMMAND_INVALID;
	progress_init(&screen.progress, stderr, settings->plan.with_progress,
		      settings->plan.is_quiet, 0);
	gating.view = &screen.view;
	gating.stop = interrupt.fd;
	code = gate_run(&gating, &settings->plan, &gate, error);
	progress_wipe(&screen.progress);
	was_interrupted = interrupt_has_come(&interrupt);
	if (!code)
		code = show(settings, &gate, error);
	interrupt_close(&interrupt);
	/* An interrupt ends the whole bisection. */
	if (!code && was_interrupted && settings->is_bisecting)
		code = error_set(error, -EINTR, "interrupted");
	if (!code)
		code = status_of(settings, &gate);
	gate_close(&gate);
	/* Status 1 only means a regression. */
	if (code == -EINVAL || code == -E2BIG)
		return COMMAND_USAGE;
	return code < 0 ? COMMAND_INVALID : code;
}

static int cmd_gate_check(const struct settings *settings, struct error *error)
{
	for (enum gate_side side = 0; side < GATE_SIDES; side++)
		if (!settings->gating.sides[side].what)
			return error_set(
				error, -EINVAL,
				"--%s is missing: give a command or a host; see 'verbmark gate --help'",
				gate_side_name(side));
	return check_apart(settings, error);
}

static int parse(struct settings *settings, int argc, char *argv[], struct error *error)
{
	int code = option_parse(&options, argc, argv, settings, error);

	settings->gating.host = settings->plan.host;
	if (!code)
		code = cmd_gate_check(settings, error);
	if (!code)
		code = gate_check_plan(&settings->plan, error);
	return code;
}

/* Maps the status for git, which takes any other failure for a bad revision. */
static int bisect_status(int status)
{
	if (status == COMMAND_INVALID)
		return BISECT_SKIP;
	return status == COMMAND_USAGE ? BISECT_ABORT : status;
}

static int cmd_gate_run(int argc, char *argv[], const char **operands, struct error *error)
{
	struct settings settings = {
		.gating = GATE_DEFAULTS,
		.outputs = {[OUTPUT_JSON] = {.option = "--json", .write = write_json},
			    [OUTPUT_MARKDOWN] = {.option = "--markdown", .write = write_markdown},
			    [OUTPUT_JUNIT] = {.option = "--junit", .write = write_junit},
			    [OUTPUT_HTML] = {.option = "--html", .write = write_html}},
	};
	int status;
	int code;

	for (int i = 1; i < argc; i++)
		settings.is_bisecting |= !strcmp(argv[i], "--bisect");
	settings.gating.seed = gate_draw_seed();
	code = parse(&settings, argc, argv, error);
	if (code)
		status = command_parsed(code);
	else if (settings.plan.is_dry)
		status = gate_print(&settings.gating, &settings.plan, stdout, error) ? COMMAND_USAGE
										     : COMMAND_GOOD;
	else
		status = measure(&settings, error);
	plan_close(&settings.plan);
	/* A gate that could not start or write its output says nothing about the revision. */
	if (settings.is_bisecting && error->code)
		return BISECT_ABORT;
	return settings.is_bisecting ? bisect_status(status) : status;
}

// clang-format off
const struct command command_gate = {
	.name = "gate",
	.group = COMMAND_MEASURE,
	.summary = "find regressions between two builds or two hosts",
	.about = "Runs two builds, or measures two hosts, alternately, and tests each figure of each case for "
		 "a regression. Exit status 1 is a regression, 3 an invalid gate.",
	.examples = {
		{"verbmark gate --base ./old/verbmark --head ./new/verbmark",
		 "compare two builds on this host"},
		{"verbmark gate --base n02 --head n03 --junit gate.xml",
		 "compare two servers, with a report for CI"},
	},
	.options = &options,
	.run = cmd_gate_run,
};
// clang-format on
