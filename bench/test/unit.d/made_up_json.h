/* SPDX-License-Identifier: MIT */
/* JSON in tests, written with ' in place of " to stay readable. */
#ifndef BENCH_TEST_UNIT_D_MADE_UP_JSON_H
#define BENCH_TEST_UNIT_D_MADE_UP_JSON_H

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/test/lib/check.h"

static inline json_t *made_up_json(const char *text)
{
	char *copy = strdup(text);
	json_error_t fault;
	json_t *json;

	assert_non_null(copy);
	for (char *quote = strchr(copy, '\''); quote; quote = strchr(quote, '\''))
		*quote = '"';
	json = json_loads(copy, JSON_DECODE_ANY, &fault);
	if (!json)
		print_error("%s in %s\n", fault.text, copy);
	free(copy);
	assert_non_null(json);
	return json;
}

#define assert_json(found, wanted) made_up_check(found, wanted, __FILE__, __LINE__)

/* Compares found with the JSON in wanted; if wanted is NULL, found must be NULL. */
static inline void made_up_check(const json_t *found, const char *wanted, const char *file,
				 int line)
{
	json_t *json = wanted ? made_up_json(wanted) : NULL;
	char *text;

	if (wanted ? json_equal(found, json) : !found) {
		json_decref(json);
		return;
	}
	json_decref(json);
	text = json_dumps(found, JSON_ENCODE_ANY | JSON_SORT_KEYS);
	print_error("%s\n is not\n%s\n", text ? text : "nothing", wanted ? wanted : "nothing");
	free(text);
	_fail(file, line);
}

#endif
