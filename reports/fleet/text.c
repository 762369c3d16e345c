/* SPDX-License-Identifier: MIT */
#include "reports/fleet/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reports/document/parse.h"
#include "reports/fleet/document.h"

#define PAIRS "\"pairs\""

static bool is_space(char letter)
{
	return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
}

static const char *skip_space(const char *at, const char *end)
{
	while (at < end && is_space(*at))
		at++;
	return at;
}

/* Returns the end of the string that begins at a quotation mark. */
static const char *skip_string(const char *at, const char *end)
{
	for (at++; at < end && *at != '"'; at++)
		at += *at == '\\';
	return at < end ? at + 1 : end;
}

/* Returns the end of the array or object that begins at a bracket. */
static const char *skip_nested(const char *at, const char *end)
{
	size_t depth = 0;

	while (at < end) {
		if (*at == '"') {
			at = skip_string(at, end);
			continue;
		}
		if (*at == '[' || *at == '{')
			depth++;
		else if (*at == ']' || *at == '}')
			depth--;
		at++;
		if (!depth)
			break;
	}
	return at;
}

/* Returns the bracket of an array that follows a name; NULL: something else follows. */
static const char *find_array(const char *at, const char *end)
{
	at = skip_space(at, end);
	if (at == end || *at != ':')
		return NULL;
	at = skip_space(at + 1, end);
	return at < end && *at == '[' ? at : NULL;
}

/* Returns the bracket of the array "pairs" of the outermost object, or NULL. */
static const char *find_pairs(const char *text, const char *end)
{
	const char *at = skip_space(text, end);

	for (at++; at < end;) {
		const char *name = at;

		if (*at == '[' || *at == '{') {
			at = skip_nested(at, end);
		} else if (*at == '"') {
			at = skip_string(at, end);
			if ((size_t)(at - name) == strlen(PAIRS) &&
			    !memcmp(name, PAIRS, strlen(PAIRS)) && find_array(at, end))
				return find_array(at, end);
		} else {
			at++;
		}
	}
	return NULL;
}

int fleet_text_open(struct fleet_text *parts, const char *text, size_t length, struct error *error)
{
	const char *end = text + length;
	const char *pairs = find_pairs(text, end);
	const char *past = pairs ? skip_nested(pairs, end) : NULL;
	size_t before;

	*parts = (struct fleet_text){.head = text, .length = length};
	if (!pairs || past[-1] != ']')
		return 0;
	parts->pairs = pairs + 1;
	parts->pairs_end = past - 1;
	before = (size_t)(parts->pairs - text);
	parts->length = before + (size_t)(end - parts->pairs_end);
	parts->made = malloc(parts->length);
	if (!parts->made)
		return error_set_errno(error, -ENOMEM, "cannot keep the text");
	memcpy(parts->made, text, before);
	memcpy(parts->made + before, parts->pairs_end, parts->length - before);
	parts->head = parts->made;
	return 0;
}

static int add_pair(struct fleet *fleet, const char *text, size_t length, struct error *error)
{
	struct fleet_pair *pair = fleet_add_pair(fleet);
	json_t *json;
	int code;

	if (!pair)
		return error_set_errno(error, -ENOMEM, "cannot keep the pairs");
	code = parse_json(text, length, "a pair", &json, error);
	if (!code)
		code = fleet_pair_parse(fleet, pair, json, error);
	json_decref(json);
	return code;
}

int fleet_text_add_pairs(struct fleet *fleet, const struct fleet_text *parts, struct error *error)
{
	const char *end = parts->pairs_end;
	const char *at = skip_space(parts->pairs, end);
	bool has_more = at < end;

	while (has_more) {
		const char *past = at < end && *at == '[' ? skip_nested(at, end) : at;
		int code = past > at ? add_pair(fleet, at, (size_t)(past - at), error)
				     : error_set(error, -EINVAL, "it is not an array");

		at = skip_space(past, end);
		has_more = at < end;
		if (!code && has_more && *at != ',')
			code = error_set(error, -EINVAL, "it is not followed by ',' or ']'");
		if (code)
			return error_wrap(error, "pair %zu",
					  fleet->n_pairs ? fleet->n_pairs - 1 : 0);
		at = skip_space(at + has_more, end);
	}
	return 0;
}

void fleet_text_close(struct fleet_text *parts)
{
	free(parts->made);
	*parts = (struct fleet_text){0};
}
