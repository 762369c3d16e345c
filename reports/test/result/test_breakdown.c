/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "reports/document/document.h"
#include "reports/document/merge.h"
#include "reports/document/parse.h"
#include "reports/result/breakdown.h"
#include "reports/table/breakdown_grid.h"
#include "reports/test/lib/loading.h"

#define PATH "cases/0/breakdown_ns"

static const uint64_t parts_ns[BREAKDOWN_PARTS] = {100, 2000, 30, 4};

static struct result result;
static struct error error;

static struct result_case *broken_down(void)
{
	return &result.cases[SAMPLE_LATENCY];
}

static void add_breakdown(bool has_wakeup)
{
	struct breakdown *seen = calloc(1, sizeof(*seen));

	assert_non_null(seen);
	seen->clock_hz = 156.25e6;
	seen->clock_error_ns = 7;
	for (size_t part = 0; part < BREAKDOWN_PARTS; part++) {
		bool is_none = part == BREAKDOWN_WAKEUP && !has_wakeup;

		hist_init(&seen->parts[part]);
		for (uint64_t i = 0; i < broken_down()->latency->count; i++)
			hist_add(&seen->parts[part], is_none ? 0 : parts_ns[part]);
	}
	assert_int_equal(breakdown_add(broken_down(), seen, &error), 0);
	free(seen);
}

static int open_result(void **unused)
{
	error = (struct error){0};
	sample_init(&result);
	return 0;
}

static int close_result(void **unused)
{
	result_finish(&result);
	return 0;
}

static void test_document(void **unused)
{
	json_t *document;
	json_t *parts;
	json_t *clock;

	add_breakdown(true);
	document = document_make(&result);
	parts = json_object_get(json_array_get(json_object_get(document, "cases"), SAMPLE_LATENCY),
				"breakdown_ns");
	for (size_t part = 0; part < BREAKDOWN_PARTS; part++) {
		json_t *one = json_object_get(parts, breakdown_names[part]);

		assert_near(json_number_value(json_object_get(one, "mean")), (double)parts_ns[part],
			    1e-9);
	}
	clock = json_object_get(parts, "clock");
	assert_near(json_number_value(json_object_get(clock, "hz")), 156.25e6, 0);
	assert_near(json_number_value(json_object_get(clock, "error_ns")), 7, 0);
	json_decref(document);
}

static void check_round_trip(void)
{
	json_t *document = document_make(&result);
	struct result again;
	json_t *other;
	json_t *kept;

	assert_int_equal(parse_document(&again, document, &error), 0);
	other = document_make(&again);
	loading_check_equal(other, document);
	document_keep(broken_down());
	kept = json_loads(broken_down()->text, JSON_REJECT_DUPLICATES, NULL);
	loading_check_equal(kept,
			    json_array_get(json_object_get(document, "cases"), SAMPLE_LATENCY));
	json_decref(kept);
	json_decref(other);
	json_decref(document);
	result_finish(&again);
}

static void test_round_trip(void **unused)
{
	add_breakdown(true);
	check_round_trip();
}

static void test_no_wakeup(void **unused)
{
	json_t *document;

	add_breakdown(false);
	assert_false(breakdown_has_wakeup(broken_down()->breakdown));
	document = document_make(&result);
	assert_null(json_object_get(
		json_object_get(json_array_get(json_object_get(document, "cases"), SAMPLE_LATENCY),
				"breakdown_ns"),
		"wakeup"));
	json_decref(document);
	check_round_trip();
}

/* Another trial's parts are added. The rate is the first trial's, and the error the largest. */
static void test_trials(void **unused)
{
	struct breakdown *other = calloc(1, sizeof(*other));

	assert_non_null(other);
	add_breakdown(true);
	*other = *broken_down()->breakdown;
	other->clock_hz = 1;
	other->clock_error_ns = 9;
	assert_int_equal(breakdown_add(broken_down(), other, &error), 0);
	assert_int_equal(broken_down()->breakdown->parts[BREAKDOWN_DEVICE].count,
			 2 * other->parts[BREAKDOWN_DEVICE].count);
	assert_near(broken_down()->breakdown->clock_hz, 156.25e6, 0);
	assert_near(broken_down()->breakdown->clock_error_ns, 9, 0);
	free(other);
}

