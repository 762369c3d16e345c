/* SPDX-License-Identifier: MIT */
#include "reports/fleet/member.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/printable.h"
#include "reports/io/json_member.h"

bool member_has(const json_t *json, const char *name)
{
	return json_object_get(json, name) != NULL;
}

bool member_is_name(const char *text)
{
	if (!isalnum((unsigned char)*text))
		return false;
	while (isalnum((unsigned char)*text) || (*text && strchr(".:_-", *text)))
		text++;
	return !*text;
}

int member_name(const json_t *json, const char *name, char *text, size_t size, struct error *error)
{
	int code = json_member_text(json, name, text, size, error);

	if (code || member_is_name(text))
		return code;
	return error_set(error, -EINVAL, "\"%s\" is not a name of letters, digits and \".:_-\"",
			 name);
}

int member_remark(const json_t *json, const char *name, char *text, size_t size,
		  struct error *error)
{
	int code;

	if (!member_has(json, name))
		return 0;
	code = json_member_text(json, name, text, size, error);
	if (!code && !text[0])
		code = error_set(error, -EINVAL, "\"%s\" is empty", name);
	if (!code)
		printable_copy(text, size, text);
	return code;
}

int member_optional_name(const json_t *json, const char *name, char *text, size_t size,
			 struct error *error)
{
	return member_has(json, name) ? member_name(json, name, text, size, error) : 0;
}

int member_index(const json_t *json, const char *name, size_t limit, size_t *index,
		 struct error *error)
{
	uint64_t value = 0;
	int code = json_member_count(json, name, &value, error);

	if (code)
		return code;
	if (value >= limit)
		return error_set(error, -EINVAL, "\"%s\" is not below %zu", name, limit);
	*index = (size_t)value;
	return 0;
}

int member_figure(const json_t *json, const char *name, double *figure, struct error *error)
{
	*figure = (double)NAN;
	return member_has(json, name) ? json_member_figure(json, name, figure, error) : 0;
}

int member_find_array(const json_t *json, const char *name, size_t most, json_t **found,
		      struct error *error)
{
	int code = json_member_array(json, name, found, error);

	if (!code && json_array_size(*found) > most)
		code = error_set(error, -E2BIG, "\"%s\" has more than %zu values", name, most);
	return code;
}

int member_open_list(struct member_list *list, const json_t *json, const char *name, size_t most,
		     size_t size, struct error *error)
{
	int code = member_find_array(json, name, most, &list->json, error);

	if (code)
		return code;
	list->count = json_array_size(list->json);
	list->structs = calloc(list->count + 1, size);
	return list->structs ? 0 : error_set_errno(error, -ENOMEM, "cannot keep \"%s\"", name);
}

int member_find_word(const char *word, const char *const *words, size_t count, unsigned int *number)
{
	for (size_t i = 0; i < count && word; i++)
		if (strcmp(word, words[i]) == 0) {
			*number = (unsigned int)i;
			return 0;
		}
	return -EINVAL;
}
