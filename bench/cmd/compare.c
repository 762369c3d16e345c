/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cli/inputs.h"
#include "bench/cli/tty.h"
#include "bench/cli/units.h"
#include "bench/cli/value.h"
#include "bench/cmd/command.h"
#include "bench/cmd/compare_history.h"
#include "bench/cmd/compare_sides.h"
#include "reports/compare/csv.h"
#include "reports/compare/json.h"
#include "reports/compare/markdown.h"
#include "reports/compare/page.h"
#include "reports/compare/table.h"
#include "reports/fleet/compare_show.h"
#include "reports/io/save.h"
#include "reports/page/page.h"
#include "reports/table/markdown.h"

/* Size of the baseline from a history. Older runs say little about the machine's current state. */
#define LAST 20

struct settings;

/* An output format. Its function returns 0 or a negative errno. */
struct format {
	struct option_value value;
	int (*show)(FILE *out, const struct settings *settings,
		    const struct comparison *comparison);
	int (*show_fleets)(FILE *out, const struct settings *settings,
			   const struct fleet_comparison *comparison);
	bool has_unit; /* of --units */
};

/* The history to take the baseline from. */
struct past {
	bool is_asked;
	const char *path; /* NULL: the user's */
};

struct settings {
	const struct format *format; /* NULL: the first one */
	const char *output;          /* NULL: standard output */
	bool is_new;                 /* the operands that follow are NEW */
	bool has_standard;           /* a file is standard input */
	bool is_forced;
	bool is_failing;
	struct past history;
	uint64_t last;
	bool with_cpu;
	const struct table_unit *unit;
	const struct option_value *color;
	struct compare_sides sides; /* each with room for all operands */
};

static int show_table(FILE *out, const struct settings *settings,
		      const struct comparison *comparison)
{
	struct terminal terminal = tty_find(out, settings->color);

	compare_table(&terminal, settings->unit, comparison);
	return 0;
}

static int show_page(FILE *out, const struct settings *settings,
		     const struct comparison *comparison)
{
	struct page page;
	int code = page_open(&page);

	if (code)
		return code;
	compare_page(page.body, settings->unit, comparison);
	return page_print(&page, out, "comparison");
}

static int show_markdown(FILE *out, const struct settings *settings,
			 const struct comparison *comparison)
{
	compare_markdown(out, settings->unit, comparison, MARKDOWN_MOST);
	return 0;
}

static int show_csv(FILE *out, const struct settings *settings, const struct comparison *comparison)
{
	compare_csv(out, comparison);
	return 0;
}

static int show_json(FILE *out, const struct settings *settings,
		     const struct comparison *comparison)
{
	return save_json(out, compare_make(comparison, VERBMARK_VERSION), JSON_INDENT(1));
}

static int show_fleet_table(FILE *out, const struct settings *settings,
			    const struct fleet_comparison *comparison)
{
	struct terminal terminal = tty_find(out, settings->color);

	fleet_comparison_table(&terminal, settings->unit, comparison);
	return 0;
}

static int show_fleet_page(FILE *out, const struct settings *settings,
			   const struct fleet_comparison *comparison)
{
	struct page page;
	int code = page_open(&page);

	if (code)
		return code;
	fleet_comparison_page(page.body, settings->unit, comparison);
	return page_print(&page, out, "comparison");
}

static int show_fleet_markdown(FILE *out, const struct settings *settings,
			       const struct fleet_comparison *comparison)
{
	fleet_comparison_markdown(out, settings->unit, comparison, MARKDOWN_MOST);
	return 0;
}

static int show_fleet_csv(FILE *out, const struct settings *settings,
			  const struct fleet_comparison *comparison)
{
	fleet_comparison_csv(out, comparison);
	return 0;
}

static int show_fleet_json(FILE *out, const struct settings *settings,
			   const struct fleet_comparison *comparison)
{
	return save_json(out, fleet_comparison_make(comparison, VERBMARK_VERSION), JSON_INDENT(1));
}

// clang-format off
static const struct format formats[] = {
	{{"table", "aligned text, for a terminal"},              show_table,    show_fleet_table,    true },
	{{"html", "a self-contained page"},                      show_page,     show_fleet_page,     true },
	{{"markdown", "a table for a pull request or an issue"}, show_markdown, show_fleet_markdown, true },
	{{"csv", "one line per figure"},                         show_csv,      show_fleet_csv,      false},
	{{"json", "all figures and verdicts"},                   show_json,     show_fleet_json,     false},
};
// clang-format on

static const char *parse_history(const char *text, void *field)
{
	struct past *history = field;

	*history = (struct past){.is_asked = true, .path = text};
	return text && !*text ? "is empty" : NULL;
}

static const char *parse_last(const char *text, void *field)
{
	return value_count(text, 1, UINT32_MAX, field) ? NULL : "is not a number of runs";
}

#define FIELD(member) offsetof(struct settings, member)

