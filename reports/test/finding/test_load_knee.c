/* SPDX-License-Identifier: MIT */
#include "reports/document/document.h"
#include "reports/finding/load_knee.h"
#include "reports/page/page.h"
#include "reports/table/table.h"
#include "reports/test/lib/loads.h"

#define SERVED 1000000.0

/*
 * M/M/1 (Kleinrock 1975): the time in the system is exponential with mean 1 / (served - arriving),
 * so p99 doubles where half of the capacity left at the lowest rate remains.
 */
static double mm1_p99_ns(double rate)
{
	return log(100) / (SERVED - rate) * 1e9;
}

static void test_one_server(void **unused)
{
	static const struct {
		double lowest; /* relative to the capacity */
		double step;
		double knee;
	} rows[] = {
		{0.10, 0.10, 0.50}, /* doubles at 0.55 */
		{0.10, 0.01, 0.55},
                {0.20, 0.10, 0.60},
		{0.50, 0.05, 0.75},
                {0.02, 0.07, 0.51}, /* at 0.51 */
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct curve_point points[100] = {0};
		size_t count = 0;
		size_t most = (size_t)((0.995 - rows[i].lowest) / rows[i].step);

		for (; count <= most; count++) {
			double share = rows[i].lowest + rows[i].step * (double)count;

			points[count].x = share * SERVED;
			points[count].y = mm1_p99_ns(share * SERVED - 1e-6);
		}
		count = load_knee_count(points, count);
		assert_true(count > 0);
		assert_near(points[count - 1].x / SERVED, rows[i].knee, 1e-9);
	}
}

/* M/D/1 by its mean wait, and D/D/1, whose time in the system is constant. */
static void test_other_servers(void **unused)
{
	struct curve_point points[9] = {0};

	/* The mean of M/D/1 in units of the service: 1 + r / 2(1 - r); 1.0556 at 0.1. */
	for (size_t i = 0; i < 9; i++) {
		double r = 0.1 * (double)(i + 1);

		points[i].x = r;
		points[i].y = 1 + r / (2 * (1 - r));
	}
	/* 2.1111 lies between 1.75 at 0.6, 2.1667 at 0.7. */
	assert_int_equal(load_knee_count(points, 9), 6);
	for (size_t i = 0; i < 9; i++)
		points[i].y = 1;
	assert_int_equal(load_knee_count(points, 9), 9);
	points[7].is_saturated = true;
	assert_int_equal(load_knee_count(points, 9), 7);
	/* A good point after a bad one is luck. */
	points[3].y = 2.01;
	assert_int_equal(load_knee_count(points, 9), 3);
	points[0].is_saturated = true;
	assert_int_equal(load_knee_count(points, 9), 0);
}

static struct result result;

static int close_result(void **unused)
{
	result_finish(&result);
	return 0;
}

static const struct load_row curve[] = {
	{400000, 1600, false},
        {100000, 1000, false},
        {500000, 2400, true },
	{200000, 1100, false},
        {300000, 2000, false},
};

/* The cases ran in any order, with others in between. */
static void test_result(void **unused)
{
	struct curves knees;
	char text[512];

	loads_init(&result, curve, ARRAY_LENGTH(curve));
	curves_open(&knees, &result, &load_knee_kind);
	assert_int_equal(knees.count, 1);
	assert_string_equal(knees.curve[0].lowest.line->id, "send/load/64/poll/rate100000");
	assert_string_equal(knees.curve[0].at.line->id, "send/load/64/poll/rate400000");
	assert_true(knees.curve[0].has_beyond);
	assert_string_equal(knees.curve[0].beyond.line->id, "send/load/64/poll/rate500000");
	curve_tell(&knees.curve[0], &load_knee_kind, text);
	assert_string_equal(text, "knee: send/load/64/poll/rate400000: 400000 msg/s with a p99 of "
				  "1.6 us; above it, 500000 msg/s: 2.4 us, saturated "
				  "(medians of trials)");
	curves_close(&knees);
}

