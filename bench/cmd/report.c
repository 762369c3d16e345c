/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/cli/inputs.h"
#include "bench/cli/tty.h"
#include "bench/cli/units.h"
#include "bench/cmd/command.h"
#include "bench/cmd/redact.h"
#include "bench/cmd/report_baseline.h"
#include "reports/document/document.h"
#include "reports/document/merge.h"
#include "reports/fleet/csv.h"
#include "reports/fleet/document.h"
#include "reports/fleet/page/page.h"
#include "reports/fleet/table.h"
#include "reports/io/save.h"
#include "reports/page/page.h"
#include "reports/table/csv.h"
#include "reports/table/markdown.h"
#include "reports/table/table.h"

struct settings;

/* A result to show. */
struct shown {
	const struct result *result;
	const char *name;
	size_t number; /* from 0 */
};

/* An output format. */
struct format {
	struct option_value value;
	void (*begin)(FILE *out);
	/* Returns 0 or a negative errno. */
	int (*add)(const struct settings *settings, const struct shown *shown, FILE *out);
	/* The same for a check of a fleet; NULL: the format has none. */
	int (*add_fleet)(const struct settings *settings, const struct fleet *fleet,
			 const char *name, FILE *out);
	bool is_apart; /* results are separated by an empty line */
	bool is_page;  /* may contain a comparison with a baseline */
	bool has_unit; /* --units applies; otherwise bytes per second */
	bool is_lone; /* a check of a fleet must be the only file: its lines do not name the file */
};

struct settings {
	const struct format *format; /* NULL: tables */
	const char *output;          /* NULL: standard output */
	bool is_merged;
	bool is_redacted;
	const char *json;
	const struct table_unit *unit;
	const struct option_value *color;
	const char **files; /* with room for all operands */
	size_t n_files;
	struct compare_sides baseline; /* only its BASE is used */
};

/* Prints the measured cases, the skipped ones, and the number of complete cases. */
static int add_table(const struct settings *settings, const struct shown *shown, FILE *out)
{
	const struct result *result = shown->result;
	struct table_count count;
	struct terminal terminal = tty_find(out, settings->color);
	struct table table;

	table_open(&table, &terminal, settings->unit, result);
	for (size_t i = 0; i < result->n_cases; i++)
		table_line(&table, &result->cases[i]);
	count = table_foot(&table);
	fprintf(out, "%zu of %zu case%s complete, %s%s%s\n", count.complete, count.wanted,
		count.wanted == 1 ? "" : "s", result->started, result->started[0] ? ", " : "",
		shown->name);
	return 0;
}

static int add_page(const struct settings *settings, const struct shown *shown, FILE *out)
{
	page_add(out, &(struct charts){shown->result, settings->unit}, shown->name);
	return 0;
}

static int add_fleet_page(const struct settings *settings, const struct fleet *fleet,
			  const char *name, FILE *out)
{
	return fleet_page(out, settings->unit, fleet, name, NULL);
}

static int add_fleet_table(const struct settings *settings, const struct fleet *fleet,
			   const char *name, FILE *out)
{
	struct terminal terminal = tty_find(out, settings->color);

	return fleet_table(&terminal, settings->unit, fleet, NULL);
}

static int add_fleet_csv(const struct settings *settings, const struct fleet *fleet,
			 const char *name, FILE *out)
{
	return fleet_csv(out, fleet);
}

static int add_fleet_json(const struct settings *settings, const struct fleet *fleet,
			  const char *name, FILE *out)
{
	return fleet_document_print(out, fleet);
}

static int add_markdown(const struct settings *settings, const struct shown *shown, FILE *out)
{
	size_t n_files = settings->is_merged ? 1 : settings->n_files;

	markdown_add(out, settings->unit, shown->result, shown->name, MARKDOWN_MOST / n_files);
	return 0;
}

static int add_csv(const struct settings *settings, const struct shown *shown, FILE *out)
{
	csv_add(out, shown->result, shown->name);
	return 0;
}

/* Prints the result as run writes it, on one line. */
static int add_json(const struct settings *settings, const struct shown *shown, FILE *out)
{
	return save_json(out, document_make(shown->result), JSON_COMPACT);
}

