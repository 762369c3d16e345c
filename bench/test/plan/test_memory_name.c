/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "bench/plan/memory_name.h"
#include "bench/plan/parameters.h"
#include "core/test/lib/check.h"

static int find(const char *prefix, unsigned int i, uint64_t *number)
{
	struct error ignored = {0};
	char text[MEMORY_TEXT];

	snprintf(text, sizeof(text), "file:/%s%u", prefix, i);
	return memory_name_find(text, number, &ignored);
}

static void test_release(void **unused)
{
	uint64_t kept;
	uint64_t again;
	uint64_t number;

	assert_int_equal(find("kept", 0, &kept), 0);
	assert_int_equal(find("kept", 0, &again), 0);
	assert_int_equal(again, kept);
	for (unsigned int i = 0; i < 2 * MEMORY_NAMES; i++) {
		assert_int_equal(find("passing", i, &number), 0);
		assert_int_not_equal(number, kept);
		memory_name_release(number);
	}
	memory_name_release(again);
	assert_string_equal(memory_name_text(kept), "file:/kept0");
	memory_name_hold(kept);
	memory_name_release(kept);
	assert_string_equal(memory_path(memory_name_choice(kept)), "/kept0");
	memory_name_release(kept);
	assert_string_equal(memory_name_text(kept), "host");
}

static void test_full(void **unused)
{
	uint64_t numbers[MEMORY_NAMES];
	uint64_t number;

	for (unsigned int i = 0; i < MEMORY_NAMES; i++)
		assert_int_equal(find("", i, &numbers[i]), 0);
	assert_int_equal(find("more", 0, &number), -ENOMEM);
	assert_int_equal(find("", 7, &number), 0);
	assert_int_equal(number, numbers[7]);
	memory_name_release(number);
	memory_name_release(numbers[7]);
	assert_int_equal(find("more", 0, &number), 0);
	assert_string_equal(memory_name_text(number), "file:/more0");
	memory_name_release(number);
	for (unsigned int i = 0; i < MEMORY_NAMES; i++)
		if (i != 7)
			memory_name_release(numbers[i]);
}

/* Case ids have one spelling. */
static void test_spellings(void **unused)
{
	uint64_t numbers[2];
	struct error error = {0};

	assert_int_equal(memory_name_find("ODP:Warm", &numbers[0], &error), 0);
	assert_int_equal(memory_name_find("odp:warm", &numbers[1], &error), 0);
	assert_int_equal(numbers[0], numbers[1]);
	assert_string_equal(memory_name_text(numbers[0]), "odp:warm");
	memory_name_release(numbers[0]);
	memory_name_release(numbers[1]);
}

static void test_host(void **unused)
{
	static const uint64_t numbers[] = {0, PARAMETER_AUTO, MEMORY_NAMES + 1};

	for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++) {
		memory_name_hold(numbers[i]);
		memory_name_release(numbers[i]);
		assert_string_equal(memory_name_text(numbers[i]), "host");
		assert_null(memory_name_choice(numbers[i])->kind);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_release),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_spellings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
