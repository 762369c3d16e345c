/* SPDX-License-Identifier: MIT */
#include "bench/option.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "bench/value.h"

/* Where parsing stands. */
struct cursor {
	int argc;
	char **argv;
	int next;
};

static const struct option_row *find_name(const struct option_table *table, const char *name,
					  size_t length)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct option_row *row = &table->rows[i];

		if (strlen(row->name) == length && !strncmp(row->name, name, length))
			return row;
	}
	return NULL;
}

static const struct option_row *find_letter(const struct option_table *table, char letter)
{
	for (size_t i = 0; i < table->count; i++)
		if (table->rows[i].letter == letter)
			return &table->rows[i];
	return NULL;
}

static int apply(const struct option_row *row, const char *value, void *target, struct error *error)
{
	const char *wrong = row->parse(value, (char *)target + row->offset);

	if (wrong)
		return error_set(error, -EINVAL, "--%s: '%s' %s", row->name, value, wrong);
	return 0;
}

static int need_value(const struct option_row *row, struct cursor *cursor, const char **value,
		      struct error *error)
{
	if (cursor->next >= cursor->argc)
		return error_set(error, -EINVAL, "--%s needs %s", row->name, row->argument);
	*value = cursor->argv[cursor->next++];
	return 0;
}

static int parse_long(const struct option_table *table, const char *text, struct cursor *cursor,
		      void *target, struct error *error)
{
	size_t length = strcspn(text, "=");
	const struct option_row *row = find_name(table, text, length);
	const char *value = text[length] ? text + length + 1 : NULL;

	if (!row)
		return error_set(error, -EINVAL, "there is no option --%.*s", (int)length, text);
	if (!row->argument && value)
		return error_set(error, -EINVAL, "--%s takes no value", row->name);
	if (row->argument && !value && need_value(row, cursor, &value, error))
		return error->code;
	return apply(row, value, target, error);
}

static int parse_letters(const struct option_table *table, const char *letters,
			 struct cursor *cursor, void *target, struct error *error)
{
	for (; *letters; letters++) {
		const struct option_row *row = find_letter(table, *letters);
		const char *value = NULL;
		int code;

		if (!row)
			return error_set(error, -EINVAL, "there is no option -%c", *letters);
		if (row->argument && letters[1])
			value = letters + 1;
		else if (row->argument && need_value(row, cursor, &value, error))
			return error->code;
		code = apply(row, value, target, error);
		if (code || value)
			return code;
	}
	return 0;
}

static int take_operand(const struct option_table *table, const char *text, void *target,
			struct error *error)
{
	const char **field = (const char **)(void *)((char *)target + table->operand_offset);

	if (!table->operand)
		return error_set(error, -EINVAL, "'%s' is one word too many", text);
	if (*field)
		return error_set(error, -EINVAL, "'%s' is one word too many: %s is '%s'", text,
				 table->operand, *field);
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

void option_print(const struct option_table *table, FILE *out)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct option_row *row = &table->rows[i];
		char left[64];
		char letter[8] = "    ";

		if (row->letter)
			snprintf(letter, sizeof(letter), "-%c, ", row->letter);
		snprintf(left, sizeof(left), "%s--%s%s%s", letter, row->name,
			 row->argument ? " " : "", row->argument ? row->argument : "");
		fprintf(out, "  %-30s %s\n", left, row->help);
	}
	fprintf(out, "  %-30s %s\n", "-h, --help", "this text");
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

const char *option_duration(const char *text, void *field)
{
	return value_duration(text, field) ? NULL : "is not a time, such as 10s or 500ms";
}
