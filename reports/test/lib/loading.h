/* SPDX-License-Identifier: MIT */
/*
 * The sample as a document, for tests to change members of. Members are named by paths such as
 * cases/0/latency_ns/count.
 */
#ifndef REPORTS_TEST_LIB_LOADING_H
#define REPORTS_TEST_LIB_LOADING_H

#include "reports/document/document.h"
#include "reports/document/parse.h"
#include "reports/test/lib/sample.h"

static inline json_t *loading_document(void)
{
	struct result result;
	json_t *document;

	sample_init(&result);
	document = document_make(&result);
	assert_non_null(document);
	result_finish(&result);
	return document;
}

/* Returns the parent of the member at the path, and copies the last name of the path to last. */
static inline json_t *loading_parent(json_t *document, const char *path, char last[static 64])
{
	json_t *at = document;

	for (;;) {
		size_t length = strcspn(path, "/");

		snprintf(last, 64, "%.*s", (int)length, path);
		if (!path[length])
			return at;
		path += length + 1;
		at = json_is_array(at) ? json_array_get(at, (size_t)atoi(last))
				       : json_object_get(at, last);
		assert_non_null(at);
	}
}

/* Replaces the member at the path by the JSON text, or removes it if text is NULL. */
static inline void loading_change(json_t *document, const char *path, const char *text)
{
	char last[64];
	json_t *parent = loading_parent(document, path, last);
	json_t *value = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;

	assert_true(!text || value);
	if (json_is_array(parent))
		json_array_set_new(parent, (size_t)atoi(last), value);
	else if (value)
		json_object_set_new(parent, last, value);
	else
		json_object_del(parent, last);
}

/* Parses a document and releases it. */
static inline int loading_load(struct result *result, json_t *document, struct error *error)
{
	int code = parse_document(result, document, error);

	json_decref(document);
	return code;
}

static inline void loading_check_equal(const json_t *found, const json_t *wanted)
{
	char *text;

	if (json_equal(found, wanted))
		return;
	text = json_dumps(found, JSON_INDENT(1) | JSON_SORT_KEYS);
	print_error("%s\n", text);
	free(text);
	fail();
}

#endif
