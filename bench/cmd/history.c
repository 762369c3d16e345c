/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cli/inputs.h"
#include "bench/cli/value.h"
#include "bench/cmd/command.h"
#include "bench/cmd/history_add.h"
#include "bench/cmd/history_dir.h"
#include "reports/history/json.h"
#include "reports/history/page.h"
#include "reports/history/sentences.h"
#include "reports/history/table.h"
#include "reports/io/save.h"
#include "reports/stats/change_points_options.h"

#define VERBS "add, list, show, check, rebuild"

/* Of runs: what terminals show, how new a step is to be told by check, what a page draws. */
#define LAST      20
#define LAST_PAGE 50

struct settings;

struct verb {
	const char *name;
	const char *const *options; /* besides --dir */
	const char *operand;        /* what its words are; NULL: it takes none */
	int (*run)(const struct settings *settings, struct error *error);
};

/* What a history is shown as: 0, or why it could not be. */
struct format {
	const char *name;
	int (*show)(FILE *out, const struct history_view *view);
	size_t last;
};

struct settings {
	const struct verb *verb;
	const char *folder;
	const char *version;
	const char *commit;
	const struct format *format; /* NULL: the first one */
	const char *output;          /* NULL: standard output */
	const char *last;            /* NULL: the usual one */
	size_t n_last;
	bool is_worse;
	struct change_points_rule rule;
	const char **words;
	size_t n_words;
	unsigned int seen; /* rows of options */
};

static const char *parse_format(const char *text, void *field);

static const struct option_row rows[] = {
	{"dir",          0,   "FOLDER", option_text,                   offsetof(struct settings, folder),
	 "the history (~/.local/share/verbmark/history; $XDG_DATA_HOME)"										   },
	{"version",      0,   "TEXT",   option_text,                   offsetof(struct settings, version),
	 "of add: the version of what was measured (of verbmark)"											  },
	{"commit",       0,   "TEXT",   option_text,                   offsetof(struct settings, commit),
	 "of add: its commit (of verbmark)"														},
	{"format",       0,   "NAME",   parse_format,                  offsetof(struct settings, format),
	 "of show: table, html (a page, for paper too), csv, json (table)"										 },
	{"output",       'o', "FILE",   option_text,                   offsetof(struct settings, output),
	 "of show: write it there"															 },
	{"last",         0,   "N",      option_text,                   offsetof(struct settings, last),
	 "the newest N runs, 0 for all; of check: in which a step is told"										 },
	{"worse",        0,   NULL,     option_flag,                   offsetof(struct settings, is_worse),
	 "of check: tell steps for the worse only"													 },
	{"window",       0,   "N",      change_points_parse_window,    offsetof(struct settings, rule.window),
	 "of show and check: runs that are looked at together (50)"											},
	{"significance", 0,   "P",      change_points_parse_level,     offsetof(struct settings, rule.level),
	 "of show and check: a step has a smaller p (0.001)"											       },
	{"magnitude",    0,   "PART",   change_points_parse_magnitude,
	 offsetof(struct settings,							       rule.magnitude), "of show and check: and is so large (3%)"},
};

static int cmd_history_add(const struct settings *settings, struct error *error);
static int list(const struct settings *settings, struct error *error);
static int show(const struct settings *settings, struct error *error);
static int check(const struct settings *settings, struct error *error);
static int rebuild(const struct settings *settings, struct error *error);

static const struct verb verbs[] = {
	{"add",     (const char *const[]){"version", "commit", NULL},                         "FILE", cmd_history_add},
	{"list",    (const char *const[]){"last", NULL},                                      NULL,   list           },
	{"show",
	 (const char *const[]){"format", "output", "last", "window", "significance", "magnitude",
			       NULL},
	 "CASE",										      show           },
	{"check",
	 (const char *const[]){"last", "worse", "window", "significance", "magnitude", NULL}, NULL,
	 check												       },
	{"rebuild", (const char *const[]){NULL},                                              NULL,   rebuild        },
};

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < ARRAY_LENGTH(verbs); i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

/* The first word says what is to be done; the others are what it is done with. */
static const char *add_word(const char *text, void *target)
{
	struct settings *settings = target;

	if (settings->verb) {
		settings->words[settings->n_words++] = text;
		return settings->verb->operand ? NULL : "is one word too many";
	}
	settings->verb = find_verb(text);
	return settings->verb ? NULL : "is none of " VERBS;
}

/* It is known only at the end which options go with the verb. */
static const char *parse_row(const struct option_row *row, const char *text, void *target)
{
	struct settings *settings = target;

	settings->seen |= 1U << (row - rows);
	return row->parse(text, (char *)target + row->offset);
}

static const struct option_table options = {
	.rows = rows,
	.count = ARRAY_LENGTH(rows),
	.parse = parse_row,
	.operand = "add FILE... | list | show [CASE...] | check | rebuild",
	.add_operand = add_word,
};

