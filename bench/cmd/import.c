/* SPDX-License-Identifier: MIT */
#include "reports/import/import.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "bench/cli/inputs.h"
#include "bench/cli/tty.h"
#include "bench/cmd/command.h"
#include "reports/document/document.h"
#include "reports/history/name.h"
#include "reports/io/save.h"
#include "reports/table/table.h"

struct settings {
	bool has_format;     /* the first operand */
	const char *json;    /* NULL: print the table only */
	const char *started; /* NULL: unknown */
	const char **files;  /* with room for all operands */
	size_t n_files;
};

static const char *parse_started(const char *text, void *field)
{
	if (!history_name_time(text))
		return "is not a time (e.g. 2026-11-23T10:12:44Z)";
	*(const char **)field = text;
	return NULL;
}

static const struct option_row rows[] = {
	{"json",    0, "FILE", option_text,   offsetof(struct settings, json),
	 "save the result to FILE; - prints it instead of the table",                .group = OPTION_GENERAL},
	{"started", 0, "TIME", parse_started, offsetof(struct settings, started),
	 "time of the measurement, for a history, for example 2026-11-23T10:12:44Z", .group = OPTION_GENERAL},
};

static const struct option_value formats[] = {
	{"perftest", "text or JSON output of ib_send_lat, ib_write_bw, ..."},
};

/* Takes the format, and then the files. */
static const char *add_word(const char *text, void *target)
{
	struct settings *settings = target;

	if (settings->has_format)
		return inputs_add(settings->files, &settings->n_files, text);
	settings->has_format = !strcmp(text, formats[0].name);
	return settings->has_format ? NULL : "is not a format that can be imported";
}

static const struct option_table options = {
	.rows = rows,
	.count = ARRAY_LENGTH(rows),
	.operand = "FORMAT FILE...",
	.add_operand = add_word,
	.operand_name = "format",
	.operand_values = OPTION_VALUES(formats),
};

static void show(const struct result *result)
{
	struct terminal terminal = tty_find(stdout, NULL);
	struct table table;

	table_open(&table, &terminal, NULL, result);
	for (size_t i = 0; i < result->n_cases; i++)
		table_line(&table, &result->cases[i]);
	table_foot(&table);
}

static int import_all(struct result *result, const struct settings *settings, struct error *error)
{
	struct import import;
	int code = import_begin(&import, VERBMARK_VERSION, error);

	if (code)
		return code;
	for (size_t i = 0; i < settings->n_files && !code; i++)
		code = import_file(&import, settings->files[i], error);
	if (!code)
		code = import_finish(&import, result, error);
	import_close(&import);
	return code;
}

/* Imports all files, or none if one is not understood. */
static int import_and_save(const struct settings *settings, struct error *error)
{
	struct result result;
	int code = import_all(&result, settings, error);

	if (code) {
		inputs_name_error(error);
		return COMMAND_FAILED;
	}
	if (settings->started)
		snprintf(result.started, sizeof(result.started), "%s", settings->started);
	if (!settings->json || !save_is_stdout(settings->json))
		show(&result);
	if (settings->json)
		code = document_write(&result, settings->json, error);
	result_finish(&result);
	return code ? COMMAND_FAILED : COMMAND_GOOD;
}

static int parse(struct settings *settings, int argc, char *argv[], struct error *error)
{
	int code = option_parse(&options, argc, argv, settings, error);

	if (code)
		return code;
	if (!settings->has_format)
		return error_set(error, -EINVAL, "FORMAT is missing: use perftest");
	if (!settings->n_files)
		return error_set(error, -EINVAL,
				 "FILE is missing: give the output of a perftest program");
	if (settings->started && !settings->json)
		return error_set(error, -EINVAL, "--started needs --json FILE");
	if (!settings->json || !strcmp(settings->json, "-"))
		return 0;
	for (size_t i = 0; i < settings->n_files; i++)
		if (save_is_same(settings->json, settings->files[i]))
			return error_set(error, -EINVAL,
					 "--json: '%s' is an input file and would be overwritten",
					 settings->json);
	return 0;
}

static int cmd_import_run(int argc, char *argv[], const char **operands, struct error *error)
{
	struct settings settings = {.files = operands};
	int code = parse(&settings, argc, argv, error);

	return code ? command_parsed(code) : import_and_save(&settings, error);
}

// clang-format off
const struct command command_import = {
	.name = "import",
	.group = COMMAND_CONVERT,
	.summary = "convert the output of perftest to a result",
	.about = "Converts the output of another benchmark to a result, and prints its table. The file - is "
		 "standard input. Input that is not understood is rejected with its line number.",
	.examples = {
		{"verbmark import perftest ib_write_lat.log",
		 "print the table"},
		{"verbmark import perftest monday.log friday.log --json old.json",
		 "convert several outputs to one result"},
	},
	.options = &options,
	.run = cmd_import_run,
};
// clang-format on