static void test_two_curves(void **unused)
{
	struct load_row rows[] = {
		{100, 1000, false},
                {200, 2100, false},
                {300, 5000, false},
		{100, 1000, false},
                {200, 1500, false},
                {300, 1900, false}
        };
	struct curves knees;
	char text[512];

	loads_init(&result, rows, ARRAY_LENGTH(rows));
	for (size_t i = 3; i < ARRAY_LENGTH(rows); i++) {
		result_drop_trials(&result.cases[i]);
		json_decref(result.cases[i].parameters);
		load_case_init(&result.cases[i], &rows[i], "event");
	}
	curves_open(&knees, &result, &load_knee_kind);
	assert_int_equal(knees.count, 2);
	for (size_t i = 0; i < 2; i++) {
		bool is_poll = !strcmp(knees.curve[i].at.line->cq, "poll");

		assert_int_equal(knees.curve[i].has_beyond, is_poll);
		assert_near(knees.curve[i].at.x, is_poll ? 100 : 300, 0);
		curve_tell(&knees.curve[i], &load_knee_kind, text);
		if (!is_poll)
			assert_string_equal(text, "no knee up to send/load/64/event/rate300: 300 "
						  "msg/s with a p99 of 1.9 us (medians of trials)");
	}
	curves_close(&knees);
}

/* Adds a trial with a high p99, which moves the pooled p99. */
static void stall(struct result_case *line)
{
	struct error error = {0};
	struct hist *hist = hist_create();
	struct result_trial trial = line->trials[0];

	assert_non_null(hist);
	for (int i = 0; i < 1000; i++)
		hist_add(hist, 90000);
	statistic_fill(trial.latency, hist);
	assert_int_equal(result_add_trial(line, &trial, hist, NULL, &error), 0);
	free(hist);
}

/* One of three trials stalls, at a middle rate or at the lowest one: the knee does not move. */
static void test_stalled_trial(void **unused)
{
	for (size_t i = 0; i < 2; i++) {
		struct curves knees;

		loads_init(&result, curve, ARRAY_LENGTH(curve));
		stall(&result.cases[i ? 3 : 1]);
		curves_open(&knees, &result, &load_knee_kind);
		assert_int_equal(knees.count, 1);
		assert_string_equal(knees.curve[0].at.line->id, "send/load/64/poll/rate400000");
		assert_near(knees.curve[0].lowest.y, 1000, 0);
		curves_close(&knees);
		result_finish(&result);
	}
	loads_init(&result, curve, ARRAY_LENGTH(curve));
}

/* Single trials have too few messages, but together they have enough. */
static void test_short_trials(void **unused)
{
	struct curves knees;
	char text[512];

	loads_init(&result, curve, ARRAY_LENGTH(curve));
	result.cases[0].trials[1].latency[5] = (double)NAN;
	curves_open(&knees, &result, &load_knee_kind);
	assert_true(knees.curve[0].at.is_pooled);
	assert_near(knees.curve[0].at.y, 1600, 1);
	curve_tell(&knees.curve[0], &load_knee_kind, text);
	assert_string_equal(text, "knee: send/load/64/poll/rate400000: 400000 msg/s with a p99 of "
				  "1.6 us; above it, 500000 msg/s: 2.4 us, saturated");
	curves_close(&knees);
}

/* Cases without a point are listed as omitted. */
static void test_omitted_cases(void **unused)
{
	struct curves knees;
	char text[512];
	json_t *made;
	const json_t *left_out;

	loads_init(&result, curve, ARRAY_LENGTH(curve));
	result.cases[2].status = RESULT_FAILED;
	hist_init(result.cases[3].latency);
	curves_open(&knees, &result, &load_knee_kind);
	assert_int_equal(knees.count, 1);
	curve_tell(&knees.curve[0], &load_knee_kind, text);
	assert_string_equal(
		text,
		"no knee up to send/load/64/poll/rate400000: 400000 msg/s with a "
		"p99 of 1.6 us (medians of trials); omitted: send/load/64/poll/rate500000 (failed), "
		"and 1 more");
	curves_close(&knees);
	made = load_knees_make(&result);
	left_out = json_object_get(json_array_get(made, 0), "left_out");
	assert_int_equal(json_array_size(left_out), 2);
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(left_out, 1), "reason")),
		"no p99");
	json_decref(made);
}

