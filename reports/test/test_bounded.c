/* SPDX-License-Identifier: MIT */
#include "reports/bounded.h"
#include "reports/test/sample.h"

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
	/* Three trials have no interval of 95 %. */
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
	/* What has arrived, where that is less than what was sent. */
	line->trials[5].messages_per_s -= 6;
	bounded_rate(&figure, line);
	assert_near(figure.value, 42399, 1e-9);
	bounded_rate(&figure, &sample.cases[SAMPLE_LATENCY]);
	assert_true(isnan(figure.value));
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
		cmocka_unit_test_setup_teardown(test_incomplete, open_sample, close_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
