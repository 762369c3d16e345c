/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "core/test/lib/check.h"
#include "reports/history/name.h"

static struct error error;

/* FNV-1a of 64 bits of "" and of "foobar", as its authors' test suite has them. */
static void test_names(void **unused)
{
	char name[HISTORY_NAME];

	assert_int_equal(history_name(name, "2026-11-23T10:12:44Z", "", 0, &error), 0);
	assert_string_equal(name, "20261123T101244Z-cbf29ce484222325");
	assert_true(history_name_is_of(name, "", 0));
	assert_false(history_name_is_of(name, "x", 1));
	assert_int_equal(history_name(name, "1970-01-01T00:00:00Z", "foobar", 6, &error), 0);
	assert_string_equal(name, "19700101T000000Z-85944171f73967e8");
}

/* The seconds are those of date --utc. */
static void test_numbers(void **unused)
{
	int64_t number;

	assert_true(history_name_number("20261123T101244Z-cbf29ce484222325", &number));
	assert_int_equal(number >> 28, 1795428764);
	assert_int_equal(number & 0xfffffff, 0xcbf29ce);
	assert_true(history_name_number("29991231T235959Z-ffffffffffffffff", &number));
	assert_true(number > 0);
}

static void test_no_times(void **unused)
{
	static const char *const times[] = {
		"",
		"yesterday",
		"2026-11-23",
		"2026-11-23T10:12:44",
		"2026-11-23T10:12:44Zx",
		"2026-11-23T10:12:44+01:00",
		"2026-13-23T10:12:44Z",
		"2026-02-30T10:12:44Z",
		"2026-11-23T24:12:44Z",
		"2026-12-31T23:59:60Z",
		"1969-11-23T10:12:44Z",
		"3000-11-23T10:12:44Z",
		"20261123T101244Z",
	};
	char name[HISTORY_NAME];

	for (size_t i = 0; i < ARRAY_LENGTH(times); i++) {
		struct error refused = {0};

		assert_int_equal(history_name(name, times[i], "", 0, &refused), -EINVAL);
		assert_contains(refused.text, "that is no time such as");
	}
}

static void test_no_names(void **unused)
{
	static const char *const names[] = {
		"",
		"result",
		"20261123T101244Z",
		"20261123T101244Z-",
		"20261123T101244Z-cbf29ce48422232",
		"20261123T101244Z-cbf29ce4842223255",
		"20261123T101244Z-CBF29CE484222325",
		"20261123T101244Z_cbf29ce484222325",
		"2026-11-23T10:12:44Z-cbf29ce484222325",
		"20261323T101244Z-cbf29ce484222325",
	};
	int64_t number;

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
		assert_false(history_name_number(names[i], &number));
	assert_false(history_name_is_of("nothing", "", 0));
}

static void check_label(const char *text, int wanted)
{
	struct history_label label;
	struct error refused = {0};

	assert_int_equal(history_label_read(&label, text, strlen(text), &refused), wanted);
}

static void test_labels(void **unused)
{
	const struct history_label given = {"1.2 \"rc\"", "0123abc"};
	struct history_label label;
	char *text = history_label_make(&given);

	assert_non_null(text);
	assert_int_equal(history_label_read(&label, text, strlen(text), &error), 0);
	assert_memory_equal(&label, &given, sizeof(label));
	free(text);
	check_label("{}", 0);
	check_label("{\"version\": \"1\", \"more\": [1]}", 0);
	check_label("", -EINVAL);
	check_label("[]", -EINVAL);
	check_label("{\"version\": 1}", -EINVAL);
	check_label("{\"commit\": \"\\u001b[2J\"}", -EINVAL);
	check_label("{\"commit\": \"a\", \"commit\": \"b\"}", -EINVAL);
	check_label("{\"commit\": \"~a=+-@\"}", 0);
	check_label("{\"commit\": \"=a\"}", -EINVAL);
	check_label("{\"version\": \"+1\"}", -EINVAL);
	check_label("{\"version\": \"-1\"}", -EINVAL);
	check_label("{\"version\": \"@1\"}", -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),    cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_no_times), cmocka_unit_test(test_no_names),
		cmocka_unit_test(test_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
