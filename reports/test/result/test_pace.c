/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "reports/document/document.h"
#include "reports/document/merge.h"
#include "reports/document/parse.h"
#include "reports/result/pace.h"
#include "reports/table/table.h"
#include "reports/test/lib/loading.h"
#include "reports/test/lib/loads.h"

static const struct load_row rows[] = {
	{100000, 3000, false},
	{500000, 7000, true },
};

static struct result result;
static struct error error;

static int open_loads(void **unused)
{
	error = (struct error){0};
	loads_init(&result, rows, ARRAY_LENGTH(rows));
	return 0;
}

static int close_loads(void **unused)
{
	result_finish(&result);
	return 0;
}

/* Two trials of 1000 messages: half of each latency of 3000 ns is lag; one latency is 2999 ns. */
static void test_document(void **unused)
{
	json_t *document = document_make(&result);
	json_t *made = json_array_get(json_object_get(document, "cases"), 0);
	json_t *load = json_object_get(made, "load");
	json_t *lag = json_object_get(load, "lag_ns");
	json_t *rest = json_object_get(load, "uncorrected_ns");

	assert_true(json_is_false(json_object_get(made, "saturated")));
	assert_near(json_number_value(json_object_get(load, "rate")), 100000, 0);
	assert_near(json_number_value(json_object_get(load, "messages_per_s")), 100000, 1e-3);
	assert_int_equal(json_integer_value(json_object_get(load, "unsent")), 0);
	assert_near(json_number_value(json_object_get(lag, "p50")), 1500, 0);
	assert_near(json_number_value(json_object_get(rest, "min")), 1499, 0);
	assert_near(json_number_value(json_object_get(rest, "max")), 1500, 0);
	assert_int_equal(json_integer_value(json_object_get(rest, "count")), 2000);
	made = json_array_get(json_object_get(document, "cases"), 1);
	assert_true(json_is_true(json_object_get(made, "saturated")));
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(made, "load"), "unsent")), 10);
	json_decref(document);
}

/* Each histogram has its own bins. */
static void test_text(void **unused)
{
	json_t *document = document_make(&result);
	json_t *kept;

	document_keep(&result.cases[0]);
	kept = json_loads(result.cases[0].text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(kept);
	loading_check_equal(kept, json_array_get(json_object_get(document, "cases"), 0));
	json_decref(kept);
	json_decref(document);
}

static void test_document_round_trip(void **unused)
{
	json_t *document = document_make(&result);
	struct result again;
	json_t *other;

	assert_int_equal(parse_document(&again, document, &error), 0);
	other = document_make(&again);
	loading_check_equal(other, document);
	json_decref(other);
	json_decref(document);
	result_finish(&again);
}

/* Merging two runs adds trials and histograms; a maximum that differs is dropped. */
static void test_merge(void **unused)
{
	struct result merged = {0};

	assert_int_equal(merge_add(&merged, &result, &error), 0);
	result.texts = NULL;
	result.cases[1].pace->maximum = 2e6;
	assert_int_equal(merge_add(&merged, &result, &error), 0);
	assert_int_equal(merged.cases[0].n_trials, 4);
	assert_int_equal(merged.cases[0].pace->lag.count, 4000);
	assert_int_equal(merged.cases[0].pace->lag.sum, 2 * result.cases[0].pace->lag.sum);
	assert_int_equal(merged.cases[0].pace->uncorrected.count, 4000);
	assert_near(merged.cases[0].pace->maximum, LOADS_MAXIMUM, 0);
	assert_near(merged.cases[1].pace->maximum, 0, 0);
	assert_true(pace_is_saturated(&merged.cases[1]));
	assert_int_equal(pace_unsent(&merged.cases[1]), 20);
	result_finish(&merged);
}

/* A case is saturated if at least half of its trials are. */
static void test_saturated(void **unused)
{
	struct result_case *line = &result.cases[1];

	assert_true(pace_is_saturated(line));
	line->trials[0].pace.is_saturated = false;
	assert_true(pace_is_saturated(line));
	line->trials[1].pace.is_saturated = false;
	assert_false(pace_is_saturated(line));
}

static void test_rejects_invalid_documents(void **unused)
{
	static const struct {
		const char *path;
		const char *text;
		const char *wanted;
	} defects[] = {
		{"cases/0/saturated",                          "true",    "\"saturated\" contradicts the trials"},
		{"cases/0/saturated",                          NULL,      "saturated"                           },
		{"cases/0/load",                               "[]",      "load"                                },
		{"cases/0/load/lag_ns",                        NULL,      "load: lag_ns"                        },
		{"cases/0/load/lag_ns/count",                  "1999",    "load: lag_ns: count does not"        },
		{"cases/0/load/uncorrected_ns/histogram/bins", "[]",      "load: uncorrected_ns"                },
		{"cases/0/load/maximum",                       "1",       "load: "                              },
		{"cases/0/load/maximum/case",                  "7",       "load: "                              },
		{"cases/0/load/maximum/messages_per_s",        "-1",      "load: "                              },
		{"cases/0/trials/1/load",                      NULL,      "trial 2: "                           },
		{"cases/0/trials/1/load/rate",                 "0",       "trial 2: \"rate\" is 0"              },
		{"cases/0/trials/1/load/rate",                 "\"10%\"", "trial 2: "                           },
		{"cases/0/trials/1/load/unsent",               "-1",      "trial 2: "                           },
		{"cases/0/trials/1/load/saturated",            "1",       "trial 2: "                           },
		{"cases/0/trials/1/duration_ns",               "0",       "trial 2: duration is 0"              },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(defects); i++) {
		json_t *document = document_make(&result);
		struct result again;

		error = (struct error){0};
		loading_change(document, defects[i].path, defects[i].text);
		if (parse_document(&again, document, &error) != -EINVAL)
			fail_msg("%s: %s", defects[i].path, error.text);
		assert_contains(error.text, defects[i].wanted);
		json_decref(document);
	}
}

/* 100000 and 500000 messages per second; half of the latencies of 3000 and 7000 ns is lag. */
static void test_table(void **unused)
{
	char text[2048] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");
	struct table table;

	assert_non_null(out);
	table_open(&table, &(struct terminal){.out = out}, NULL, &result);
	for (size_t i = 0; i < result.n_cases; i++)
		table_line(&table, &result.cases[i]);
	fclose(out);
	assert_contains(
		text,
		"                schedule    msg/s achieved    p50       95% CI    p99  p99.9    max "
		"lag p99  client/server\n"
		"send/rate100000 kept       100000   100000");
	assert_contains(text, "\nLOAD us: size 64, poll  ");
	assert_contains(text, "send/rate500000 saturated  500000   500000   7.00            -   "
			      "7.00      -   7.00    3.50  0/0\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_document, open_loads, close_loads),
		cmocka_unit_test_setup_teardown(test_text, open_loads, close_loads),
		cmocka_unit_test_setup_teardown(test_document_round_trip, open_loads, close_loads),
		cmocka_unit_test_setup_teardown(test_merge, open_loads, close_loads),
		cmocka_unit_test_setup_teardown(test_saturated, open_loads, close_loads),
		cmocka_unit_test_setup_teardown(test_rejects_invalid_documents, open_loads,
						close_loads),
		cmocka_unit_test_setup_teardown(test_table, open_loads, close_loads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
