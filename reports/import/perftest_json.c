/* SPDX-License-Identifier: MIT */
/*
 * What perftest calls JSON: before 2024 neither names nor words have quotes, and in some modes
 * of later versions, too, commas stand where none may, twice, or before a brace. What it means
 * is plain all the same: objects of names and values, one within another. So that is what is
 * read, whether it is JSON or not.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "reports/import/perftest.h"

/* Of a name, and of a value. */
#define WORD_MOST 80

struct json {
	const char *at;
	const char *end;
	size_t line;
	struct perftest_run run;
	struct perftest_row row;
	bool has_run;
	bool has_row;
};

static int wrong(const struct json *json, const char *what, struct error *error)
{
	return error_set(error, -EINVAL, "line %zu: %s", json->line, what);
}

static void skip_space(struct json *json)
{
	for (; json->at < json->end && isspace((unsigned char)*json->at); json->at++)
		json->line += *json->at == '\n';
}

/* Whether that letter is next; then it is passed. */
static bool perftest_json_take(struct json *json, char letter)
{
	skip_space(json);
	if (json->at == json->end || *json->at != letter)
		return false;
	json->at++;
	return true;
}

/* Quoted, or up to a letter that means something: none of perftest's words has any. */
static int take_word(struct json *json, char word[static WORD_MOST], struct error *error)
{
	bool is_quoted = perftest_json_take(json, '"');
	size_t length = 0;

	while (json->at < json->end && !strchr(is_quoted ? "\"\n" : "\":,{}[]\n", *json->at)) {
		if (length == WORD_MOST - 1)
			return wrong(json, "this is longer than anything that perftest tells",
				     error);
		if (*json->at == '\\' || (!isprint((unsigned char)*json->at) && *json->at != '\t'))
			return wrong(json, "no word of perftest's has such letters", error);
		word[length++] = *json->at++;
	}
	if (is_quoted && !perftest_json_take(json, '"'))
		return wrong(json, "a quote is missing", error);
	while (length && !is_quoted && isspace((unsigned char)word[length - 1]))
		length--;
	word[length] = '\0';
	return length ? 0 : wrong(json, "a name or a value is missing", error);
}

static int take_name(struct json *json, char word[static WORD_MOST], struct error *error)
{
	int code = take_word(json, word, error);

	return code || perftest_json_take(json, ':') ? code
						     : wrong(json, "a colon is missing", error);
}

/* The test is what all others are told of. */
static int take_info(struct json *json, const char *name, const char *value, struct error *error)
{
	int code;

	if (strcmp(name, "test") != 0 && !json->has_run)
		return wrong(json, "the test is to be named first", error);
	if (strcmp(name, "test") != 0)
		code = perftest_tell(&json->run, name, value, error);
	else if (json->has_run)
		return wrong(json, "the test is named twice", error);
	else
		code = perftest_begin(&json->run, value, error);
	json->has_run = true;
	return code ? error_wrap(error, "line %zu", json->line) : 0;
}

/* Those of --output have other names: they are of no size, and no row. */
static int take_result(struct json *json, const char *name, const char *value, struct error *error)
{
	for (size_t i = 0; i < PERFTEST_COLUMNS; i++) {
		if (strcmp(perftest_keys[i], name) != 0)
			continue;
		if (!isnan(json->row.values[i]))
			return wrong(json, "a figure is told twice", error);
		if (!perftest_number(value, strlen(value), &json->row.values[i]))
			return wrong(json, "this is no figure", error);
		return 0;
	}
	return 0;
}

typedef int taker(struct json *json, const char *name, const char *value, struct error *error);

/* An object of names and values, of which each goes to the taker. */
static int take_members(struct json *json, taker *take_one, struct error *error)
{
	char name[WORD_MOST];
	char value[WORD_MOST];
	int code = perftest_json_take(json, '{') ? 0 : wrong(json, "a brace is missing", error);

	while (!code) {
		while (perftest_json_take(json, ','))
			;
		if (perftest_json_take(json, '}'))
			return 0;
		code = take_name(json, name, error);
		skip_space(json);
		if (!code)
			code = take_word(json, value, error);
		if (!code)
			code = take_one(json, name, value, error);
	}
	return code;
}

/* {test_info: {...}, results: {...}} */
static int take_run(struct json *json, struct error *error)
{
	char name[WORD_MOST];
	int code = perftest_json_take(json, '{') ? 0 : wrong(json, "a brace is missing", error);

	while (!code) {
		while (perftest_json_take(json, ','))
			;
		if (perftest_json_take(json, '}'))
			break;
		code = take_name(json, name, error);
		if (code)
			return code;
		if (!strcmp(name, "test_info")) {
			code = take_members(json, take_info, error);
		} else if (!strcmp(name, "results") && json->has_run && !json->has_row) {
			json->has_row = true;
			code = take_members(json, take_result, error);
		} else {
			code = wrong(json, "this is neither test_info nor its results", error);
		}
	}
	if (!code && !json->has_row)
		code = wrong(json, "there are no results", error);
	return code;
}

int perftest_add_json(struct import *import, const char *text, size_t length, struct error *error)
{
	struct json json = {.at = text, .end = text + length, .line = 1};
	int code = 0;

	while (!code && json.at < json.end) {
		size_t line = json.line;

		json.has_run = json.has_row = false;
		perftest_row_init(&json.row);
		code = take_run(&json, error);
		/* Three reports go to the file, and the last one stays: whose, it does not say. */
		if (!code && json.run.is_bidirectional)
			code = error_set(error, -EINVAL,
					 "line %zu: of both directions JSON has the sum, or, with "
					 "--report-both, the remote end alone, and does not tell "
					 "which: import the text",
					 line);
		if (!code) {
			code = perftest_add(import, &json.run, &json.row, error);
			if (code)
				error_wrap(error, "line %zu", line);
		}
		perftest_end(&json.run);
		skip_space(&json);
	}
	return code;
}