static int show_table(FILE *out, const struct history_view *view)
{
	history_table_show(out, view);
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

static const struct format formats[] = {
	{"table", show_table,   LAST     },
	{"html",  history_page, LAST_PAGE},
	{"csv",   show_csv,     0        },
	{"json",  show_json,    0        },
};

static const char *parse_format(const char *text, void *field)
{
	return INPUTS_CHOOSE(formats, text, field);
}

static void say(void *owner, const char *text)
{
	fprintf(stderr, "verbmark: %s\n", text);
}

static struct history history_of(const struct settings *settings)
{
	return (struct history){
		.folder = settings->folder, .version = VERBMARK_VERSION, .say = say};
}

static struct history_view view_of(const struct settings *settings)
{
	return (struct history_view){
		.choice = {.recent = LAST, .rule = &settings->rule}
        };
}

static int cmd_history_add(const struct settings *settings, struct error *error)
{
	const struct history_add what = {
		.files = settings->words,
		.n_files = settings->n_words,
		.version = settings->version,
		.commit = settings->commit,
	};
	struct history history = history_of(settings);

	return history_add(&history, &what, error);
}

static int list(const struct settings *settings, struct error *error)
{
	struct history history = history_of(settings);
	struct history_view view = view_of(settings);
	int code = history_do(&history, HISTORY_READ, history_view_fill, &view, error);

	if (!code)
		history_table_list(stdout, &view, settings->last ? settings->n_last : LAST);
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
	int code;

	errno = 0;
	code = showing->format->show(out, showing->view);
	return code ? code : save_finish(out);
}

static int print(const struct settings *settings, const struct showing *showing,
		 struct error *error)
{
	int code;

	if (settings->output)
		return save_path(settings->output, write_show, showing, error);
	/* What standard output does not take is told at the end of all commands. */
	code = write_show(stdout, showing);
	return code == -ENOMEM ? error_set_errno(error, code, "the history cannot be shown") : 0;
}

static int show(const struct settings *settings, struct error *error)
{
	const struct format *format = settings->format ? settings->format : &formats[0];
	struct history history = history_of(settings);
	struct history_view view = view_of(settings);
	const struct showing showing = {format, &view};
	int code;

	view.choice.cases = settings->words;
	view.choice.n_cases = settings->n_words;
	view.choice.with_points = true;
	view.choice.newest = settings->last ? settings->n_last : format->last;
	code = history_do(&history, HISTORY_READ, history_view_fill, &view, error);
	if (!code && settings->n_words && !view.n_series)
		code = error_set(error, -ENOENT, "no run has a complete case like %s",
				 settings->words[0]);
	if (!code)
		code = print(settings, &showing, error);
	history_view_finish(&view);
	return code ? COMMAND_FAILED : COMMAND_GOOD;
}

static int check(const struct settings *settings, struct error *error)
{
	struct history history = history_of(settings);
	struct history_view view = view_of(settings);
	size_t count = 0;
	int code;

	if (settings->last)
		view.choice.recent = settings->n_last ? settings->n_last : SIZE_MAX;
	code = history_do(&history, HISTORY_READ, history_view_fill, &view, error);
	if (!code) {
		count = history_recent(&view, !settings->is_worse);
		history_table_check(stdout, &view, !settings->is_worse);
	}
	history_view_finish(&view);
	return code || count ? COMMAND_FAILED : COMMAND_GOOD;
}

static int rebuild(const struct settings *settings, struct error *error)
{
	struct history history = history_of(settings);
	struct history_view view = view_of(settings);
	int code = history_do(&history, HISTORY_REBUILD, history_view_fill, &view, error);

	if (!code)
		printf("%zu runs, %zu series, %zu skipped\n", view.n_runs, view.n_series,
		       view.n_skipped);
	history_view_finish(&view);
	return code || history.n_skipped ? COMMAND_FAILED : COMMAND_GOOD;
}

static bool has_option(const struct verb *verb, const char *name)
{
	for (const char *const *option = verb->options; *option; option++)
		if (!strcmp(*option, name))
			return true;
	return !strcmp(name, "dir");
}

static int check_options(const struct settings *settings, struct error *error)
{
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		if (settings->seen & 1U << i && !has_option(settings->verb, rows[i].name))
			return error_set(error, -EINVAL, "--%s is not for %s; see --help",
					 rows[i].name, settings->verb->name);
	return 0;
}

static int take_last(struct settings *settings, struct error *error)
{
	uint64_t count = 0;

	if (settings->last && !value_count(settings->last, 0, UINT32_MAX, &count))
		return error_set(error, -EINVAL, "--last: '%s' is not a number of runs",
				 settings->last);
	settings->n_last = (size_t)count;
	return 0;
}

/* folder: what the environment says, which the caller frees. */
static int take_folder(struct settings *settings, char **folder, struct error *error)
{
	if (settings->folder)
		return 0;
	if (history_dir(folder, error))
		return error->code;
	settings->folder = *folder;
	return 0;
}

static int parse(struct settings *settings, int argc, char *argv[], char **folder,
		 struct error *error)
{
	struct history_add label;
	int code = option_parse(&options, argc, argv, settings, error);

	if (code)
		return code;
	label = (struct history_add){.version = settings->version, .commit = settings->commit};
	if (!settings->verb)
		return error_set(error, -EINVAL, "what to do is missing: " VERBS);
	code = check_options(settings, error);
	if (!code && settings->verb->run == cmd_history_add && !settings->n_words)
		code = error_set(error, -EINVAL, "FILE is missing: a result that run has left");
	if (!code)
		code = take_last(settings, error);
	if (!code)
		code = history_add_check(&label, error);
	return code ? code : take_folder(settings, folder, error);
}

static int run(int argc, char *argv[], struct error *error)
{
	struct settings settings = {.words = calloc((size_t)argc, sizeof(*settings.words)),
				    .rule = change_points_usual};
	char *folder = NULL;
	int status = COMMAND_USAGE;
	int code;

	if (!settings.words) {
		error_set_errno(error, -ENOMEM, "cannot keep the names");
		return COMMAND_FAILED;
	}
	code = parse(&settings, argc, argv, &folder, error);
	if (code > 0) {
		command_help(&command_history);
		status = COMMAND_GOOD;
	} else if (!code) {
		status = settings.verb->run(&settings, error);
	}
	free(folder);
	free(settings.words);
	return status;
}

const struct command command_history = {
	.name = "history",
	.summary = "results over time: keeps them, and finds at which run a step came",
	.options = &options,
	.run = run,
};
