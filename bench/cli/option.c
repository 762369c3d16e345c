/* SPDX-License-Identifier: MIT */
#include "bench/cli/option.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "bench/cli/perftest_options.h"
#include "bench/cli/spelling.h"
#include "bench/cli/value.h"
#include "core/base/compiler.h"

#define ROWS_MOST 128 /* of a table and the next ones */
#define COLUMNS   80
#define HELP_AT   30 /* column of help texts */
#define VALUE_AT  18 /* column of what values mean */
/* Errors list at most this many values; beyond that, they say how to list them. */
#define NAMED_MOST 8

static const char *const headings[OPTION_GROUPS] = {
	[OPTION_GENERAL] = "Options",
	[OPTION_WHAT] = "What to measure",
	[OPTION_HOW] = "How to measure",
	[OPTION_QUEUES] = "Queue pairs and threads",
	[OPTION_MEMORY] = "Memory",
	[OPTION_NETWORK] = "Network",
	[OPTION_WHERE] = "Where to measure",
	[OPTION_LISTEN] = "Device and address",
	[OPTION_ACCESS] = "Access",
	[OPTION_LIMITS] = "Limits",
	[OPTION_POOL] = "Memory pool",
	[OPTION_INPUT] = "Input",
	[OPTION_OUTPUT] = "Output",
	[OPTION_COMPAT] = "Compatibility with perftest",
	[OPTION_ABOUT] = "Help",
};

/* Options of every command. */
static const struct option_row help_rows[] = {
	{.name = "help", .letter = 'h', .help = "show this help",       .group = OPTION_ABOUT},
	{.name = "help-all",              .help = "show all options",          .group = OPTION_ABOUT},
};
static const struct option_table help_table = {.rows = help_rows, .count = ARRAY_LENGTH(help_rows)};

/* State of parsing. Without a target, no value is stored: only requests are looked for. */
struct cursor {
	const struct option_table *table;
	int argc;
	char **argv;
	int next;
	void *target;
	size_t n_operands;
	bool is_given[ROWS_MOST];
	const struct option_values *requested; /* the values to list */
};

/* A row, its table, and its number among the rows of all tables. */
struct found {
	const struct option_table *table;
	const struct option_row *row;
	size_t number;
};

static const struct option_row *row_at(const struct option_table *table, size_t i)
{
	size_t stride = table->stride ? table->stride : sizeof(*table->rows);

	return (const struct option_row *)(const void *)((const char *)table->rows + i * stride);
}

/* Returns the row of that number in all tables and help_table; its row is NULL at the end. */
static struct found find_number(const struct option_table *first, size_t number)
{
	size_t i = number;

	for (const struct option_table *table = first; table; table = table->next) {
		if (i < table->count)
			return (struct found){table, row_at(table, i), number};
		i -= table->count;
	}
	if (i < help_table.count)
		return (struct found){&help_table, row_at(&help_table, i), number};
	return (struct found){0};
}

static bool is_hidden(const struct option_table *table, const struct option_row *row)
{
	bool is_help = row == &help_rows[0] || row == &help_rows[1];

	return !is_help && table->hides && table->hides(row);
}

static struct found find_name(const struct option_table *table, const char *name, size_t length)
{
	struct found found;

	for (size_t i = 0; (found = find_number(table, i)).row; i++)
		if (strlen(found.row->name) == length && !strncmp(found.row->name, name, length))
			break;
	return found;
}

static struct found find_letter(const struct option_table *table, char letter)
{
	struct found found;

	for (size_t i = 0; (found = find_number(table, i)).row; i++)
		if (found.row->letter == letter)
			break;
	return found;
}

/* Finds the only visible option that begins with name; sets a NULL row if no option does. */
static int find_abbreviated(const struct option_table *table, const char *name, size_t length,
			    struct found *only, struct error *error)
{
	char names[160] = "";
	size_t used = 0;
	size_t count = 0;
	struct found found;

	*only = (struct found){0};
	for (size_t i = 0; length && (found = find_number(table, i)).row; i++) {
		if (strncmp(found.row->name, name, length) != 0 || is_hidden(table, found.row))
			continue;
		*only = found;
		if (used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s--%s",
						 count ? ", " : "", found.row->name);
		count++;
	}
	if (count < 2)
		return 0;
	return error_set(error, -EINVAL, "option '--%.*s' is ambiguous: %s%s", (int)length, name,
			 names, used < sizeof(names) ? "" : "...");
}

const struct option_value *option_value_at(const struct option_values *values, size_t i)
{
	return (const struct option_value *)(const void *)((const char *)values->rows +
							   i * values->stride);
}

