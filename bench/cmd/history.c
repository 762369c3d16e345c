/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "bench/cli/inputs.h"
#include "bench/cli/tty.h"
#include "bench/cli/value.h"
#include "bench/cmd/command.h"
#include "bench/cmd/history_add.h"
#include "bench/cmd/history_db.h"
#include "reports/history/json.h"
#include "reports/history/page.h"
#include "reports/history/sentences.h"
#include "reports/history/table.h"
#include "reports/io/save.h"
#include "reports/stats/change_points_options.h"

#define VERBS "add, import, list, show or check"

/* Number of newest runs in tables and in check, and in a page. */
#define LAST      20
#define LAST_PAGE 50

struct settings;

struct verb {
	struct option_value value;
	const char *const *options; /* besides --db */
	const char *operand;        /* NULL: it takes no words */
	const char *missing;        /* the error without words; NULL: they are optional */
	enum history_use use;
	enum command_status (*run)(const struct settings *settings, struct history *history,
				   struct error *error);
};

/* A format of show. Its function returns 0 or a negative errno. */
struct format {
	struct option_value value;
	int (*show)(FILE *out, const struct history_view *view);
	size_t last;
};

struct settings {
	const struct verb *verb;
	const char *db; /* NULL: the user's history */
	struct history_label label;
	const char *version;
	const char *commit;
	const struct format *format; /* NULL: the first one */
	const char *output;          /* NULL: standard output */
	const char *last;            /* NULL: the default */
	size_t n_last;
	bool is_worse;
	struct change_points_rule rule;
	const char **words;
	size_t n_words;
	unsigned int seen; /* bit mask of the options that were given */
};

static int show_table(FILE *out, const struct history_view *view)
{
	struct terminal terminal = tty_find(out, NULL);

	history_table_show(&terminal, view);
	return 0;
}

static int show_csv(FILE *out, const struct history_view *view)
{
	history_csv(out, view);
	return 0;
}

static int show_json(FILE *out, const struct history_view *view)
{
	return save_json(out, history_make(view, VERBMARK_VERSION), JSON_INDENT(1));
}

// clang-format off
static const struct format formats[] = {
	{{"table", "aligned text, for a terminal"},  show_table,   LAST     },
	{{"html", "a self-contained page"},          history_page, LAST_PAGE},
	{{"csv", "one line per figure of each run"}, show_csv,     0        },
	{{"json", "all figures and change points"},  show_json,    0        },
};

#define FIELD(member) offsetof(struct settings, member)

static const struct option_row rows[] = {
	{"db", 0, "FILE", option_text, FIELD(db),
	 "the database (~/.local/share/verbmark/history.sqlite)",
	 .group = OPTION_GENERAL},
	{"version", 0, "TEXT", option_text, FIELD(version),
	 "add: version of the measured software (verbmark's own)",
	 .group = OPTION_INPUT},
	{"commit", 0, "TEXT", option_text, FIELD(commit),
	 "add: commit of the measured software (verbmark's own)",
	 .group = OPTION_INPUT},
	{"format", 0, "NAME", NULL, FIELD(format),
	 "show: table, html, csv or json (table)",
	 .group = OPTION_OUTPUT, .values = OPTION_VALUES(formats)},
	{"output", 'o', "FILE", option_text, FIELD(output),
	 "show: write to FILE (standard output)",
	 .group = OPTION_OUTPUT},
	{"last", 0, "N", option_text, FIELD(last),
	 "list, show: the newest N runs; check: change points in the newest N runs; 0 for all (20)",
	 .group = OPTION_GENERAL},
	{"worse", 0, NULL, option_flag, FIELD(is_worse),
	 "check: report only change points for the worse",
	 .group = OPTION_GENERAL},
	{"window", 0, "N", change_points_parse_window, FIELD(rule.window),
	 "show, check: search for change points in windows of N runs (50)",
	 .group = OPTION_GENERAL},
	{"significance", 0, "P", change_points_parse_level, FIELD(rule.level),
	 "show, check: maximum p-value of a change point (0.001)",
	 .group = OPTION_GENERAL},
	{"magnitude", 0, "PART", change_points_parse_magnitude, FIELD(rule.magnitude),
	 "show, check: minimum size of a change (3%)",
	 .group = OPTION_GENERAL},
};
// clang-format on

