/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/base/error.h"
#include "core/test/lib/check.h"

#define ROOM sizeof(((struct error *)0)->text)

static void test_first_one_wins(void **unused)
{
	struct error error = {0};

	assert_int_equal(error_set(&error, -EINVAL, "depth %d", 7), -EINVAL);
	assert_int_equal(error_set(&error, -EIO, "another"), -EIO);
	assert_int_equal(error_set_errno(&error, -ENODEV, "a third"), -ENODEV);
	assert_int_equal(error.code, -EINVAL);
	assert_string_equal(error.text, "depth 7");
}

static void test_errno_has_its_text(void **unused)
{
	static const struct {
		int code;
		const char *text;
	} rows[] = {
		{-ECONNREFUSED, "port 7: Connection refused"    },
		{-ENOMEM,       "port 7: Cannot allocate memory"},
		{-ETIMEDOUT,    "port 7: Connection timed out"  },
		{-99999,        "port 7: Unknown error 99999"   },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct error error = {0};

		assert_int_equal(error_set_errno(&error, rows[i].code, "port %d", 7), rows[i].code);
		assert_int_equal(error.code, rows[i].code);
		assert_string_equal(error.text, rows[i].text);
	}
}

static void test_wrap_prepends(void **unused)
{
	struct error error = {0};

	error_set(&error, -EIO, "it failed");
	assert_int_equal(error_wrap(&error, "queue %d", 3), -EIO);
	assert_int_equal(error_wrap(&error, "device %s", "x0"), -EIO);
	assert_string_equal(error.text, "device x0: queue 3: it failed");
}

static void test_wrap_marks_truncation(void **unused)
{
	struct error error = {0};
	char filled[ROOM];

	memset(filled, 'x', sizeof(filled) - 1);
	filled[sizeof(filled) - 1] = '\0';
	error_set(&error, -EIO, "%s", filled);
	error_wrap(&error, "it");
	assert_int_equal(strlen(error.text), ROOM - 1);
	assert_memory_equal(error.text, "it: xxx", 7);
	assert_string_equal(error.text + ROOM - 5, "x...");
}

static void test_append_adds_at_the_end(void **unused)
{
	struct error error = {0};

	error_set(&error, -EIO, "it failed");
	assert_int_equal(error_append(&error, "at %d", 3), -EIO);
	assert_int_equal(error_append(&error, "twice"), -EIO);
	assert_string_equal(error.text, "it failed; at 3; twice");
}

static void test_wrap_and_append_ignore_success(void **unused)
{
	struct error error = {0};

	assert_int_equal(error_wrap(&error, "in front"), 0);
	assert_int_equal(error_append(&error, "behind"), 0);
	assert_int_equal(error.code, 0);
	assert_string_equal(error.text, "");
}

static void test_null_is_allowed(void **unused)
{
	assert_int_equal(error_set(NULL, -EIO, "x"), -EIO);
	assert_int_equal(error_set_errno(NULL, -EPERM, "x"), -EPERM);
	/* A failure is never reported as success. */
	assert_int_equal(error_wrap(NULL, "x"), -EIO);
	assert_int_equal(error_append(NULL, "x"), -EIO);
}

/* Text that does not fit is truncated and always terminated; earlier text is kept. */
static void test_truncation(void **unused)
{
	char filled[2 * ROOM];

	for (size_t length = ROOM - 12; length < ROOM + 12; length++) {
		size_t kept = length < ROOM ? length : ROOM - 1;
		struct error set = {0};
		struct error with_errno = {0};
		struct error wrapped = {0};
		struct error appended = {0};

		memset(filled, 'x', length);
		filled[length] = '\0';
		error_set(&set, -EIO, "%s", filled);
		assert_int_equal(strlen(set.text), kept);
		assert_memory_equal(set.text, filled, kept);

		error_set_errno(&with_errno, -EIO, "%s", filled);
		assert_memory_equal(with_errno.text, filled, kept);
		assert_true(strlen(with_errno.text) < ROOM);

		error_set(&wrapped, -EIO, "the cause");
		error_wrap(&wrapped, "%s", filled);
		assert_memory_equal(wrapped.text, filled, kept);
		assert_true(strlen(wrapped.text) < ROOM);

		error_set(&appended, -EIO, "%s", filled);
		error_append(&appended, "%s", filled);
		assert_memory_equal(appended.text, filled, kept);
		assert_true(strlen(appended.text) < ROOM);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_one_wins),
		cmocka_unit_test(test_errno_has_its_text),
		cmocka_unit_test(test_wrap_prepends),
		cmocka_unit_test(test_wrap_marks_truncation),
		cmocka_unit_test(test_append_adds_at_the_end),
		cmocka_unit_test(test_wrap_and_append_ignore_success),
		cmocka_unit_test(test_null_is_allowed),
		cmocka_unit_test(test_truncation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