const char *option_nearest(const struct option_values *values, const char *word)
{
	struct spelling search;

	spelling_begin(&search, word);
	for (size_t i = 0; i < values->count; i++)
		spelling_try(&search, option_value_at(values, i)->name);
	return search.nearest;
}

/* Lists the names as a sentence does: "a, b or c". */
static void print_names(const struct option_values *values, char *text, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < values->count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s",
					 !i                      ? ""
					 : i + 1 < values->count ? ", "
								 : " or ",
					 option_value_at(values, i)->name);
}

/* what: "--op: unknown value", for example. example: how to list the values. */
static int refuse_name(const struct option_values *values, const char *what, const char *name,
		       const char *example, struct error *error)
{
	const char *nearest = option_nearest(values, name);
	char names[256] = "";

	if (nearest)
		return error_set(error, -EINVAL, "%s '%s'; did you mean '%s'?", what, name,
				 nearest);
	if (values->count > NAMED_MOST)
		return error_set(error, -EINVAL, "%s '%s'; '%s help' lists the values", what, name,
				 example);
	print_names(values, names, sizeof(names));
	return error_set(error, -EINVAL, "%s '%s'; use %s", what, name, names);
}

static bool is_list(const struct option_row *row)
{
	return row->argument && !strcmp(row->argument, "LIST");
}

/* Parsers of lists ignore case; those of single values do not. */
static bool is_name(const struct option_row *row, const char *text)
{
	int (*compare)(const char *, const char *) = is_list(row) ? strcasecmp : strcmp;

	for (size_t i = 0; i < row->values.count; i++)
		if (!compare(option_value_at(&row->values, i)->name, text))
			return true;
	return row->values.has_all && !strcmp(text, "all");
}

/* Reports the first unknown name in a rejected value. Returns 0 if all names are known. */
static int find_misspelled(const struct option_row *row, const char *value, struct error *error)
{
	char what[64];
	char option[48];
	char member[64];
	size_t length = strlen(value);

	snprintf(option, sizeof(option), "--%s", row->name);
	snprintf(what, sizeof(what), "%s: unknown value", option);
	for (const char *at = value;; at += length + 1) {
		if (is_list(row))
			length = strcspn(at, ",");
		if (length >= sizeof(member))
			return 0;
		memcpy(member, at, length);
		member[length] = '\0';
		if (!is_name(row, member) &&
		    (!row->values.is_open || option_nearest(&row->values, member)))
			return refuse_name(&row->values, what, member, option, error);
		if (!at[length])
			return 0;
	}
}

static int apply(const struct found *found, const char *value, struct cursor *cursor,
		 struct error *error)
{
	const struct option_row *row = found->row;
	const char *wrong;

	if (found->table == &help_table)
		return row == &help_rows[0] ? OPTION_HELP : OPTION_HELP_ALL;
	if (row->values.count && value && !strcmp(value, "help")) {
		cursor->requested = &row->values;
		return OPTION_LIST;
	}
	if (!cursor->target)
		return 0;
	if (cursor->is_given[found->number] && row->argument && !row->may_repeat)
		return error_set(error, -EINVAL, "--%s is given twice", row->name);
	cursor->is_given[found->number] = true;
	wrong = (found->table->parse ? found->table->parse : option_store)(row, value,
									   cursor->target);
	if (wrong && value && row->values.count && find_misspelled(row, value, error))
		return error->code;
	if (wrong && value)
		return error_set(error, -EINVAL, "--%s: '%s' %s", row->name, value, wrong);
	return wrong ? error_set(error, -EINVAL, "--%s %s", row->name, wrong) : 0;
}

static bool may_be_alone(const struct option_row *row)
{
	return !row->argument || row->argument[0] == '[';
}

/* Takes the next word as an optional value if it may be one. */
static const char *take_optional(const struct option_row *row, struct cursor *cursor)
{
	if (!row->argument || strncmp(row->argument, "[ ", 2) != 0 ||
	    cursor->next >= cursor->argc || !isdigit((unsigned char)cursor->argv[cursor->next][0]))
		return NULL;
	return cursor->argv[cursor->next++];
}

static int need_value(const struct option_row *row, struct cursor *cursor, const char **value,
		      struct error *error)
{
	if (cursor->next >= cursor->argc)
		return error_set(error, -EINVAL, "--%s needs a value: %s", row->name,
				 row->argument);
	*value = cursor->argv[cursor->next++];
	return 0;
}

