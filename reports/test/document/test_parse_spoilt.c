/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "reports/page/page.h"
#include "reports/table/table.h"
#include "reports/test/lib/loading.h"

static struct result result;
static struct error error;

static int reset(void **unused)
{
	error = (struct error){0};
	return 0;
}

static int drop(void **unused)
{
	result_finish(&result);
	return 0;
}

static uint64_t state = 1;

static size_t below(size_t count)
{
	state = state * 6364136223846793005U + 1442695040888963407U;
	return (size_t)(state >> 33) % count;
}

static json_t *hostile_value(void)
{
	static const char *const values[] = {
		"null",
		"true",
		"0",
		"1",
		"-1",
		"2",
		"9223372036854775807",
		"-9223372036854775808",
		"1e308",
		"-0.5",
		"1e-308",
		"\"\"",
		"\"complete\"",
		"\"%s%n\"",
		"[]",
		"{}",
		"[[1, 2, 3]]",
		"137438953472",
		"4294967296",
	};

	return json_loads(values[below(ARRAY_LENGTH(values))], JSON_DECODE_ANY, NULL);
}

static void *iterator_at(json_t *object, size_t i)
{
	void *place = json_object_iter(object);

	while (i--)
		place = json_object_iter_next(object, place);
	return place;
}

/* Replaces a random value in the tree. */
static void spoil(json_t *at)
{
	for (;;) {
		bool is_object = json_is_object(at);
		size_t count = is_object ? json_object_size(at) : json_array_size(at);
		size_t i = count ? below(count) : 0;
		void *place = is_object && count ? iterator_at(at, i) : NULL;
		json_t *next = place ? json_object_iter_value(place) : json_array_get(at, i);

		if ((json_is_object(next) || json_is_array(next)) && below(8))
			at = next;
		else if (place)
			json_object_iter_set_new(at, place, hostile_value());
		else if (count)
			json_array_set_new(at, i, hostile_value());
		if (at != next)
			return;
	}
}

/* Whatever is accepted can be shown and written. */
static void use(void)
{
	FILE *out = fopen("/dev/null", "w");
	json_t *again = document_make(&result);
	struct table table;

	assert_non_null(out);
	assert_non_null(again);
	table_open(&table, &(struct terminal){.out = out}, NULL, &result);
	for (size_t i = 0; i < result.n_cases; i++)
		table_line(&table, &result.cases[i]);
	table_foot(&table);
	page_add(out, &(struct charts){.result = &result}, "result.json");
	fclose(out);
	json_decref(again);
}

static void test_spoilt(void **unused)
{
	json_t *good = loading_document();
	size_t taken = 0;

	for (size_t i = 0; i < 3000; i++) {
		json_t *document = json_deep_copy(good);
		int code;

		error = (struct error){0};
		for (size_t j = 0; j <= i % 3; j++)
			spoil(document);
		code = loading_load(&result, document, &error);
		assert_true(code <= 0);
		assert_int_equal(code, error.code);
		if (!code)
			use();
		taken += !code;
		result_finish(&result);
	}
	/* Not all inconsistencies are detected, but most are. */
	assert_true(taken > 10 && taken < 1500);
	json_decref(good);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_spoilt, reset, drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
