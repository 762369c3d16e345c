/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/test/lib/check.h"
#include "reports/history/name.h"

static struct error error;

static struct history_name name_of(const char *started, const char *document)
{
	struct result result = {0};
	struct history_name name;

	strcpy(result.started, started);
	assert_int_equal(history_name(&name, &result, document, strlen(document), &error), 0);
	return name;
}

/* Hashes are from the FNV authors' test suite (64-bit FNV-1a of "" and "foobar"). */
static void test_names(void **unused)
{
	struct history_name name = name_of("2026-11-23T10:12:44Z", "");

	assert_string_equal(name.text, "20261123T101244Z-cbf29ce484222325");
	assert_int_equal(name.number >> 28, 1795428764);
	assert_int_equal(name.number & 0xfffffff, 0xcbf29ce);
	name = name_of("1970-01-01T00:00:00Z", "foobar");
	assert_string_equal(name.text, "19700101T000000Z-85944171f73967e8");
	name = name_of("2999-12-31T23:59:59Z", "foobar");
	assert_true(name.number > 0);
}

static void test_rejects_other_times(void **unused)
{
	static const char *const times[] = {
		"",
		"yesterday",
		"2026-11-23",
		"2026-11-23T10:12:44",
		"2026-11-23T10:12:44Zx",
		"2026-11-23T10:12:4Z",
		" 2026-11-23T10:12:44Z",
		"2026-11-23T10:12:44+01:00",
		"2026-13-23T10:12:44Z",
		"2026-02-30T10:12:44Z",
		"2026-11-23T24:12:44Z",
		"2026-12-31T23:59:60Z",
		"1969-11-23T10:12:44Z",
		"3000-11-23T10:12:44Z",
		"20261123T101244Z",
	};

	assert_true(history_name_time("2024-02-29T23:59:59Z"));
	for (size_t i = 0; i < ARRAY_LENGTH(times); i++) {
		struct result result = {0};
		struct history_name name;
		struct error refused = {0};

		strcpy(result.started, times[i]);
		assert_false(history_name_time(times[i]));
		assert_int_equal(history_name(&name, &result, "", 0, &refused), -EINVAL);
		assert_contains(refused.text, "not a time such as");
	}
}

static void check_label(const char *text, const char *fault)
{
	char label[HISTORY_LABEL];
	struct error refused = {0};

	if (!fault) {
		assert_int_equal(history_label_set(label, text, "--version", &refused), 0);
		assert_string_equal(label, text ? text : "");
		return;
	}
	assert_int_equal(history_label_set(label, text, "--version", &refused), -EINVAL);
	assert_contains(refused.text, fault);
}

static void test_labels(void **unused)
{
	char longest[HISTORY_LABEL + 1] = "";

	memset(longest, 'x', HISTORY_LABEL - 1);
	check_label(longest, NULL);
	longest[HISTORY_LABEL - 1] = 'x';
	check_label(longest, "--version is longer than 127 bytes");
	check_label(NULL, NULL);
	check_label("", NULL);
	check_label("1.2 \"rc\"", NULL);
	check_label("~a=+-@", NULL);
	check_label("\303\244", NULL);
	check_label("=a", "formula");
	check_label("+1", "formula");
	check_label("-1", "formula");
	check_label("@1", "formula");
	check_label("\033[2J", "not printable UTF-8");
	check_label("\377", "not printable UTF-8");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_rejects_other_times),
		cmocka_unit_test(test_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