/* dashes: those in front of the name; one for letters. */
static int refuse_option(const struct option_table *table, const char *dashes, const char *name,
			 size_t length, struct error *error)
{
	const char *instead = perftest_option(name, length);
	char word[SPELLING_LONGEST + 1] = "";
	struct spelling search;
	struct found found;

	if (instead)
		return error_set(error, -EINVAL, "%s%.*s is a perftest option; %s", dashes,
				 (int)length, name, instead);
	if (dashes[1] && length < sizeof(word))
		memcpy(word, name, length);
	spelling_begin(&search, word);
	for (size_t i = 0; *word && (found = find_number(table, i)).row; i++)
		if (!is_hidden(table, found.row))
			spelling_try(&search, found.row->name);
	if (search.nearest)
		return error_set(error, -EINVAL, "unknown option '%s%.*s'; did you mean '--%s'?",
				 dashes, (int)length, name, search.nearest);
	return error_set(error, -EINVAL, "unknown option '%s%.*s'; see --help", dashes, (int)length,
			 name);
}

static int parse_long(const char *text, struct cursor *cursor, struct error *error)
{
	size_t length = strcspn(text, "=");
	struct found found = find_name(cursor->table, text, length);
	const char *value = text[length] ? text + length + 1 : NULL;

	if (!found.row && find_abbreviated(cursor->table, text, length, &found, error))
		return error->code;
	if (!found.row)
		return refuse_option(cursor->table, "--", text, length, error);
	if (!found.row->argument && value)
		return error_set(error, -EINVAL, "--%s takes no value", found.row->name);
	if (!may_be_alone(found.row) && !value && need_value(found.row, cursor, &value, error))
		return error->code;
	if (!value)
		value = take_optional(found.row, cursor);
	return apply(&found, value, cursor, error);
}

static int parse_letters(const char *letters, struct cursor *cursor, struct error *error)
{
	for (; *letters; letters++) {
		struct found found = find_letter(cursor->table, *letters);
		const char *value = NULL;
		int code;

		if (!found.row)
			return refuse_option(cursor->table, "-", letters, 1, error);
		if (!may_be_alone(found.row) && letters[1])
			value = letters + 1;
		else if (!may_be_alone(found.row) && need_value(found.row, cursor, &value, error))
			return error->code;
		code = apply(&found, value, cursor, error);
		if (code || value)
			return code;
	}
	return 0;
}

static int add_operand(const char *text, struct cursor *cursor, struct error *error)
{
	const struct option_table *table = cursor->table;
	const char *wrong = table->add_operand(text, cursor->target);
	char what[48];

	if (wrong && table->operand_values.count && cursor->n_operands == 1) {
		snprintf(what, sizeof(what), "unknown %s", table->operand_name);
		return refuse_name(&table->operand_values, what, text, cursor->argv[0], error);
	}
	return wrong ? error_set(error, -EINVAL, "'%s' %s", text, wrong) : 0;
}

static int take_operand(const char *text, struct cursor *cursor, struct error *error)
{
	const struct option_table *table = cursor->table;
	const char *name = table->operand;
	const char **field;

	if (table->operand_values.count && !cursor->n_operands++ && !strcmp(text, "help")) {
		cursor->requested = &table->operand_values;
		return OPTION_LIST;
	}
	if (!cursor->target)
		return 0;
	if (!name)
		return error_set(error, -EINVAL, "unexpected argument '%s'", text);
	if (table->add_operand)
		return add_operand(text, cursor, error);
	field = (const char **)(void *)((char *)cursor->target + table->operand_offset);
	if (!*field) {
		*field = text;
		return 0;
	}
	/* An optional operand is in brackets. */
	name += name[0] == '[';
	return error_set(error, -EINVAL, "unexpected argument '%s': %.*s is '%s'", text,
			 (int)strcspn(name, "]"), name, *field);
}

static int parse_words(struct cursor *cursor, struct error *error)
{
	bool only_operands = false;
	int code = 0;

	while (!code && cursor->next < cursor->argc) {
		const char *text = cursor->argv[cursor->next++];

		if (only_operands || text[0] != '-' || !text[1])
			code = take_operand(text, cursor, error);
		else if (!strcmp(text, "--"))
			only_operands = true;
		else if (text[1] == '-')
			code = parse_long(text + 2, cursor, error);
		else
			code = parse_letters(text + 1, cursor, error);
	}
	return code;
}

int option_parse(const struct option_table *table, int argc, char *argv[], void *target,
		 struct error *error)
{
	struct cursor cursor = {
		.table = table, .argc = argc, .argv = argv, .next = 1, .target = target};

	return parse_words(&cursor, error);
}

enum option_request option_find_request(const struct option_table *table, int argc, char *argv[],
					const struct option_values **values)
{
	struct cursor cursor = {.table = table, .argc = argc, .argv = argv, .next = 1};
	struct error ignored = {0};
	int code = parse_words(&cursor, &ignored);

	*values = cursor.requested;
	return code > 0 ? (enum option_request)code : OPTION_HELP;
}

