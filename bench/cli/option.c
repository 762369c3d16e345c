/* SPDX-License-Identifier: MIT */
#include "bench/cli/option.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "bench/cli/perftest_options.h"
#include "bench/cli/value.h"

/* Where parsing stands. */
struct cursor {
	int argc;
	char **argv;
	int next;
};

/* A row and the table that it is from. */
struct found {
	const struct option_table *table;
	const struct option_row *row;
};

static const struct option_row *row_at(const struct option_table *table, size_t i)
{
	size_t stride = table->stride ? table->stride : sizeof(*table->rows);

	return (const struct option_row *)(const void *)((const char *)table->rows + i * stride);
}

static struct found find_name(const struct option_table *table, const char *name, size_t length)
{
	for (; table; table = table->next) {
		for (size_t i = 0; i < table->count; i++) {
			const struct option_row *row = row_at(table, i);

			if (strlen(row->name) == length && !strncmp(row->name, name, length))
				return (struct found){table, row};
		}
	}
	return (struct found){0};
}

static struct found find_letter(const struct option_table *table, char letter)
{
	for (; table; table = table->next)
		for (size_t i = 0; i < table->count; i++)
			if (row_at(table, i)->letter == letter)
				return (struct found){table, row_at(table, i)};
	return (struct found){0};
}

static int apply(const struct found *found, const char *value, void *target, struct error *error)
{
	const struct option_row *row = found->row;
	const char *wrong = found->table->parse ? found->table->parse(row, value, target)
						: row->parse(value, (char *)target + row->offset);

	if (wrong && value)
		return error_set(error, -EINVAL, "--%s: '%s' %s", row->name, value, wrong);
	return wrong ? error_set(error, -EINVAL, "--%s %s", row->name, wrong) : 0;
}

static bool may_be_alone(const struct option_row *row)
{
	return !row->argument || row->argument[0] == '[';
}

/* The next word where it may be one. */
static const char *find_value(const struct option_row *row, struct cursor *cursor)
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
		return error_set(error, -EINVAL, "--%s needs %s", row->name, row->argument);
	*value = cursor->argv[cursor->next++];
	return 0;
}

/* dashes: as many as it was written with, one in front of letters. */
static int unknown(const char *dashes, const char *name, size_t length, struct error *error)
{
	const char *instead = perftest_option(name, length);

	if (instead)
		return error_set(error, -EINVAL, "%s%.*s is perftest's%s %s", dashes, (int)length,
				 name, *instead == '-' ? "; here it is" : ":", instead);
	return error_set(error, -EINVAL, "there is no option %s%.*s; see --help", dashes,
			 (int)length, name);
}

static int parse_long(const struct option_table *table, const char *text, struct cursor *cursor,
		      void *target, struct error *error)
{
	size_t length = strcspn(text, "=");
	struct found found = find_name(table, text, length);
	const char *value = text[length] ? text + length + 1 : NULL;

	if (!found.row)
		return unknown("--", text, length, error);
	if (!found.row->argument && value)
		return error_set(error, -EINVAL, "--%s takes no value", found.row->name);
	if (!may_be_alone(found.row) && !value && need_value(found.row, cursor, &value, error))
		return error->code;
	if (!value)
		value = find_value(found.row, cursor);
	return apply(&found, value, target, error);
}

static int parse_letters(const struct option_table *table, const char *letters,
			 struct cursor *cursor, void *target, struct error *error)
{
	for (; *letters; letters++) {
		struct found found = find_letter(table, *letters);
		const char *value = NULL;
		int code;

		if (!found.row)
			return unknown("-", letters, 1, error);
		if (!may_be_alone(found.row) && letters[1])
			value = letters + 1;
		else if (!may_be_alone(found.row) && need_value(found.row, cursor, &value, error))
			return error->code;
		code = apply(&found, value, target, error);
		if (code || value)
			return code;
	}
	return 0;
}

static int take_operand(const struct option_table *table, const char *text, void *target,
			struct error *error)
{
	const char **field = (const char **)(void *)((char *)target + table->operand_offset);
	/* Without the brackets of what may be left out. */
	const char *name =
		table->operand && table->operand[0] == '[' ? table->operand + 1 : table->operand;
	const char *wrong;

	if (!table->operand)
		return error_set(error, -EINVAL, "'%s' is one word too many", text);
	if (table->add_operand) {
		wrong = table->add_operand(text, target);
		return wrong ? error_set(error, -EINVAL, "'%s' %s", text, wrong) : 0;
	}
	if (*field)
		return error_set(error, -EINVAL, "'%s' is one word too many: %.*s is '%s'", text,
				 (int)strcspn(name, "]"), name, *field);
	*field = text;
	return 0;
}

int option_parse(const struct option_table *table, int argc, char *argv[], void *target,
		 struct error *error)
{
	struct cursor cursor = {.argc = argc, .argv = argv, .next = 1};
	bool only_operands = false;
	int code = 0;

	while (!code && cursor.next < argc) {
		const char *text = argv[cursor.next++];

		if (only_operands || text[0] != '-' || !text[1])
			code = take_operand(table, text, target, error);
		else if (!strcmp(text, "--"))
			only_operands = true;
		else if (!strcmp(text, "--help") || !strcmp(text, "-h"))
			return 1;
		else if (text[1] == '-')
			code = parse_long(table, text + 2, &cursor, target, error);
		else
			code = parse_letters(table, text + 1, &cursor, target, error);
	}
	return code;
}

static void print_row(const struct option_row *row, const char *help, FILE *out)
{
	bool may_follow = row->argument && !strncmp(row->argument, "[ ", 2);
	const char *gap = !row->argument ? "" : may_follow ? " [" : may_be_alone(row) ? "[=" : " ";
	char letter[8] = "    ";
	char left[64];

	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c, ", row->letter);
	snprintf(left, sizeof(left), "%s--%s%s%s", letter, row->name, gap,
		 !row->argument ? "" : row->argument + may_be_alone(row) + may_follow);
	fprintf(out, "  %-30s %s\n", left, help);
}

void option_print(const struct option_table *table, FILE *out)
{
	for (const struct option_table *part = table; part; part = part->next)
		for (size_t i = 0; i < part->count; i++) {
			const struct option_row *row = row_at(part, i);
			const char *said = table->says ? table->says(row) : NULL;

			if (!table->hides || !table->hides(row))
				print_row(row, said ? said : row->help, out);
		}
	fprintf(out, "  %-30s %s\n", "-h, --help", "this text");
}

const char *option_said(const struct option_said *said, size_t count, const struct option_row *row)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(said[i].name, row->name))
			return said[i].help;
	return NULL;
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
		return "is not a port: 0 to 65535";
	*(uint16_t *)field = (uint16_t)port;
	return NULL;
}

const char *option_device_port(const char *text, void *field)
{
	uint64_t port;

	if (!value_count(text, 1, UINT8_MAX, &port))
		return "is not a port of a device: 1 to 255";
	*(uint8_t *)field = (uint8_t)port;
	return NULL;
}

const char *option_duration(const char *text, void *field)
{
	return value_duration(text, field) ? NULL : "is not a time, such as 10s or 500ms";
}
