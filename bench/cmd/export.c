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

#define NAMES "bmf, github-benchmark, junit, prometheus, hgrm, csv"

struct settings {
	const struct export_format *format;
	struct export_choice choice;
	const char *output; /* NULL: standard output */
	const char **files; /* room for all words there are */
	size_t n_files;
};

static const struct export_format *const formats[] = {
	&export_bmf, &export_github, &export_junit, &export_prometheus, &export_hgrm, &export_csv,
};

static const char *parse_format(const char *text, void *field)
{
	for (size_t i = 0; i < ARRAY_LENGTH(formats); i++) {
		if (strcmp(formats[i]->name, text) != 0)
			continue;
		*(const struct export_format **)field = formats[i];
		return NULL;
	}
	return "is none of " NAMES;
}

static const char *parse_metric(const char *text, void *field)
{
	enum export_metric *metric = field;

	if (!strcmp(text, "lat"))
		*metric = EXPORT_LATENCY;
	else if (!strcmp(text, "bw"))
		*metric = EXPORT_BANDWIDTH;
	else
		return "is none of lat, bw";
	return NULL;
}

static const struct option_row rows[] = {
	{"format", 0,   "NAME", parse_format, offsetof(struct settings, format),        NAMES           },
	{"metric", 0,   "NAME", parse_metric, offsetof(struct settings, choice.metric),
	 "of github-benchmark: lat, where smaller is better, or bw"                                     },
	{"case",   0,   "ID",   option_text,  offsetof(struct settings, choice.id),
	 "of hgrm: the one whose latencies are to be told"                                              },
	{"output", 'o', "FILE", option_text,  offsetof(struct settings, output),        "write it there"},
};

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

/* A result that cannot be read is told, and the others are exported; no others: -ENODATA. */
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
		if (banner_of(&result) && !settings->format->has_banner)
			fprintf(stderr, "verbmark: %s: %s\n", name, banner_of(&result));
		code = settings->format->add(state, &result, name, error);
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
	void *state = settings->format->open(&settings->choice);
	int status = COMMAND_GOOD;
	char *text = NULL;
	int code;

	if (!state) {
		export_no_memory(error);
		return COMMAND_FAILED;
	}
	code = add_files(settings, state, &status, error);
	if (!code)
		code = settings->format->finish(state, &text, error);
	if (!code)
		code = save_output(settings->output, write_text, text, error);
	settings->format->close(state);
	free(text);
	return code ? COMMAND_FAILED : status;
}

static int check_choice(const struct settings *settings, struct error *error)
{
	bool is_github = settings->format == &export_github;

	if (!settings->format)
		return error_set(error, -EINVAL, "--format is missing: %s", NAMES);
	if (is_github && !settings->choice.metric)
		return error_set(error, -EINVAL,
				 "github-benchmark needs --metric: lat, for customSmallerIsBetter, "
				 "or bw, for customBiggerIsBetter");
	if (!is_github && settings->choice.metric)
		return error_set(error, -EINVAL, "--metric is for github-benchmark");
	if (settings->format != &export_hgrm && settings->choice.id)
		return error_set(error, -EINVAL, "--case is for hgrm");
	if (settings->format == &export_hgrm && settings->n_files > 1)
		return error_set(error, -EINVAL, "hgrm is of one FILE: report --merge makes one");
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

const struct command command_export = {
	.name = "export",
	.summary =
		"makes of results what Bencher, GitHub, JUnit, Prometheus, HdrHistogram read; CSV",
	.options = &options,
	.run = cmd_export_run,
};
