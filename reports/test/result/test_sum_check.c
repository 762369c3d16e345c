/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "reports/document/merge.h"
#include "reports/result/sum_check.h"
#include "reports/test/lib/loading.h"

#define MOST    "9223372036854775807" /* 2^63 - 1 */
#define QUARTER "4611686018427387904" /* 2^62 */

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

static void test_limit(void **unused)
{
	assert_false(sum_check_are_beyond(INT64_MAX, 0));
	assert_true(sum_check_are_beyond(INT64_MAX, 1));
	assert_false(sum_check_are_beyond(INT64_MAX - 7, 7));
	assert_true(sum_check_are_beyond(UINT64_MAX, UINT64_MAX));
}

/* A wrapped sum looks valid: three times 2^63 - 1 is 2^63 - 3, modulo 2^64. */
static void test_trials_that_wrap(void **unused)
{
	static const char *const rows[][3] = {
		{"cpu/client/user_ns",  MOST,                                "9223372036854775805"},
		{"cpu/server/messages", MOST,                                "9223372036854775805"},
		{"loss",                "{\"sent\": " MOST ", \"lost\": 3}", NULL                 },
		{"loss",                "{\"sent\": 9, \"lost\": " MOST "}", NULL                 },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		json_t *document = loading_document();
		char path[96];

		error = (struct error){0};
		for (int trial = 0; trial < 3; trial++) {
			snprintf(path, sizeof(path), "cases/0/trials/%d/%s", trial, rows[i][0]);
			loading_change(document, path, rows[i][1]);
		}
		snprintf(path, sizeof(path), "cases/0/%s", rows[i][0]);
		if (rows[i][2])
			loading_change(document, path, rows[i][2]);
		assert_int_equal(loading_load(&result, document, &error), -EINVAL);
		assert_string_equal(error.text, "send/lat/64/poll: trial 2: the sums overflow");
	}
}

/* Merges a document with itself; merge_add does not check for duplicates. */
static int merge_with_itself(json_t *document)
{
	struct result merged = {0};
	int code;

	assert_int_equal(loading_load(&result, document, &error), 0);
	assert_int_equal(merge_add(&merged, &result, &error), 0);
	code = merge_add(&merged, &result, &error);
	result_finish(&merged);
	result_finish(&result);
	return code;
}

/* Values of 2^62, whose sum of two overflows. */
static void test_merged(void **unused)
{
	static const struct {
		const char *path;
		const char *value;
		const char *sum;
		const char *value_of_sum;
	} rows[] = {
		{"cases/1/trials/0/cpu/client/system_ns",   QUARTER,                                "cases/1/cpu/client/system_ns",
		 "4611686018427390404"												     },
		{"cases/1/trials/0/cpu/server/completions", QUARTER,
		 "cases/1/cpu/server/completions",										  QUARTER},
		{"cases/1/trials/0/loss",                   "{\"sent\": " QUARTER ", \"lost\": 0}", NULL,                           NULL   },
		{"cases/1/shares",
		 "{\"threads\": [{\"duration_ns\": " QUARTER
		 ", \"queue_pairs\": [{\"messages\": 6000}]},"
		 " {\"duration_ns\": 10, \"queue_pairs\": [{\"messages\": 360}]}]}",                NULL,			   NULL   },
		{"cases/1/flows",
		 "{\"flows\": [{\"from\": \"a\", \"to\": \"b\", \"messages\": 6360, \"duration_ns\": " QUARTER
		 "}]}",									     NULL,			   NULL   },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		json_t *document = loading_document();

		error = (struct error){0};
		loading_change(document, rows[i].path, rows[i].value);
		if (rows[i].sum)
			loading_change(document, rows[i].sum, rows[i].value_of_sum);
		assert_int_equal(merge_with_itself(document), -EOVERFLOW);
		assert_string_equal(error.text, "write/bw/1000/event/server-poll/t16: the sums "
						"overflow");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),
		cmocka_unit_test_setup_teardown(test_trials_that_wrap, reset, drop),
		cmocka_unit_test_setup_teardown(test_merged, reset, drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
