/* SPDX-License-Identifier: MIT */
#include "reports/export/export.h"

#include <errno.h>
#include <stdlib.h>

#include "reports/document/merge.h"

/* The decimal digits that a double can represent. */
#define DIGITS 15

int export_no_memory(struct error *error)
{
	return error_set_errno(error, -ENOMEM, "cannot export");
}

int export_text_open(struct export_text *text)
{
	*text = (struct export_text){0};
	text->out = open_memstream(&text->text, &text->length);
	return text->out ? 0 : -ENOMEM;
}

char *export_text_take(struct export_text *text)
{
	char *taken = NULL;

	if (text->out && !fclose(text->out)) {
		taken = text->text;
		text->text = NULL;
	}
	text->out = NULL;
	return taken;
}

void export_text_close(struct export_text *text)
{
	free(export_text_take(text));
	free(text->text);
	*text = (struct export_text){0};
}

/* Suggests to merge the results if they can be merged. */
static int refuse(const json_t *before, const char *key, const struct result *result,
		  const char *name, struct error *error)
{
	json_t *circumstances = merge_circumstances(result);
	bool can_merge = !json_is_null(circumstances) &&
			 json_equal(json_object_get(before, "circumstances"), circumstances);

	json_decref(circumstances);
	return error_set(
		error, -EEXIST, "%s: %s is already in %s, and the format allows only one; %s", name,
		key, json_string_value(json_object_get(before, "name")),
		can_merge ? "merge both with 'report --merge'" : "export each to its own file");
}

int export_once(json_t *seen, const char *key, const struct result *result, const char *name,
		struct error *error)
{
	const json_t *before = json_object_get(seen, key);
	json_t *of;

	if (before)
		return refuse(before, key, result, name, error);
	/* File names need not be UTF-8. */
	of = json_pack("{s:o, s:o}", "name", json_string_nocheck(name), "circumstances",
		       merge_circumstances(result));
	return !of || json_object_set_new(seen, key, of) ? export_no_memory(error) : 0;
}

int export_dump(const json_t *json, char **text, struct error *error)
{
	struct export_text made;
	int code = export_text_open(&made);

	if (!code && json_dumpf(json, made.out, JSON_INDENT(2) | JSON_REAL_PRECISION(DIGITS)))
		code = -ENOMEM;
	if (!code) {
		fputc('\n', made.out);
		*text = export_text_take(&made);
		code = *text ? 0 : -ENOMEM;
	}
	export_text_close(&made);
	return code ? export_no_memory(error) : 0;
}