// clang-format off
static const struct format formats[] = {
	{{"table", "aligned text, for a terminal"},
	 .add = add_table, .add_fleet = add_fleet_table, .is_apart = true, .has_unit = true},
	{{"html", "a self-contained page with charts"},
	 .add = add_page, .add_fleet = add_fleet_page, .is_apart = true, .is_page = true, .has_unit = true},
	{{"markdown", "tables for a pull request or an issue"},
	 .add = add_markdown, .is_apart = true, .has_unit = true},
	{{"csv", "one line per figure of each case and trial"},
	 .begin = csv_begin, .add = add_csv, .add_fleet = add_fleet_csv, .is_lone = true},
	{{"json", "results as 'verbmark run' writes them"},
	 .add = add_json, .add_fleet = add_fleet_json},
};
// clang-format on

static const char *parse_baseline(const char *text, void *field)
{
	struct compare_sides *baseline = field;

	baseline->files[COMPARE_BASE][baseline->count[COMPARE_BASE]++] = text;
	return NULL;
}

#define FIELD(member) offsetof(struct settings, member)

// clang-format off
static const struct option_row rows[] = {
	{"format", 0, "NAME", NULL, FIELD(format),
	 "table, html, markdown, csv or json (table)",
	 .group = OPTION_OUTPUT, .values = OPTION_VALUES(formats)},
	{"baseline", 0, "FILE", parse_baseline, FIELD(baseline),
	 "html: compare with this result; repeat for more runs of the baseline",
	 .group = OPTION_INPUT, .may_repeat = true},
	{"output", 'o', "FILE", option_text, FIELD(output),
	 "write the report to FILE (standard output)",
	 .group = OPTION_OUTPUT},
	{"merge", 0, NULL, option_flag, FIELD(is_merged),
	 "merge all trials of the files, which must have the same cases",
	 .group = OPTION_INPUT},
	{"json", 0, "FILE", option_text, FIELD(json),
	 "write the merged or redacted result to FILE; - is standard output",
	 .group = OPTION_OUTPUT},
	{"redact", 0, NULL, option_flag, FIELD(is_redacted),
	 "omit host names and addresses from --json",
	 .group = OPTION_OUTPUT},
	TTY_COLOR_ROW(FIELD(color), false),
	{"units", 0, "UNIT", table_parse_unit, FIELD(unit),
	 "bandwidth unit of table, html and markdown: Gb/s, Mb/s, GB/s, MB/s or MiB/s (Gb/s)",
	 .group = OPTION_OUTPUT, .values = OPTION_VALUES(unit_values)},
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

#define TITLE (INPUTS_NAME + 32)

/* Parameters of the output. It shows one result, or each file if result is NULL. */
struct show {
	const struct settings *settings;
	const struct format *format;
	const struct result *result;
	const char *name;
	int *status;
	char *title;                  /* of a page, with room for TITLE bytes */
	struct report_baseline *base; /* NULL: there is no baseline */
};

/* Shows a result; a failure determines the exit status. */
static void add(const struct show *show, const struct shown *shown, FILE *out)
{
	int code = show->format->add(show->settings, shown, out);

	if (!code)
		return;
	fprintf(stderr, "verbmark: cannot show %s: %s\n", shown->name, strerror(-code));
	*show->status = COMMAND_FAILED;
}

/* Begins the output, once there is a result to show. name: of its file. */
static void begin(const struct show *show, const char *name, FILE *out)
{
	snprintf(show->title, TITLE, "%s", name);
	if (!show->result && show->settings->n_files > 1)
		snprintf(show->title, TITLE, "%s and %zu more", name, show->settings->n_files - 1);
	if (show->format->begin)
		show->format->begin(out);
}

/* Shows a check of a fleet, which cannot be compared with a baseline here. */
static void add_fleet(const struct show *show, const struct fleet *fleet, const char *name,
		      FILE *out)
{
	int code = show->format->add_fleet(show->settings, fleet, name, out);

	if (!code)
		return;
	fprintf(stderr, "verbmark: cannot show %s: %s\n", name, strerror(-code));
	*show->status = COMMAND_FAILED;
}

/* Reads a file that the format can show. */
static int load(const struct show *show, struct inputs_file *input, const char *path,
		struct error *error)
{
	char name[INPUTS_NAME];
	int code = inputs_load_file(input, path, error);

	if (code || !input->is_fleet)
		return code;
	inputs_name(name, path);
	if (show->base)
		code = error_set(error, -EINVAL,
				 "%.150s: a check of a fleet; --baseline needs results, 'verbmark "
				 "compare' compares fleets",
				 name);
	else if (!show->format->add_fleet)
		code = error_set(error, -EINVAL,
				 "%.150s: a check of a fleet, which --format %s cannot show; use "
				 "--format html",
				 name, show->format->value.name);
	else if (show->format->is_lone && show->settings->n_files > 1)
		code = error_set(
			error, -EINVAL,
			"%.150s: a check of a fleet, whose lines of --format %s do not name "
			"the file; give this file alone",
			name, show->format->value.name);
	if (code)
		inputs_finish_file(input);
	return code;
}

/* Shows all files that can be read, and reports the others. Returns whether it showed any. */
static bool show_each(const struct show *show, FILE *out)
{
	const struct settings *settings = show->settings;
	bool has_shown = false;

	for (size_t i = 0; i < settings->n_files; i++) {
		struct error error = {0};
		char name[INPUTS_NAME];
		struct inputs_file input;

		if (load(show, &input, settings->files[i], &error)) {
			fflush(out);
			fprintf(stderr, "verbmark: %s\n", error.text);
			*show->status = COMMAND_FAILED;
			continue;
		}
		inputs_name(name, settings->files[i]);
		/* Formats other than pages begin with what describes results. */
		if (!has_shown && !show->base && (!input.is_fleet || show->format->is_page))
			begin(show, name, out);
		if (has_shown && show->format->is_apart)
			fputc('\n', out);
		has_shown = true;
		if (input.is_fleet)
			add_fleet(show, &input.fleet, name, out);
		else
			add(show, &(struct shown){&input.result, name, i}, out);
		if (show->base)
			report_baseline_add(show->base, &input.result, settings->files[i]);
		else
			inputs_finish_file(&input);
	}
	return has_shown;
}

/* Shows the comparison before the results, although it is known last. */
static int show_against(const struct show *from, FILE *out)
{
	struct show show = *from;
	struct report_baseline base;
	char *text = NULL;
	size_t length = 0;
	FILE *memory = open_memstream(&text, &length);
	char name[INPUTS_NAME];
	bool has_shown;

	if (!memory)
		return -ENOMEM;
	inputs_name(name, from->settings->files[0]);
	report_baseline_open(&base, &show.settings->baseline);
	show.base = &base;
	has_shown = show_each(&show, memory);
	if (has_shown)
		begin(from, name, out);
	if (!fclose(memory) && has_shown) {
		enum command_status status = report_baseline_print(out, show.settings->unit, &base);

		*show.status = *show.status == COMMAND_GOOD ? (int)status : *show.status;
		fwrite(text, 1, length, out);
	}
	report_baseline_close(&base);
	free(text);
	return has_shown ? 0 : -ENODATA;
}

static int show_all(const struct show *show, FILE *out)
{
	int code = 0;

	if (show->result) {
		begin(show, show->name, out);
		add(show, &(struct shown){show->result, show->name, 0}, out);
	} else if (show->settings->baseline.count[COMPARE_BASE]) {
		code = show_against(show, out);
	} else {
		code = show_each(show, out) ? 0 : -ENODATA;
	}
	return code;
}

/* Fails if there is nothing to show: an existing file is kept. */
static int write_show(FILE *out, const void *what)
{
	const struct show *show = what;
	struct page page;
	int code;

	if (!show->format->is_page)
		return show_all(show, out);
	code = page_open(&page);
	if (!code)
		code = show_all(show, page.body);
	if (!code)
		return page_print(&page, out, show->title);
	page_close(&page);
	return code;
}

/* Shows a result, or each file on its own if it is NULL. */
static int print(const struct settings *settings, const struct result *result, const char *name,
		 int *status, struct error *error)
{
	char title[TITLE] = "";
	const struct show show = {
		.settings = settings,
		.format = settings->format ? settings->format : &formats[0],
		.result = result,
		.name = name,
		.status = status,
		.title = title,
	};
	bool has_document = settings->json && save_is_stdout(settings->json);
	int code;

	if (settings->output) {
		struct error unsaved = {0};

		code = save_path(settings->output, write_show, &show, &unsaved);

		/* The reason was printed for each file. */
		if (code == -ENODATA)
			return code;
		return code ? error_set(error, code, "%s", unsaved.text) : 0;
	}
	/* main reports errors of standard output. */
	code = write_show(has_document ? stderr : stdout, &show);
	if (code && code != -ENODATA)
		return error_set_errno(error, code, "cannot print the report");
	return 0;
}

static int merge(struct result *merged, const struct settings *settings, struct error *error)
{
	int code = 0;

	for (size_t i = 0; i < settings->n_files && !code; i++) {
		char name[INPUTS_NAME];
		struct error twice = {0};
		struct result result;
		bool is_twice;

		code = inputs_load(&result, settings->files[i], error);
		if (code)
			break;
		/* Incompatible runs are reported first, duplicates second. */
		is_twice = merge_check_new(merged, &result, &twice);
		code = merge_add(merged, &result, error);
		if (!code && is_twice)
			code = error_set(error, twice.code, "%s", twice.text);
		inputs_name(name, settings->files[i]);
		if (code)
			error_wrap(error, "%s", name);
		result_finish(&result);
	}
	return code;
}

static int save(const struct settings *settings, const struct result *result, struct error *error)
{
	if (!settings->json)
		return 0;
	return (settings->is_redacted ? redact_write : document_write)(result, settings->json,
								       error);
}

/* Shows the merged files, or the only file. */
static int print_one(const struct settings *settings, struct error *error)
{
	struct result result = {0};
	char name[INPUTS_NAME];
	int status = COMMAND_GOOD;
	int code = settings->is_merged ? merge(&result, settings, error)
				       : inputs_load(&result, settings->files[0], error);

	inputs_name(name, settings->files[0]);
	if (settings->is_merged)
		snprintf(name, sizeof(name), "%zu results", settings->n_files);
	if (!code)
		code = print(settings, &result, name, &status, error);
	if (!code)
		code = save(settings, &result, error);
	result_finish(&result);
	return code ? COMMAND_FAILED : status;
}

static int print_each(const struct settings *settings, struct error *error)
{
	int status = COMMAND_GOOD;

	return print(settings, NULL, NULL, &status, error) ? COMMAND_FAILED : status;
}

static int check_baseline(const struct settings *settings, struct error *error)
{
	const struct compare_sides *baseline = &settings->baseline;
	size_t count = baseline->count[COMPARE_BASE];

	if (!count)
		return 0;
	if (!settings->format || !settings->format->is_page)
		return error_set(
			error, -EINVAL,
			"--baseline needs --format html; 'verbmark compare' prints tables");
	if (settings->is_merged || settings->json)
		return error_set(error, -EINVAL,
				 "--baseline cannot be used with --merge or --json");
	for (size_t i = 0; i < count; i++)
		if (!strcmp(baseline->files[COMPARE_BASE][i], "-"))
			return error_set(
				error, -EINVAL,
				"--baseline: standard input is not supported; name a file");
	return inputs_spare(baseline->files[COMPARE_BASE], count, "--output", settings->output,
			    error);
}

static int parse(struct settings *settings, int argc, char *argv[], struct error *error)
{
	int code = option_parse(&options, argc, argv, settings, error);

	if (!code)
		code = inputs_require(settings->n_files, "FILE", error);
	if (!code)
		code = inputs_spare(settings->files, settings->n_files, "--output",
				    settings->output, error);
	if (!code)
		code = inputs_spare(settings->files, settings->n_files, "--json", settings->json,
				    error);
	if (code)
		return code;
	code = check_baseline(settings, error);
	if (code)
		return code;
	if (settings->unit && settings->format && !settings->format->has_unit)
		return error_set(
			error, -EINVAL,
			"--units does not apply to --format %s, which uses bytes per second",
			settings->format->value.name);
	if (settings->output && settings->json && save_is_same(settings->output, settings->json))
		return error_set(error, -EINVAL, "--output and --json name the same file");
	if (settings->is_redacted && settings->format && settings->format->add == add_json)
		return error_set(error, -EINVAL,
				 "--redact applies only to --json FILE; drop --format json");
	if (settings->is_redacted && !settings->json)
		return error_set(error, -EINVAL, "--redact needs --json FILE");
	if (settings->is_redacted && settings->n_files == 1)
		return 0;
	if (settings->json && !settings->is_merged)
		return error_set(error, -EINVAL,
				 "--json needs --merge, or --redact with a single FILE");
	return 0;
}

static int cmd_report_run(int argc, char *argv[], const char **operands, struct error *error)
{
	struct settings settings = {.files = operands,
				    .baseline = {.files = {[COMPARE_BASE] = operands + argc}}};
	int code = parse(&settings, argc, argv, error);

	if (code)
		return command_parsed(code);
	return settings.is_merged || settings.json ? print_one(&settings, error)
						   : print_each(&settings, error);
}

// clang-format off
const struct command command_report = {
	.name = "report",
	.group = COMMAND_COMPARE,
	.summary = "show results as tables, web pages, Markdown, CSV or JSON",
	.about = "Shows results that 'verbmark run', 'verbmark fleet' or 'verbmark import' saved. The file - is standard input.",
	.examples = {
		{"verbmark report monday.json",
		 "print the table of a result"},
		{"verbmark report b.json --format html --baseline a.json -o b.html",
		 "write a page that compares with a baseline"},
	},
	.options = &options,
	.run = cmd_report_run,
};
// clang-format on
