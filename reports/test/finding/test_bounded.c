/* SPDX-License-Identifier: MIT */
#include "reports/finding/bounded.h"
#include "reports/test/lib/sample.h"

static struct result sample;

static int open_sample(void **unused)
{
	sample_init(&sample);
	return 0;
}

static int close_sample(void **unused)
{
	result_finish(&sample);
	return 0;
}

static void test_latency(void **unused)
{
	struct bounded figure;

	bounded_latency(&figure, &sample.cases[SAMPLE_LATENCY], "p50");
	assert_near(figure.value, 1240, 0);
	/* Three trials are too few for a 95 % interval. */
	assert_true(isnan(figure.low) && isnan(figure.high));
	bounded_latency(&figure, &sample.cases[SAMPLE_LATENCY], "p99");
	assert_true(isnan(figure.value));
	bounded_latency(&figure, &sample.cases[SAMPLE_LATENCY], "p51");
	assert_true(isnan(figure.value));
	bounded_latency(&figure, &sample.cases[SAMPLE_BANDWIDTH], "p50");
	assert_true(isnan(figure.value));
}

static void test_rate(void **unused)
{
	struct result_case *line = &sample.cases[SAMPLE_BANDWIDTH];
	struct bounded figure;

	bounded_rate(&figure, line);
	assert_near(figure.value, 42400, 1e-9);
	assert_near(figure.low, 12400, 0);
	assert_near(figure.high, 72400, 0);
	bounded_scale(&figure, 0.5);
	assert_near(figure.value, 21200, 1e-9);
	assert_near(figure.low, 6200, 0);
	assert_near(figure.high, 36200, 0);
	/* The two middle trials, 36400 and 48400, do not depend on the last one. */
	line->trials[5].messages_per_s *= 10;
	bounded_rate(&figure, line);
	assert_near(figure.value, 42400, 1e-9);
	bounded_rate(&figure, &sample.cases[SAMPLE_LATENCY]);
	assert_true(isnan(figure.value));
}

/*
 * The interval of nine values is from the second to the eighth, as in tables of the sign test. A
 * pooled value outside extends it.
 */
static void test_value_is_within(void **unused)
{
	struct result_trial trials[9] = {0};
	struct result_case line = {.trials = trials, .n_trials = 9};
	struct bounded figure;

	for (size_t i = 0; i < 9; i++)
		trials[i].messages_per_s = (double)(10 * i + 10);
	bounded_of(&figure, &line, &trials->messages_per_s, 50);
	assert_near(figure.value, 50, 0);
	assert_near(figure.low, 20, 0);
	assert_near(figure.high, 80, 0);
	bounded_of(&figure, &line, &trials->messages_per_s, 89);
	assert_near(figure.value, 89, 0);
	assert_near(figure.low, 20, 0);
	assert_near(figure.high, 89, 0);
	bounded_of(&figure, &line, &trials->messages_per_s, 11);
	assert_near(figure.low, 11, 0);
	assert_near(figure.high, 80, 0);
	/* If a trial has too few messages, the median over trials is unknown. */
	trials[3].messages_per_s = (double)NAN;
	bounded_of(&figure, &line, &trials->messages_per_s, 89);
	assert_near(figure.value, 89, 0);
	assert_true(isnan(figure.low) && isnan(figure.high));
}

static void test_incomplete(void **unused)
{
	struct bounded figure;

	for (size_t i = 0; i < SAMPLE_CASES; i++) {
		sample.cases[i].status = RESULT_FAILED;
		bounded_latency(&figure, &sample.cases[i], "p50");
		assert_true(isnan(figure.value));
		bounded_rate(&figure, &sample.cases[i]);
		assert_true(isnan(figure.value) && isnan(figure.low));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_latency, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_rate, open_sample, close_sample),
		cmocka_unit_test(test_value_is_within),
		cmocka_unit_test_setup_teardown(test_incomplete, open_sample, close_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