static struct history_view view_of(const struct settings *settings)
{
	return (struct history_view){
		.choice = {.recent = LAST, .rule = &settings->rule}
        };
}

static enum command_status history_run_add(const struct settings *settings, struct history *history,
					   struct error *error)
{
	return history_add_files(history, settings->words, settings->n_words, &settings->label,
				 error);
}

static enum command_status history_run_import(const struct settings *settings,
					      struct history *history, struct error *error)
{
	enum command_status status = COMMAND_GOOD;

	for (size_t i = 0; i < settings->n_words && !error->code; i++)
		if (history_add_folder(history, settings->words[i], error) != COMMAND_GOOD)
			status = COMMAND_FAILED;
	return status;
}

static enum command_status history_run_list(const struct settings *settings,
					    struct history *history, struct error *error)
{
	struct history_view view = {.choice = {.recent = LAST}};
	struct terminal terminal = tty_find(stdout, NULL);
	int code = history_view_fill(&view, history, error);

	if (!code)
		history_table_list(&terminal, &view, settings->last ? settings->n_last : LAST);
	history_view_finish(&view);
	return code ? COMMAND_FAILED : COMMAND_GOOD;
}

struct showing {
	const struct format *format;
	const struct history_view *view;
};

static int write_show(FILE *out, const void *what)
{
	const struct showing *showing = what;

	return showing->format->show(out, showing->view);
}

static enum command_status history_run_show(const struct settings *settings,
					    struct history *history, struct error *error)
{
	const struct format *format = settings->format ? settings->format : &formats[0];
	struct history_view view = view_of(settings);
	const struct showing showing = {format, &view};
	int code;

	view.choice.cases = settings->words;
	view.choice.n_cases = settings->n_words;
	view.choice.newest = settings->last ? settings->n_last : format->last;
	code = history_view_fill(&view, history, error);
	if (!code && settings->n_words && !view.n_series)
		code = error_set(error, -ENOENT, "no complete case in the history matches '%s'",
				 settings->words[0]);
	if (!code)
		code = save_output(settings->output, write_show, &showing, error);
	history_view_finish(&view);
	return code ? COMMAND_FAILED : COMMAND_GOOD;
}

static enum command_status history_run_check(const struct settings *settings,
					     struct history *history, struct error *error)
{
	struct history_view view = view_of(settings);
	struct terminal terminal = tty_find(stdout, NULL);
	size_t count = 0;
	int code;

	if (settings->last)
		view.choice.recent = settings->n_last ? settings->n_last : SIZE_MAX;
	code = history_view_fill(&view, history, error);
	if (!code) {
		count = history_recent(&view, !settings->is_worse);
		history_table_check(&terminal, &view, !settings->is_worse);
	}
	history_view_finish(&view);
	return code || count ? COMMAND_FAILED : COMMAND_GOOD;
}

// clang-format off
static const struct verb verbs[] = {
	{{"add", "add results to the history"},
	 (const char *const[]){"version", "commit", NULL},
	 "FILE", "FILE is missing: give a result of 'verbmark run'", HISTORY_WRITE, history_run_add},
	{{"import", "add the results of a folder, FOLDER/runs/*.json"},
	 (const char *const[]){NULL},
	 "FOLDER", "FOLDER is missing: give a folder that contains runs/*.json", HISTORY_WRITE,
	 history_run_import},
	{{"list", "list the runs in the history"},
	 (const char *const[]){"last", NULL}, NULL, NULL, HISTORY_READ, history_run_list},
	{{"show", "show figures over time, with change points"},
	 (const char *const[]){"format", "output", "last", "window", "significance", "magnitude",
			       NULL},
	 "CASE", NULL, HISTORY_READ, history_run_show},
	{{"check", "exit with status 1 if the newest runs contain a change point"},
	 (const char *const[]){"last", "worse", "window", "significance", "magnitude", NULL},
	 NULL, NULL, HISTORY_READ, history_run_check},
};
// clang-format on

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < ARRAY_LENGTH(verbs); i++)
		if (!strcmp(verbs[i].value.name, name))
			return &verbs[i];
	return NULL;
}

