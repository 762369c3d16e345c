/* SPDX-License-Identifier: MIT */
#include "reports/export/export.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cli/inputs.h"
#include "bench/cmd/command.h"
#include "reports/io/save.h"
#include "reports/result/banner.h"

#define NAMES "bmf, github-benchmark, junit, prometheus, hgrm or csv"

struct format {
	struct option_value value;
	const struct export_format *format;
};

struct settings {
	const struct format *format;
	struct export_choice choice;
	const char *output; /* NULL: standard output */
	const char **files; /* with room for all operands */
	size_t n_files;
};

// clang-format off
static const struct format formats[] = {
	{{"bmf", "Bencher Metric Format"},                   &export_bmf},
	{{"github-benchmark", "github-action-benchmark"},    &export_github},
	{{"junit", "JUnit XML, for CI servers"},             &export_junit},
	{{"prometheus", "Prometheus text format"},           &export_prometheus},
	{{"hgrm", "HdrHistogram percentiles of one case"},   &export_hgrm},
	{{"csv", "comma-separated values"},                  &export_csv},
};

static const struct option_value metrics[] = {
	{"lat", "latencies: smaller is better"},
	{"bw",  "bandwidths: bigger is better"},
};

static const char *parse_metric(const char *text, void *field)
{
	enum export_metric *metric = field;

	if (!strcmp(text, metrics[0].name))
		*metric = EXPORT_LATENCY;
	else if (!strcmp(text, metrics[1].name))
		*metric = EXPORT_BANDWIDTH;
	else
		return "is not lat or bw";
	return NULL;
}

static const struct option_row rows[] = {
	{"format", 0, "NAME", NULL, offsetof(struct settings, format),
	 NAMES, .group = OPTION_GENERAL, .values = OPTION_VALUES(formats)},
	{"metric", 0, "NAME", parse_metric, offsetof(struct settings, choice.metric),
	 "github-benchmark: export latencies (lat) or bandwidths (bw)",
	 .group = OPTION_GENERAL, .values = OPTION_VALUES(metrics)},
	{"case", 0, "ID", option_text, offsetof(struct settings, choice.id),
	 "hgrm: the case to export", .group = OPTION_GENERAL},
	{"output", 'o', "FILE", option_text, offsetof(struct settings, output),
	 "write to FILE (standard output)", .group = OPTION_GENERAL},
};
// clang-format on

static const char *add_file(const char *text, void *target)
{
	struct settings *settings = target;

	return inputs_add(settings->files, &settings->n_files, text);
}

static const struct option_table options = {
	.rows = rows,
	.count = ARRAY_LENGTH(rows),
	.operand = "FILE...",
	.add_operand = add_file,
};

/* Exports all files that can be read, and reports the others. -ENODATA: none can be read. */
static int add_files(const struct settings *settings, void *state, int *status, struct error *error)
{
	bool has_any = false;

	for (size_t i = 0; i < settings->n_files; i++) {
		const char *path = settings->files[i];
		char name[INPUTS_NAME];
		struct error unread = {0};
		struct result result;
		int code;

		inputs_name(name, path);
		if (inputs_load(&result, path, &unread)) {
			fprintf(stderr, "verbmark: %s\n", unread.text);
			*status = COMMAND_FAILED;
			continue;
		}
		has_any = true;
		if (banner_of(&result) && !settings->format->format->has_banner)
			fprintf(stderr, "verbmark: %s: %s\n", name, banner_of(&result));
		code = settings->format->format->add(state, &result, name, error);
		result_finish(&result);
		if (code)
			return code;
	}
	return has_any ? 0 : -ENODATA;
}

static int write_text(FILE *out, const void *what)
{
	fputs(what, out);
	return 0;
}

static int export(const struct settings *settings, struct error *error)
{
	void *state = settings->format->format->open(&settings->choice);
	int status = COMMAND_GOOD;
	char *text = NULL;
	int code;

	if (!state) {
		export_no_memory(error);
		return COMMAND_FAILED;
	}
	code = add_files(settings, state, &status, error);
	if (!code)
		code = settings->format->format->finish(state, &text, error);
	if (!code)
		code = save_output(settings->output, write_text, text, error);
	settings->format->format->close(state);
	free(text);
	return code ? COMMAND_FAILED : status;
}

static int check_choice(const struct settings *settings, struct error *error)
{
	const struct export_format *format = settings->format ? settings->format->format : NULL;
	bool is_github = format == &export_github;

	if (!format)
		return error_set(error, -EINVAL, "--format is missing: use %s", NAMES);
	if (is_github && !settings->choice.metric)
		return error_set(error, -EINVAL,
				 "--format github-benchmark needs --metric lat "
				 "(customSmallerIsBetter) or bw (customBiggerIsBetter)");
	if (!is_github && settings->choice.metric)
		return error_set(error, -EINVAL,
				 "--metric applies only to --format github-benchmark");
	if (format != &export_hgrm && settings->choice.id)
		return error_set(error, -EINVAL, "--case applies only to --format hgrm");
	if (format == &export_hgrm && settings->n_files > 1)
		return error_set(
			error, -EINVAL,
			"--format hgrm takes one FILE; merge several with 'verbmark report --merge'");
	return 0;
}

static int parse(struct settings *settings, int argc, char *argv[], struct error *error)
{
	int code = option_parse(&options, argc, argv, settings, error);

	if (!code)
		code = check_choice(settings, error);
	if (!code)
		code = inputs_require(settings->n_files, "FILE", error);
	return code ? code
		    : inputs_spare(settings->files, settings->n_files, "--output", settings->output,
				   error);
}

static int cmd_export_run(int argc, char *argv[], const char **operands, struct error *error)
{
	struct settings settings = {.files = operands};
	int code = parse(&settings, argc, argv, error);

	return code ? command_parsed(code) : export(&settings, error);
}

// clang-format off
const struct command command_export = {
	.name = "export",
	.group = COMMAND_CONVERT,
	.summary = "convert results for Bencher, GitHub, JUnit or Prometheus",
	.about = "Converts results to the format of another tool. Only complete cases have figures there. The "
		 "file - is standard input.",
	.examples = {
		{"verbmark export --format prometheus result.json -o verbmark.prom",
		 "metrics for the node exporter"},
		{"verbmark export --format hgrm --case send/lat/64/poll result.json",
		 "percentiles for the HdrHistogram plotter"},
	},
	.options = &options,
	.run = cmd_export_run,
};
// clang-format on