static void test_merge(void **unused)
{
	struct result merged = {0};
	uint64_t count = broken_down()->latency->count;

	for (size_t i = 0; i < SAMPLE_CASES; i++)
		if (!result.cases[i].parameters)
			result.cases[i].parameters = json_object();
	add_breakdown(true);
	assert_int_equal(merge_add(&merged, &result, &error), 0);
	assert_int_equal(merged.cases[SAMPLE_LATENCY].breakdown->parts[BREAKDOWN_POLL].count,
			 count);
	result_finish(&merged);
}

static void note(void *owner, const char *text)
{
	char *notes = owner;

	snprintf(notes + strlen(notes), 512 - strlen(notes), "%s\n", text);
}

#define FIRST_PART 4

static void check_cells(const char *const wanted[static BREAKDOWN_PARTS + 1])
{
	struct grid grid;
	const char *cell;

	assert_true(breakdown_grid(&grid, &result));
	assert_int_equal(grid.n_columns, FIRST_PART + BREAKDOWN_PARTS + 1);
	assert_int_equal(grid.n_cells, grid.n_columns);
	cell = grid_cells(&grid);
	for (size_t i = 0; i < grid.n_columns; i++, cell += strlen(cell) + 1)
		if (i >= FIRST_PART)
			assert_string_equal(cell, wanted[i - FIRST_PART]);
	grid_close(&grid);
}

/* Means add up. The first column is the operation, the last one the whole. */
static void test_table(void **unused)
{
	static const char *const wanted[] = {"0.100", "2.00", "0.030", "0.004", "2.13"};
	static const char *const polled[] = {"0.100", "2.00", "-", "0.004", "2.13"};
	char notes[512] = "";
	struct grid grid;

	assert_false(breakdown_grid(&grid, &result));
	grid_close(&grid);
	add_breakdown(true);
	/* A program that polls never sleeps. */
	check_cells(polled);
	broken_down()->cq = "event";
	check_cells(wanted);
	breakdown_grid_notes(&result, "BREAKDOWN ", note, notes);
	assert_non_null(strstr(notes, "BREAKDOWN us: means"));
	assert_non_null(strstr(notes, "within 7 ns"));
}

static void test_spoilt(void **unused)
{
	/* Members, and values in their place; NULL: they are missing. */
	static const char *const rows[][2] = {
		{PATH,			 "3" },
		{PATH "/post",                 NULL},
		{PATH "/poll/histogram/count", "1" },
		{PATH "/clock",                NULL},
		{PATH "/clock/hz",             "-1"},
	};

	add_breakdown(true);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		json_t *document = document_make(&result);
		char last[64];
		json_t *parent = loading_parent(document, rows[i][0], last);
		struct result again;

		error = (struct error){0};
		if (rows[i][1])
			json_object_set_new(parent, last,
					    json_loads(rows[i][1], JSON_DECODE_ANY, NULL));
		else
			json_object_del(parent, last);
		assert_int_equal(parse_document(&again, document, &error), -EINVAL);
		if (!strstr(error.text, "breakdown_ns"))
			fail_msg("%s: %s", rows[i][0], error.text);
		json_decref(document);
	}
}

/* There are as many samples of each part as latencies. */
static void test_other_count(void **unused)
{
	json_t *document;
	struct result again;

	add_breakdown(true);
	add_breakdown(true);
	document = document_make(&result);
	assert_int_equal(parse_document(&again, document, &error), -EINVAL);
	assert_non_null(strstr(error.text, "breakdown_ns: post: numbers of samples and latencies "
					   "differ"));
	json_decref(document);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_document, open_result, close_result),
		cmocka_unit_test_setup_teardown(test_round_trip, open_result, close_result),
		cmocka_unit_test_setup_teardown(test_no_wakeup, open_result, close_result),
		cmocka_unit_test_setup_teardown(test_trials, open_result, close_result),
		cmocka_unit_test_setup_teardown(test_merge, open_result, close_result),
		cmocka_unit_test_setup_teardown(test_table, open_result, close_result),
		cmocka_unit_test_setup_teardown(test_spoilt, open_result, close_result),
		cmocka_unit_test_setup_teardown(test_other_count, open_result, close_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