void option_print_wrapped(FILE *out, const char *text, size_t column, size_t indent)
{
	while (*text) {
		size_t room = COLUMNS - column;
		size_t length = strlen(text);

		if (length > room) {
			for (length = room; length && text[length] != ' '; length--)
				;
			if (!length)
				length = strcspn(text, " ");
		}
		fprintf(out, "%.*s\n", (int)length, text);
		text += length;
		text += strspn(text, " ");
		if (*text)
			fprintf(out, "%*s", (int)indent, "");
		column = indent;
	}
}

/* Prints a row of two columns; the second begins on a line of its own if the first is too wide. */
static void print_pair(const char *left, const char *help, size_t help_at, FILE *out)
{
	size_t width = strlen(left);

	if (width + 2 > help_at) {
		fprintf(out, "%s\n", left);
		width = 0;
		left = "";
	}
	fprintf(out, "%s%*s", left, (int)(help_at - width), "");
	option_print_wrapped(out, help, help_at, help_at);
}

static void print_row(const struct option_row *row, const char *help, FILE *out)
{
	bool may_follow = row->argument && !strncmp(row->argument, "[ ", 2);
	const char *gap = !row->argument ? "" : may_follow ? " [" : may_be_alone(row) ? "[=" : " ";
	char letter[8] = "    ";
	char left[64];

	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c, ", row->letter);
	snprintf(left, sizeof(left), "  %s--%s%s%s", letter, row->name, gap,
		 !row->argument ? "" : row->argument + may_be_alone(row) + may_follow);
	print_pair(left, help, HELP_AT, out);
}

size_t option_count_rare(const struct option_table *table)
{
	struct found found;
	size_t count = 0;

	for (size_t i = 0; (found = find_number(table, i)).row; i++)
		count += found.row->is_rare && !is_hidden(table, found.row);
	return count;
}

static bool is_shown(const struct option_table *table, const struct found *found, bool with_all)
{
	if (is_hidden(table, found->row))
		return false;
	/* List --help-all only if it shows more options than --help. */
	if (found->row == &help_rows[1])
		return option_count_rare(table) > 0;
	return with_all || !found->row->is_rare;
}

void option_print(const struct option_table *table, bool with_all, FILE *out)
{
	bool is_first = true;

	for (enum option_group group = 0; group < OPTION_GROUPS; group++) {
		bool has_heading = false;
		struct found found;

		for (size_t i = 0; (found = find_number(table, i)).row; i++) {
			const char *said = table->says ? table->says(found.row) : NULL;

			if (found.row->group != group || !is_shown(table, &found, with_all))
				continue;
			if (!has_heading)
				fprintf(out, "%s%s:\n", is_first ? "" : "\n", headings[group]);
			has_heading = true;
			is_first = false;
			print_row(found.row, said ? said : found.row->help, out);
		}
	}
}

void option_print_values(const struct option_values *values, FILE *out)
{
	for (size_t i = 0; i < values->count; i++) {
		const struct option_value *value = option_value_at(values, i);

		print_pair(value->name, value->help, VALUE_AT, out);
	}
	if (values->has_all)
		print_pair("all", "all of these", VALUE_AT, out);
}

const char *option_said(const struct option_said *said, size_t count, const struct option_row *row)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(said[i].name, row->name))
			return said[i].help;
	return NULL;
}

static const char *choose(const struct option_values *values, const char *name, void *field)
{
	for (size_t i = 0; i < values->count; i++) {
		const void *row = option_value_at(values, i);

		if (strcmp(option_value_at(values, i)->name, name) != 0)
			continue;
		memcpy(field, &row, sizeof(row));
		return NULL;
	}
	return "is unknown";
}

const char *option_store(const struct option_row *row, const char *text, void *target)
{
	void *field = (char *)target + row->offset;

	return row->parse ? row->parse(text, field) : choose(&row->values, text, field);
}

const char *option_text(const char *text, void *field)
{
	*(const char **)field = text;
	return *text ? NULL : "is empty";
}

const char *option_flag(const char *text, void *field)
{
	*(bool *)field = true;
	return NULL;
}

const char *option_port(const char *text, void *field)
{
	uint64_t port;

	if (!value_count(text, 0, UINT16_MAX, &port))
		return "is not a port number (0 to 65535)";
	*(uint16_t *)field = (uint16_t)port;
	return NULL;
}

const char *option_device_port(const char *text, void *field)
{
	uint64_t port;

	if (!value_count(text, 1, UINT8_MAX, &port))
		return "is not a device port (1 to 255)";
	*(uint8_t *)field = (uint8_t)port;
	return NULL;
}

const char *option_duration(const char *text, void *field)
{
	return value_duration(text, field) ? NULL : "is not a time (e.g. 10s or 500ms)";
}
