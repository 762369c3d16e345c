/* SPDX-License-Identifier: MIT */
#include "reports/io/json_member.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#define WORD_MOST 63

/* JSON counts are smaller. Sums and products of larger figures may overflow a double. */
#define FIGURE_MOST 0x1p63

static int wrong(const json_t *object, const char *name, const char *what, struct error *error)
{
	if (!json_object_get(object, name))
		return error_set(error, -EINVAL, "\"%s\" is missing", name);
	return error_set(error, -EINVAL, "\"%s\" is %s", name, what);
}

int json_member_count(const json_t *object, const char *name, uint64_t *count, struct error *error)
{
	const json_t *json = json_object_get(object, name);

	if (!json_is_integer(json) || json_integer_value(json) < 0)
		return wrong(object, name, "not a count", error);
	*count = (uint64_t)json_integer_value(json);
	return 0;
}

int json_member_small(const json_t *object, const char *name, unsigned int most,
		      unsigned int *count, struct error *error)
{
	uint64_t value = 0;
	int code = json_member_count(object, name, &value, error);

	if (code)
		return code;
	if (value > most)
		return error_set(error, -EINVAL, "\"%s\" is above %u", name, most);
	*count = (unsigned int)value;
	return 0;
}

int json_member_number(const json_t *object, const char *name, double *number, struct error *error)
{
	const json_t *json = json_object_get(object, name);

	if (!json_is_number(json) || !isfinite(json_number_value(json)))
		return wrong(object, name, "not a number", error);
	*number = json_number_value(json);
	return 0;
}

int json_member_figure(const json_t *object, const char *name, double *figure, struct error *error)
{
	int code = json_member_number(object, name, figure, error);

	if (!code && *figure < 0)
		return wrong(object, name, "negative", error);
	return !code && *figure >= FIGURE_MOST ? wrong(object, name, "above 2^63", error) : code;
}

int json_member_flag(const json_t *object, const char *name, bool *flag, struct error *error)
{
	const json_t *json = json_object_get(object, name);

	if (!json_is_boolean(json))
		return wrong(object, name, "neither true nor false", error);
	*flag = json_is_true(json);
	return 0;
}

/* Rejects control characters: those of ASCII and C1 (C2 80 to C2 9F in UTF-8). */
bool json_member_is_printable(const char *text)
{
	for (const unsigned char *byte = (const unsigned char *)text; *byte; byte++)
		if (*byte < 0x20 || *byte == 0x7f || (byte[0] == 0xc2 && byte[1] < 0xa0))
			return false;
	return true;
}

static json_t *find_text(const json_t *object, const char *name, size_t most, struct error *error)
{
	json_t *json = json_object_get(object, name);

	if (!json_is_string(json))
		wrong(object, name, "not a string", error);
	else if (json_string_length(json) > most)
		error_set(error, -EINVAL, "\"%s\" is longer than %zu bytes", name, most);
	else if (!json_member_is_printable(json_string_value(json)))
		wrong(object, name, "not printable", error);
	else
		return json;
	return NULL;
}

int json_member_text(const json_t *object, const char *name, char *text, size_t size,
		     struct error *error)
{
	const json_t *json = find_text(object, name, size - 1, error);

	if (!json)
		return -EINVAL;
	memcpy(text, json_string_value(json), json_string_length(json) + 1);
	return 0;
}

int json_member_word(const json_t *object, const char *name, json_t *texts, const char **word,
		     struct error *error)
{
	json_t *json = find_text(object, name, WORD_MOST, error);

	if (!json)
		return -EINVAL;
	if (json_array_append(texts, json))
		return error_set_errno(error, -ENOMEM, "cannot keep \"%s\"", name);
	*word = json_string_value(json);
	return 0;
}

int json_member_plain_word(const json_t *object, const char *name, json_t *texts, const char **word,
			   struct error *error)
{
	int code = json_member_word(object, name, texts, word, error);

	if (code || isalnum((unsigned char)**word))
		return code;
	return error_set(error, -EINVAL, "\"%s\" does not begin with a letter or a digit", name);
}

bool json_member_is_formula(const char *text)
{
	return *text && strchr("=+-@", *text);
}

const char *json_member_or_empty(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

int json_member_object(const json_t *object, const char *name, json_t **found, struct error *error)
{
	*found = json_object_get(object, name);
	return json_is_object(*found) ? 0 : wrong(object, name, "not an object", error);
}

int json_member_array(const json_t *object, const char *name, json_t **found, struct error *error)
{
	*found = json_object_get(object, name);
	return json_is_array(*found) ? 0 : wrong(object, name, "not an array", error);
}
