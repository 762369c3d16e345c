/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bench/command.h"
#include "bench/redaction.h"
#include "reports/document.h"
#include "reports/load.h"
#include "reports/merge.h"
#include "reports/table.h"

struct settings {
	bool is_merged;
	bool is_redacted;
	const char *json;
	const struct table_unit *unit;
	const char **files; /* room for all words there are */
	size_t n_files;
};

static const struct option_row rows[] = {
	{"merge",  0, NULL,   option_flag,      offsetof(struct settings, is_merged),
	 "runs of the same cases as one: all trials, all histograms"         },
	{"json",   0, "FILE", option_text,      offsetof(struct settings, json),
	 "write what was merged there; - is standard output"                 },
	{"redact", 0, NULL,   option_flag,      offsetof(struct settings, is_redacted),
	 "write it without names of hosts and addresses: of one FILE as well"},
	{"units",  0, "UNIT", table_parse_unit, offsetof(struct settings, unit),
	 "Gb/s, Mb/s, GB/s, MB/s, MiB/s (Gb/s)"                              },
};

static const char *add_file(const char *text, void *target)
{
	struct settings *settings = target;

	for (size_t i = 0; i < settings->n_files; i++)
		if (!strcmp(settings->files[i], text))
			return "is there twice";
	settings->files[settings->n_files++] = text;
	return NULL;
}

static const struct option_table options = {
	.rows = rows,
	.count = ARRAY_LENGTH(rows),
	.operand = "FILE...",
	.add_operand = add_file,
};

/* The cases that were run, then those that were not, then how many of them are good. */
static void print(const struct settings *settings, const struct result *result, const char *name,
		  FILE *out)
{
	struct table_count count;

	table_head(out, result);
	for (size_t i = 0; i < result->n_cases; i++)
		if (result->cases[i].status != RESULT_SKIPPED)
			table_line(out, settings->unit, result, &result->cases[i]);
	count = table_foot(out, result);
	fprintf(out, "%zu/%zu complete, %s, %s\n", count.complete, count.wanted, result->started,
		name);
}

/* Each on its own; what cannot be read is said, and the others are shown. */
static int print_each(const struct settings *settings)
{
	int status = COMMAND_GOOD;
	bool has_shown = false;

	for (size_t i = 0; i < settings->n_files; i++) {
		struct error error = {0};
		struct result result;

		if (load_file(&result, settings->files[i], &error)) {
			fflush(stdout);
			fprintf(stderr, "verbmark: %s\n", error.text);
			status = COMMAND_FAILED;
			continue;
		}
		if (has_shown)
			putchar('\n');
		has_shown = true;
		print(settings, &result, settings->files[i], stdout);
		result_finish(&result);
	}
	return status;
}

static int merge(struct result *merged, const struct settings *settings, struct error *error)
{
	int code = 0;

	for (size_t i = 0; i < settings->n_files && !code; i++) {
		struct result result;

		code = load_file(&result, settings->files[i], error);
		if (code)
			break;
		code = merge_add(merged, &result, error);
		if (code)
			error_wrap(error, "%s", settings->files[i]);
		result_finish(&result);
	}
	return code;
}

static int save(const struct settings *settings, const struct result *result, struct error *error)
{
	if (!settings->json)
		return 0;
	return (settings->is_redacted ? redaction_write : document_write)(result, settings->json,
									  error);
}

/* All of them as one, or the only one as it is. */
static int print_one(const struct settings *settings, struct error *error)
{
	bool is_stream = settings->json && !strcmp(settings->json, "-");
	struct result result = {0};
	const char *name = settings->files[0];
	char text[64];
	int code = settings->is_merged ? merge(&result, settings, error)
				       : load_file(&result, name, error);

	if (settings->is_merged) {
		snprintf(text, sizeof(text), "%zu results", settings->n_files);
		name = text;
	}
	if (!code)
		print(settings, &result, name, is_stream ? stderr : stdout);
	if (!code)
		code = save(settings, &result, error);
	result_finish(&result);
	return code ? COMMAND_FAILED : COMMAND_GOOD;
}

static int parse(struct settings *settings, int argc, char *argv[], struct error *error)
{
	int code = option_parse(&options, argc, argv, settings, error);

	if (code)
		return code;
	if (!settings->n_files)
		return error_set(error, -EINVAL, "FILE is missing: a result that run has left");
	if (settings->is_redacted && !settings->json)
		return error_set(error, -EINVAL, "--redact is for what --json writes");
	if (settings->is_redacted && settings->n_files == 1)
		return 0;
	if (settings->json && !settings->is_merged)
		return error_set(error, -EINVAL, "--json is for what --merge makes of several");
	return 0;
}

static int run(int argc, char *argv[], struct error *error)
{
	struct settings settings = {.files = calloc((size_t)argc, sizeof(*settings.files))};
	int status = COMMAND_USAGE;
	int code;

	if (!settings.files) {
		error_set_errno(error, -ENOMEM, "cannot keep the names");
		return COMMAND_FAILED;
	}
	code = parse(&settings, argc, argv, error);
	if (code > 0) {
		command_help(&command_report);
		status = COMMAND_GOOD;
	} else if (!code) {
		status = settings.is_merged || settings.json ? print_one(&settings, error)
							     : print_each(&settings);
	}
	free(settings.files);
	return status;
}

const struct command command_report = {
	.name = "report",
	.summary = "prints the tables of results, or of several as one",
	.options = &options,
	.run = run,
};
