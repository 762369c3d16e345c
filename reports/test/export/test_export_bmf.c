/* SPDX-License-Identifier: MIT */
#include "reports/test/lib/exporting.h"

/*
 * 61 samples, 20 of 1230 and 20 of 1240: the 31st is 1240. Six trials of (300 k + 10) messages
 * in 25 ms are 6360 in 150 ms; rates are between 12400 and 72400 msg/s, and six trials are just
 * enough for an interval. A message has 1000 bytes.
 */
static void test_sample(void **unused)
{
	exporting_check(&export_bmf, "{\n"
				     "  \"send/lat/64/poll\": {\n"
				     "    \"latency\": {\n"
				     "      \"value\": 1240.0\n"
				     "    }\n"
				     "  },\n"
				     "  \"write/bw/1000/event/server-poll/t16\": {\n"
				     "    \"throughput\": {\n"
				     "      \"value\": 42400.0,\n"
				     "      \"lower_value\": 12400.0,\n"
				     "      \"upper_value\": 72400.0\n"
				     "    },\n"
				     "    \"bandwidth\": {\n"
				     "      \"value\": 42400000.0,\n"
				     "      \"lower_value\": 12400000.0,\n"
				     "      \"upper_value\": 72400000.0\n"
				     "    }\n"
				     "  }\n"
				     "}\n");
	assert_false(export_bmf.has_banner);
}

/* A load's rate is an input, not a measured figure. */
static void test_load(void **unused)
{
	static const struct load_row row = {200000, 1500, false};

	result_finish(&sample);
	loads_init(&sample, &row, 1);
	exporting_check(&export_bmf, "{\n"
				     "  \"send/load/64/poll/rate200000\": {\n"
				     "    \"latency\": {\n"
				     "      \"value\": 1500.0\n"
				     "    },\n"
				     "    \"latency-p99\": {\n"
				     "      \"value\": 1500.0\n"
				     "    }\n"
				     "  }\n"
				     "}\n");
}

static void test_several(void **unused)
{
	struct result other;
	int code;

	sample_init(&other);
	snprintf(other.cases[SAMPLE_LATENCY].id, sizeof(other.cases->id), "send/lat/8/poll");
	other.cases[SAMPLE_BANDWIDTH].status = RESULT_FAILED;
	exporting_open(&export_bmf);
	assert_int_equal(exporting_add(&sample, "a.json"), 0);
	assert_int_equal(exporting_add(&other, "b.json"), 0);
	code = exporting_add(&other, "c.json");
	result_finish(&other);
	exporting_refused(
		code, -EEXIST,
		"c.json: send/lat/8/poll is already in b.json, and the format allows only one; "
		"merge both with 'report --merge'");
	assert_int_equal(exporting_finish(), 0);
	assert_contains(exporting.text, "\"send/lat/64/poll\": {");
	assert_contains(exporting.text, "\"send/lat/8/poll\": {");
}

static void test_nothing(void **unused)
{
	sample.n_cases = 0;
	exporting_open(&export_bmf);
	assert_int_equal(exporting_add(&sample, "a.json"), 0);
	exporting_refused(exporting_finish(), -ENODATA, "no case has a figure for Bencher");
	sample.n_cases = SAMPLE_CASES;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		exporting_test(test_sample),
		exporting_test(test_load),
		exporting_test(test_several),
		exporting_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
