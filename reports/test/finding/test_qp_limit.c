/* SPDX-License-Identifier: MIT */
#include "reports/document/document.h"
#include "reports/finding/qp_limit.h"
#include "reports/page/page.h"
#include "reports/table/table.h"
#include "reports/test/lib/qp_sweeps.h"

/* Where a rate drops for good; counts by hand. */
static void test_falls(void **unused)
{
	static const struct {
		double rates[6];
		size_t count;
	} rows[] = {
		{{1, 2, 4, 4, 4, 4},        6},
		{{1, 2, 4, 3.2, 3.2, 3.2},  6},
		{{1, 2, 4, 3.1, 3.1, 3.1},  3},
		{{1, 2, 4, 4, 3.1, 1},      4},
 /* A dip is not a drop. */
		{{1, 2, 4, 1, 4, 4},        6},
		{{1, 2, 4, 1, 3.2, 1},      5},
		{{5, 3, 3, 3, 3, 3},        1},
		{{0, 0, 0, 0, 0, 0},        6},
 /* A slow decline counts as a drop once it is deep enough. */
		{{10, 9, 8.5, 8, 7.5, 7.9}, 4},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct curve_point points[6] = {0};

		for (size_t j = 0; j < 6; j++)
			points[j].y = rows[i].rates[j];
		if (qp_limit_count(points, 6) != rows[i].count)
			fail_msg("row %zu: %zu", i, qp_limit_count(points, 6));
	}
	assert_int_equal(qp_limit_count(NULL, 0), 0);
}

static struct result result;

static int close_result(void **unused)
{
	result_finish(&result);
	return 0;
}

static const struct qp_sweep_row fall[] = {
	{1024, 30000},
        {1,    40000},
        {4096, 10000},
        {64,   60000},
        {256,  50000},
};

/* The cases ran in any order. */
static void test_result(void **unused)
{
	struct curves sweeps;
	char text[512];

	qp_sweeps_init(&result, fall, ARRAY_LENGTH(fall));
	curves_open(&sweeps, &result, &qp_limit_kind);
	assert_int_equal(sweeps.count, 1);
	assert_string_equal(sweeps.curve[0].best.line->id, "write/bw/64/poll/q64");
	curve_tell(&sweeps.curve[0], &qp_limit_kind, text);
	assert_string_equal(text, "knee: write/bw/64/poll/q256: 5 Mmsg/s; above it, 1024 queue "
				  "pairs: 3 Mmsg/s; best: 6 (medians of trials)");
	curves_close(&sweeps);
}

static void test_no_fall(void **unused)
{
	struct curves sweeps;
	char text[512];

	qp_sweeps_init(&result, fall, ARRAY_LENGTH(fall));
	result.cases[0].status = RESULT_FAILED;
	result.cases[2].status = RESULT_SKIPPED;
	curves_open(&sweeps, &result, &qp_limit_kind);
	assert_int_equal(sweeps.count, 1);
	assert_false(sweeps.curve[0].has_beyond);
	curve_tell(&sweeps.curve[0], &qp_limit_kind, text);
	assert_string_equal(
		text, "no knee up to write/bw/64/poll/q256: 5 Mmsg/s; best: 6 (medians of trials); "
		      "omitted: write/bw/64/poll/q1024 (failed), and 1 more");
	curves_close(&sweeps);
}

/* Counts the queue pairs of all threads; a stalled trial changes nothing. */
static void test_threads(void **unused)
{
	struct curves sweeps;
	char text[512];

	qp_sweeps_init(&result, fall, ARRAY_LENGTH(fall));
	for (size_t i = 0; i < result.n_cases; i++) {
		struct rate_windows windows = {0};
		struct result_trial held_up = {.messages = 1, .duration_ns = 10 * SAMPLE_MS};
		struct result_trial again = result.cases[i].trials[0];

		json_object_set_new(result.cases[i].parameters, "threads", json_integer(4));
		rate_windows_init(&windows, 10 * SAMPLE_MS);
		rate_windows_finish(&windows, 10 * SAMPLE_MS);
		assert_int_equal(result_add_trial(&result.cases[i], &held_up, NULL, &windows,
						  &(struct error){0}),
				 0);
		assert_int_equal(result_add_trial(&result.cases[i], &again, NULL, &windows,
						  &(struct error){0}),
				 0);
	}
	curves_open(&sweeps, &result, &qp_limit_kind);
	curve_tell(&sweeps.curve[0], &qp_limit_kind, text);
	assert_string_equal(text, "knee: write/bw/64/poll/q256: 5 Mmsg/s; above it, 4096 queue "
				  "pairs: 3 Mmsg/s; best: 6 (medians of trials)");
	curves_close(&sweeps);
}

/* Two points are too few, and cases with other options belong to another curve. */
static void test_apart(void **unused)
{
	static const struct qp_sweep_row rows[] = {
		{1,  40000},
		{2,  50000},
		{4,  60000},
		{24, 10000},
	};
	static const char *const ends[] = {"", "/t2", "", "/t2"};
	struct curves sweeps;

	qp_sweeps_init(&result, rows, ARRAY_LENGTH(rows));
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		result_drop_trials(&result.cases[i]);
		json_decref(result.cases[i].parameters);
		qp_sweep_case_init(&result.cases[i], &rows[i], ends[i]);
	}
	curves_open(&sweeps, &result, &qp_limit_kind);
	assert_int_equal(sweeps.count, 0);
	curves_close(&sweeps);
	assert_null(qp_limits_make(&result));
}

/* Cases with other depths belong to another curve. */
static void test_depths(void **unused)
{
	struct curves sweeps;

	qp_sweeps_init(&result, fall, ARRAY_LENGTH(fall));
	for (size_t i = 0; i < 3; i++)
		json_object_set_new(result.cases[i].parameters, "tx-depth",
				    json_integer(2 + (int)i));
	curves_open(&sweeps, &result, &qp_limit_kind);
	assert_int_equal(sweeps.count, 0);
	curves_close(&sweeps);
}

/* Table, page and document show the knee. */
static void test_shown(void **unused)
{
	json_t *document;
	json_t *sweep;
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct table table;

	qp_sweeps_init(&result, fall, ARRAY_LENGTH(fall));
	table_open(&table, &(struct terminal){.out = out}, NULL, &result);
	table_foot(&table);
	page_add(out, &(struct charts){.result = &result}, "it");
	fclose(out);
	assert_contains(text, "\nknee: write/bw/64/poll/q256: 5 Mmsg/s");
	assert_contains(text, "<li>knee: write/bw/64/poll/q256: 5 Mmsg/s");
	free(text);
	document = document_make(&result);
	assert_int_equal(json_array_size(json_object_get(document, "crowds")), 1);
	sweep = json_array_get(json_object_get(document, "crowds"), 0);
	assert_int_equal(json_integer_value(
				 json_object_get(json_object_get(sweep, "beyond"), "queue_pairs")),
			 1024);
	assert_near(
		json_number_value(json_object_get(json_object_get(sweep, "at"), "messages_per_s")),
		5e6, 0);
	json_decref(document);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_falls),
		cmocka_unit_test_teardown(test_result, close_result),
		cmocka_unit_test_teardown(test_no_fall, close_result),
		cmocka_unit_test_teardown(test_threads, close_result),
		cmocka_unit_test_teardown(test_apart, close_result),
		cmocka_unit_test_teardown(test_depths, close_result),
		cmocka_unit_test_teardown(test_shown, close_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