/* If all rates are too high, the knee is below the lowest. */
static void test_below(void **unused)
{
	static const struct load_row rows[] = {
		{300000, 9000, true },
		{100000, 3000, true },
		{200000, 4000, false},
		{400000, 9000, true },
	};
	struct curves knees;
	char text[512];
	json_t *made;
	const json_t *below;

	loads_init(&result, rows, ARRAY_LENGTH(rows));
	result.cases[3].status = RESULT_FAILED;
	curves_open(&knees, &result, &load_knee_kind);
	assert_int_equal(knees.count, 1);
	curve_tell(&knees.curve[0], &load_knee_kind, text);
	assert_string_equal(text, "the knee is below send/load/64/poll/rate100000: the lowest "
				  "rate, 100000 msg/s, was already saturated; omitted: "
				  "send/load/64/poll/rate400000 (failed)");
	curves_close(&knees);
	made = load_knees_make(&result);
	assert_int_equal(json_array_size(made), 1);
	assert_int_equal(json_object_size(json_array_get(made, 0)), 2);
	below = json_object_get(json_array_get(made, 0), "below");
	assert_near(json_number_value(json_object_get(below, "rate")), 100000, 0);
	assert_int_equal(json_array_size(json_object_get(json_array_get(made, 0), "left_out")), 1);
	json_decref(made);
}

/* The table and the page show a knee below the lowest rate. */
static void test_below_shown(void **unused)
{
	static const struct load_row rows[] = {
		{100000, 3000, true},
		{200000, 4000, true},
		{300000, 9000, true},
	};
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct table table;

	loads_init(&result, rows, ARRAY_LENGTH(rows));
	table_open(&table, &(struct terminal){.out = out}, NULL, &result);
	table_foot(&table);
	page_add(out, &(struct charts){.result = &result}, "it");
	fclose(out);
	assert_contains(text, "\nthe knee is below send/load/64/poll/rate100000: ");
	assert_contains(text, "<li>the knee is below send/load/64/poll/rate100000: ");
	free(text);
}

/* Two points are not a curve, and failed cases are not points. */
static void test_no_curve(void **unused)
{
	struct curves knees;

	loads_init(&result, curve, ARRAY_LENGTH(curve));
	for (size_t i = 0; i < 3; i++)
		result.cases[i].status = RESULT_FAILED;
	curves_open(&knees, &result, &load_knee_kind);
	assert_int_equal(knees.count, 0);
	curves_close(&knees);
	assert_null(load_knees_make(&result));
}

/* Table, page and document show the knee. */
static void test_shown(void **unused)
{
	json_t *document;
	json_t *knee;
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct table table;

	loads_init(&result, curve, ARRAY_LENGTH(curve));
	table_open(&table, &(struct terminal){.out = out}, NULL, &result);
	table_foot(&table);
	page_add(out, &(struct charts){.result = &result}, "it");
	fclose(out);
	assert_contains(text, "\nknee: send/load/64/poll/rate400000: 400000 msg/s");
	assert_contains(text, "<li>knee: send/load/64/poll/rate400000: 400000 msg/s");
	free(text);
	document = document_make(&result);
	assert_int_equal(json_array_size(json_object_get(document, "knees")), 1);
	knee = json_array_get(json_object_get(document, "knees"), 0);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(knee, "beyond"), "case")),
		"send/load/64/poll/rate500000");
	assert_near(json_number_value(json_object_get(json_object_get(knee, "at"), "p99_ns")), 1600,
		    0);
	json_decref(document);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_server),
		cmocka_unit_test(test_other_servers),
		cmocka_unit_test_teardown(test_result, close_result),
		cmocka_unit_test_teardown(test_two_curves, close_result),
		cmocka_unit_test_teardown(test_stalled_trial, close_result),
		cmocka_unit_test_teardown(test_short_trials, close_result),
		cmocka_unit_test_teardown(test_omitted_cases, close_result),
		cmocka_unit_test_teardown(test_below, close_result),
		cmocka_unit_test_teardown(test_below_shown, close_result),
		cmocka_unit_test_teardown(test_no_curve, close_result),
		cmocka_unit_test_teardown(test_shown, close_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
