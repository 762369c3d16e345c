/* SPDX-License-Identifier: MIT */
#include "reports/finding/coverage.h"

#include <stdarg.h>
#include <string.h>

#include "core/base/compiler.h"

#define LEAST    2 /* operations, and transports */
#define OP_WIDTH 16
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
	return (struct place){line->op, line->metric, line->transport ? line->transport : "RC",
			      line->cq};
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
	bool has[RESULT_SKIPPED + 1] = {false};

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

static void print_head(FILE *out, const struct coverage *coverage, const char *metric)
{
	int width = column_width(coverage);
	char line[LINE] = "";

	add(line, OP_WIDTH, "COVERAGE, %s", metric);
	for (size_t i = 0; i < coverage->transports.count; i++)
		add(line, width, "%s", coverage->transports.items[i]);
	print_line(out, line);
}

static void print_row(FILE *out, const struct coverage *coverage, const char *metric,
		      const char *op)
{
	int width = column_width(coverage);
	char line[LINE] = "";

	add(line, OP_WIDTH, "%s", op);
	for (size_t i = 0; i < coverage->transports.count; i++) {
		struct place place = {op, metric, coverage->transports.items[i], NULL};
		char marks[ARRAY_LENGTH(coverage->modes.items) + 1] = "";

		for (size_t mode = 0; mode < coverage->modes.count; mode++) {
			place.mode = coverage->modes.items[mode];
			marks[mode] = mark_of(coverage->result, &place);
		}
		add(line, width, "%s", strspn(marks, "-") == strlen(marks) ? "-" : marks);
	}
	print_line(out, line);
}

/* Not every operation has every metric. */
static bool has_cases(const struct result *result, const char *metric, const char *op)
{
	for (size_t i = 0; i < result->n_cases; i++)
		if (!strcmp(result->cases[i].metric, metric) && !strcmp(result->cases[i].op, op))
			return true;
	return false;
}

static bool has_status(const struct result *result, enum result_status status)
{
	for (size_t i = 0; i < result->n_cases; i++)
		if (result->cases[i].status == status)
			return true;
	return false;
}

/* Explains the marks that the result can have. */
static void print_legend(FILE *out, const struct coverage *coverage)
{
	const char *separator = "";
	char line[LINE] = "";

	if (has_status(coverage->result, RESULT_COMPLETE))
		for (size_t i = 0; i < coverage->modes.count; i++) {
			add(line, 0, "%s%c: %s", separator, *coverage->modes.items[i],
			    coverage->modes.items[i]);
			separator = ", ";
		}
	if (has_status(coverage->result, RESULT_SKIPPED)) {
		add(line, 0, "%s-: skipped", separator);
		separator = ", ";
	}
	if (has_status(coverage->result, RESULT_FAILED)) {
		add(line, 0, "%s!: failed", separator);
		separator = ", ";
	}
	if (has_status(coverage->result, RESULT_INTERRUPTED))
		add(line, 0, "%s?: interrupted", separator);
	print_line(out, line);
}

void coverage_print(FILE *out, const struct result *result)
{
	struct coverage coverage = {.result = result};

	find_names(&coverage);
	if (coverage.ops.count < LEAST || coverage.transports.count < LEAST)
		return;
	if (!has_status(result, RESULT_SKIPPED) && !has_status(result, RESULT_FAILED))
		return;
	for (size_t i = 0; i < coverage.metrics.count; i++) {
		const char *metric = coverage.metrics.items[i];

		print_head(out, &coverage, metric);
		for (size_t j = 0; j < coverage.ops.count; j++)
			if (has_cases(result, metric, coverage.ops.items[j]))
				print_row(out, &coverage, metric, coverage.ops.items[j]);
	}
	print_legend(out, &coverage);
}
