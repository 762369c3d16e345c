/* SPDX-License-Identifier: MIT */
#include "reports/finding/coverage.h"

#include <stdarg.h>
#include <string.h>

#include "core/base/compiler.h"

#define LEAST    3 /* operations, and transports */
#define OP_WIDTH 14
#define LINE     256

/* Different names, in the order of the cases. */
struct names {
	const char *items[64];
	size_t count;
};

struct coverage {
	const struct result *result;
	struct names ops;
	struct names metrics;
	struct names transports;
	struct names modes;
};

/* The cell of the cases that have all of these. */
struct place {
	const char *op;
	const char *metric;
	const char *transport;
	const char *mode;
};

static struct place place_of(const struct result_case *line)
{
	const char *transport = json_string_value(json_object_get(line->parameters, "transport"));

	/* Cases omit the default. */
	return (struct place){line->op, line->metric, transport ? transport : "RC", line->cq};
}

static bool is_at(const struct result_case *line, const struct place *place)
{
	struct place own = place_of(line);

	return !strcmp(own.op, place->op) && !strcmp(own.metric, place->metric) &&
	       !strcmp(own.transport, place->transport) && !strcmp(own.mode, place->mode);
}

static void add_name(struct names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (!strcmp(names->items[i], name))
			return;
	if (names->count < ARRAY_LENGTH(names->items))
		names->items[names->count++] = name;
}

static void find_names(struct coverage *coverage)
{
	for (size_t i = 0; i < coverage->result->n_cases; i++) {
		struct place place = place_of(&coverage->result->cases[i]);

		add_name(&coverage->ops, place.op);
		add_name(&coverage->metrics, place.metric);
		add_name(&coverage->transports, place.transport);
		add_name(&coverage->modes, place.mode);
	}
}

/*
 * Returns the initial of the mode if cases are complete and none failed: cases of other sizes
 * share the cell.
 */
static char mark_of(const struct result *result, const struct place *place)
{
	bool has[] = {[RESULT_INTERRUPTED] = false,
		      [RESULT_COMPLETE] = false,
		      [RESULT_FAILED] = false,
		      [RESULT_SKIPPED] = false};

	for (size_t i = 0; i < result->n_cases; i++)
		if (is_at(&result->cases[i], place))
			has[result->cases[i].status] = true;
	if (has[RESULT_FAILED])
		return '!';
	if (has[RESULT_INTERRUPTED])
		return '?';
	if (has[RESULT_COMPLETE])
		return *place->mode;
	return has[RESULT_SKIPPED] ? '-' : ' ';
}

/* Appends text that takes at least this width. */
static void FORMAT(3, 4) add(char line[static LINE], int width, const char *format, ...)
{
	size_t length = strlen(line);
	size_t wanted = length + (size_t)width;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line + length, LINE - length, format, arguments);
	va_end(arguments);
	for (length = strlen(line); length < wanted && length + 1 < LINE; length++)
		line[length] = ' ';
	line[length] = '\0';
}

static void print_line(FILE *out, char line[static LINE])
{
	size_t length = strlen(line);

	while (length && line[length - 1] == ' ')
		length--;
	fprintf(out, "%.*s\n", (int)length, line);
	*line = '\0';
}

/* Returns the width of a column, with the space behind it: "RC", "XRC" or a mark for each mode. */
static int column_width(const struct coverage *coverage)
{
	size_t width = coverage->modes.count;

	for (size_t i = 0; i < coverage->transports.count; i++)
		if (strlen(coverage->transports.items[i]) > width)
			width = strlen(coverage->transports.items[i]);
	return (int)width + 1;
}

static void print_head(FILE *out, const struct coverage *coverage)
{
	int width = column_width(coverage);
	char line[LINE] = "";

	add(line, OP_WIDTH, "COVERAGE");
	for (size_t i = 0; i < coverage->metrics.count; i++)
		add(line, width * (int)coverage->transports.count + 1, "%s",
		    coverage->metrics.items[i]);
	print_line(out, line);
	add(line, OP_WIDTH, " ");
	for (size_t i = 0; i < coverage->metrics.count; i++) {
		for (size_t j = 0; j < coverage->transports.count; j++)
			add(line, width, "%s", coverage->transports.items[j]);
		add(line, 1, " ");
	}
	print_line(out, line);
}

static void print_row(FILE *out, const struct coverage *coverage, const char *op)
{
	int width = column_width(coverage);
	char line[LINE] = "";

	add(line, OP_WIDTH, "%s", op);
	for (size_t i = 0; i < coverage->metrics.count; i++) {
		for (size_t j = 0; j < coverage->transports.count; j++) {
			struct place place = {op, coverage->metrics.items[i],
					      coverage->transports.items[j], NULL};
			char marks[ARRAY_LENGTH(coverage->modes.items) + 1] = "";

			for (size_t mode = 0; mode < coverage->modes.count; mode++) {
				place.mode = coverage->modes.items[mode];
				marks[mode] = mark_of(coverage->result, &place);
			}
			add(line, width, "%s", strspn(marks, "-") == strlen(marks) ? "-" : marks);
		}
		add(line, 1, " ");
	}
	print_line(out, line);
}

void coverage_print(FILE *out, const struct result *result)
{
	struct coverage coverage = {.result = result};
	char line[LINE] = "";

	find_names(&coverage);
	if (coverage.ops.count < LEAST || coverage.transports.count < LEAST)
		return;
	print_head(out, &coverage);
	for (size_t i = 0; i < coverage.ops.count; i++)
		print_row(out, &coverage, coverage.ops.items[i]);
	for (size_t i = 0; i < coverage.modes.count; i++)
		add(line, 0, "%c: %s, ", *coverage.modes.items[i], coverage.modes.items[i]);
	add(line, 0, "-: skipped, !: failed, ?: interrupted");
	print_line(out, line);
}