/* The first word is the verb, the others are its operands. */
static const char *add_word(const char *text, void *target)
{
	struct settings *settings = target;

	if (settings->verb) {
		settings->words[settings->n_words++] = text;
		return settings->verb->operand ? NULL : "is one argument too many";
	}
	settings->verb = find_verb(text);
	return settings->verb ? NULL : "is not one of " VERBS;
}

/* The verb may follow its options: check_options looks at them at the end. */
static const char *parse_row(const struct option_row *row, const char *text, void *target)
{
	struct settings *settings = target;

	settings->seen |= 1U << (row - rows);
	return option_store(row, text, target);
}

static const struct option_table options = {
	.rows = rows,
	.count = ARRAY_LENGTH(rows),
	.parse = parse_row,
	.operand = "add FILE... | import FOLDER... | list | show [CASE...] | check",
	.add_operand = add_word,
	.operand_name = "action",
	.operand_values = OPTION_VALUES(verbs),
};

static bool has_option(const struct verb *verb, const char *name)
{
	for (const char *const *option = verb->options; *option; option++)
		if (!strcmp(*option, name))
			return true;
	return !strcmp(name, "db");
}

static int check_options(const struct settings *settings, struct error *error)
{
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		if (settings->seen & 1U << i && !has_option(settings->verb, rows[i].name))
			return error_set(error, -EINVAL, "--%s does not apply to 'history %s'",
					 rows[i].name, settings->verb->value.name);
	return 0;
}

static int read_last(struct settings *settings, struct error *error)
{
	uint64_t count = 0;

	if (settings->last && !value_count(settings->last, 0, UINT32_MAX, &count))
		return error_set(error, -EINVAL, "--last: '%s' is not a number of runs",
				 settings->last);
	settings->n_last = (size_t)count;
	return 0;
}

static int parse_settings(struct settings *settings, int argc, char *argv[], struct error *error)
{
	int code = option_parse(&options, argc, argv, settings, error);

	if (code)
		return code;
	if (!settings->verb)
		return error_set(error, -EINVAL, "the action is missing: use " VERBS);
	code = check_options(settings, error);
	if (!code && settings->verb->missing && !settings->n_words)
		code = error_set(error, -EINVAL, "%s", settings->verb->missing);
	if (!code)
		code = read_last(settings, error);
	if (!code)
		code = history_label_set(settings->label.version, settings->version, "--version",
					 error);
	return code ? code
		    : history_label_set(settings->label.commit, settings->commit, "--commit",
					error);
}

static enum command_status run_verb(const struct settings *settings, struct error *error)
{
	enum command_status status = COMMAND_FAILED;
	struct history history;

	if (!history_db_open(&history, settings->db, settings->verb->use, error))
		status = settings->verb->run(settings, &history, error);
	history_close(&history);
	return status;
}

static int cmd_history_run(int argc, char *argv[], const char **operands, struct error *error)
{
	struct settings settings = {.words = operands, .rule = change_points_usual};
	int code = parse_settings(&settings, argc, argv, error);

	if (code)
		return command_parsed(code);
	return run_verb(&settings, error);
}

// clang-format off
const struct command command_history = {
	.name = "history",
	.group = COMMAND_COMPARE,
	.summary = "keep results over time and find change points",
	.about = "Keeps results in a database, and finds the runs at which a figure changed. CASE is a case id "
		 "or a quoted shell pattern, for example 'send/lat/*'.",
	.examples = {
		{"verbmark history add nightly.json --version 2.1",
		 "add a result of version 2.1"},
		{"verbmark history show 'send/lat/*' --format html -o history.html",
		 "draw all latencies of send"},
	},
	.options = &options,
	.run = cmd_history_run,
};
// clang-format on