// clang-format off
static const struct option_row rows[] = {
	{"new", 0, NULL, option_flag, FIELD(is_new),
	 "the files after this option are the new side; needed for several files per side",
	 .group = OPTION_INPUT},
	{"history", 0, "[FILE]", parse_history, FIELD(history),
	 "compare with the latest runs of the same setup in the history (the user's)",
	 .group = OPTION_INPUT},
	{"last", 0, "N", parse_last, FIELD(last),
	 "use the newest N of those runs (20)",
	 .group = OPTION_INPUT},
	{"format", 0, "NAME", NULL, FIELD(format),
	 "table, html, markdown, csv or json (table)",
	 .group = OPTION_OUTPUT, .values = OPTION_VALUES(formats)},
	{"output", 'o', "FILE", option_text, FIELD(output),
	 "write the comparison to FILE (standard output)",
	 .group = OPTION_OUTPUT},
	{"cpu", 0, NULL, option_flag, FIELD(with_cpu),
	 "compare the CPU time per message too",
	 .group = OPTION_GENERAL},
	{"force", 0, NULL, option_flag, FIELD(is_forced),
	 "compare results even if hosts or settings differ, and print what differs",
	 .group = OPTION_GENERAL},
	{"fail", 0, NULL, option_flag, FIELD(is_failing),
	 "exit with status 1 unless every figure is the same or better",
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
	enum compare_side side = settings->is_new ? COMPARE_NEW : COMPARE_BASE;

	if (!strcmp(text, "-") && settings->has_standard)
		return "is given twice";
	settings->has_standard = settings->has_standard || !strcmp(text, "-");
	settings->sides.files[side][settings->sides.count[side]++] = text;
	return NULL;
}

static const struct option_table options = {
	.rows = rows,
	.count = ARRAY_LENGTH(rows),
	.operand = "BASE NEW | BASE... --new NEW... | --history NEW...",
	.add_operand = add_file,
};

struct show {
	const struct settings *settings;
	const struct comparison *comparison;
	const struct fleet_comparison *fleets; /* NULL: results are compared */
};

static int write_show(FILE *out, const void *what)
{
	const struct show *show = what;
	const struct settings *settings = show->settings;
	const struct format *format = settings->format ? settings->format : &formats[0];

	if (!show->fleets)
		return format->show(out, settings, show->comparison);
	return format->show_fleets(out, settings, show->fleets);
}

/* Shows which cases could not be compared, even if that is all of them. */
static int cmd_compare_judge(struct comparison *comparison, const struct settings *settings,
			     struct error *error)
{
	const struct show show = {.settings = settings, .comparison = comparison};
	struct error nothing = {0};
	int code = compare_judge(comparison, &nothing);

	if ((!code || code == -ENODATA) && save_output(settings->output, write_show, &show, error))
		return COMMAND_FAILED;
	if (code)
		error_set(error, code, "%s", nothing.text);
	if (code)
		return code == -ENODATA || code == -EEXIST ? COMMAND_INVALID : COMMAND_FAILED;
	return settings->is_failing && !compare_has_passed(comparison) ? COMMAND_FAILED
								       : COMMAND_GOOD;
}

/* Loads the results, and compares them. */
static int compare_results(struct comparison *comparison, const struct settings *settings,
			   struct error *error)
{
	int status = compare_sides_load(comparison, &settings->sides, COMPARE_BASE, error);

	if (status == COMMAND_GOOD)
		status = compare_sides_load(comparison, &settings->sides, COMPARE_NEW, error);
	if (status == COMMAND_GOOD && settings->history.is_asked)
		status = compare_history_load(comparison, settings->history.path,
					      settings->last ? settings->last : LAST, error);
	return status == COMMAND_GOOD ? cmd_compare_judge(comparison, settings, error) : status;
}

/* Also shows which nodes and cases could not be compared, even if nothing could. */
static int compare_fleets(const struct settings *settings, const struct fleet *base,
			  const struct fleet *now, struct error *error)
{
	struct fleet_comparison comparison;
	const struct show show = {.settings = settings, .fleets = &comparison};
	struct error nothing = {0};
	int code = fleet_compare(&comparison, base, now, &nothing);
	bool is_shown = (!code || code == -ENODATA) &&
			!save_output(settings->output, write_show, &show, error);
	int status = COMMAND_GOOD;

	if (is_shown && code)
		status = COMMAND_INVALID;
	else if (!is_shown || (settings->is_failing && !fleet_comparison_has_passed(&comparison)))
		status = COMMAND_FAILED;
	if (code)
		error_set(error, code, "%s", nothing.text);
	fleet_comparison_finish(&comparison);
	return status;
}

/* Compares two inputs of one kind; results are handed over to the comparison. */
static int compare_inputs(struct comparison *comparison, const struct settings *settings,
			  struct inputs_file inputs[static COMPARE_SIDES], struct error *error)
{
	const char *const *files[] = {settings->sides.files[COMPARE_BASE],
				      settings->sides.files[COMPARE_NEW]};
	int status = COMMAND_GOOD;

	if (inputs[COMPARE_BASE].is_fleet != inputs[COMPARE_NEW].is_fleet) {
		error_set(error, -EINVAL,
			  "%s is a check of a fleet, but %s is a result; compare two of a kind",
			  inputs[COMPARE_BASE].is_fleet ? "BASE" : "NEW",
			  inputs[COMPARE_BASE].is_fleet ? "NEW" : "BASE");
		return COMMAND_INVALID;
	}
	if (inputs[COMPARE_BASE].is_fleet)
		return compare_fleets(settings, &inputs[COMPARE_BASE].fleet,
				      &inputs[COMPARE_NEW].fleet, error);
	for (enum compare_side side = 0; side < COMPARE_SIDES && status == COMMAND_GOOD; side++) {
		status = compare_sides_add(comparison, side, &inputs[side].result, *files[side],
					   error);
		inputs[side] = (struct inputs_file){0};
	}
	return status == COMMAND_GOOD ? cmd_compare_judge(comparison, settings, error) : status;
}

/* Two files, which may be checks of fleets. */
static int compare_two(struct comparison *comparison, const struct settings *settings,
		       struct error *error)
{
	struct inputs_file inputs[COMPARE_SIDES] = {0};
	int status = COMMAND_GOOD;

	for (enum compare_side side = 0; side < COMPARE_SIDES && status == COMMAND_GOOD; side++)
		if (inputs_load_file(&inputs[side], settings->sides.files[side][0], error))
			status = COMMAND_FAILED;
	if (status == COMMAND_GOOD)
		status = compare_inputs(comparison, settings, inputs, error);
	for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
		inputs_finish_file(&inputs[side]);
	return status;
}

static int compare(const struct settings *settings, struct error *error)
{
	struct comparison comparison = {.is_forced = settings->is_forced,
					.with_cpu = settings->with_cpu};
	const size_t *count = settings->sides.count;
	int status;

	if (count[COMPARE_BASE] == 1 && count[COMPARE_NEW] == 1)
		status = compare_two(&comparison, settings, error);
	else
		status = compare_results(&comparison, settings, error);
	if (error->code == -EXDEV)
		error_append(error, "use --force to compare them anyway");
	compare_close(&comparison);
	return status;
}

/* With --history, all operands are NEW. */
static int take_new(struct settings *settings, struct error *error)
{
	struct compare_sides *sides = &settings->sides;

	if (settings->is_new && sides->count[COMPARE_BASE])
		return error_set(error, -EINVAL,
				 "--history replaces the baseline files: drop those before --new");
	for (size_t i = 0; i < sides->count[COMPARE_BASE]; i++)
		sides->files[COMPARE_NEW][sides->count[COMPARE_NEW]++] =
			sides->files[COMPARE_BASE][i];
	sides->count[COMPARE_BASE] = 0;
	return inputs_require(sides->count[COMPARE_NEW], "NEW", error);
}

/* Without --new, two operands are BASE and NEW. */
static int take_sides(struct settings *settings, struct error *error)
{
	size_t *n_files = settings->sides.count;

	if (settings->history.is_asked)
		return take_new(settings, error);
	if (settings->last)
		return error_set(error, -EINVAL, "--last needs --history");
	if (!settings->is_new && n_files[COMPARE_BASE] == 2) {
		settings->sides.files[COMPARE_NEW][0] = settings->sides.files[COMPARE_BASE][1];
		n_files[COMPARE_BASE] = n_files[COMPARE_NEW] = 1;
	}
	if (inputs_require(n_files[COMPARE_BASE], "BASE", error))
		return error->code;
	if (!settings->is_new && n_files[COMPARE_BASE] > 2)
		return error_set(error, -EINVAL,
				 "%zu files are given: put --new before the first file of NEW",
				 n_files[COMPARE_BASE]);
	return inputs_require(n_files[COMPARE_NEW], "NEW", error);
}

static int parse(struct settings *settings, int argc, char *argv[], struct error *error)
{
	int code = option_parse(&options, argc, argv, settings, error);

	if (!code)
		code = take_sides(settings, error);
	for (enum compare_side side = 0; side < COMPARE_SIDES && !code; side++)
		code = inputs_spare(settings->sides.files[side], settings->sides.count[side],
				    "--output", settings->output, error);
	if (!code && settings->unit && settings->format && !settings->format->has_unit)
		code = error_set(
			error, -EINVAL,
			"--units does not apply to --format %s, which uses bytes per second",
			settings->format->value.name);
	return code;
}

static int cmd_compare_run(int argc, char *argv[], const char **operands, struct error *error)
{
	struct settings settings = {.sides = {.files = {operands, operands + argc}}};
	int code = parse(&settings, argc, argv, error);

	return code ? command_parsed(code) : compare(&settings, error);
}

// clang-format off
const struct command command_compare = {
	.name = "compare",
	.group = COMMAND_COMPARE,
	.summary = "compare results: better, worse, same or unclear",
	.about = "Compares the figures of all cases that two results, or two groups of results, have in "
		 "common. The file - is standard input.",
	.examples = {
		{"verbmark compare monday.json friday.json --fail",
		 "exit with status 1 if a figure is not the same or better"},
		{"verbmark compare a1.json a2.json --new b1.json b2.json",
		 "compare two runs with two other runs"},
	},
	.options = &options,
	.run = cmd_compare_run,
};
// clang-format on
