/* SPDX-License-Identifier: MIT */
#include "reports/test/lib/exporting.h"

#define HEAD "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"

/* Three trials of 50 us, six of 25 ms. The samples sum to 2^37 + 20 (1230 + 1240 + 1250). */
static void test_sample(void **unused)
{
	snprintf(sample.cases[SAMPLE_FAILED].error, sizeof(sample.cases->error),
		 "a < \"b\" & c\x01");
	exporting_check(
		&export_junit, HEAD
		"<testsuites>\n"
		"<testsuite id=\"0\" package=\"verbmark\" name=\"a.json\" tests=\"5\" failures=\"1\" "
		"errors=\"1\" skipped=\"1\" time=\"1\" timestamp=\"2001-02-03T04:05:06\" "
		"hostname=\"n01\">\n"
		"<properties>\n"
		"<property name=\"verbmark\" value=\"1.2.3\"/>\n"
		"<property name=\"status\" value=\"interrupted\"/>\n"
		"<property name=\"client\" value=\"n01 mlx5_0/1\"/>\n"
		"<property name=\"server\" value=\"n02 mlx5_1/2\"/>\n"
		"<property name=\"send/lat/64/poll min_ns\" value=\"1230\"/>\n"
		"<property name=\"send/lat/64/poll mean_ns\" value=\"2253098817.57377\"/>\n"
		"<property name=\"send/lat/64/poll stddev_ns\" value=\"17597254625.0316\"/>\n"
		"<property name=\"send/lat/64/poll p50_ns\" value=\"1240\"/>\n"
		"<property name=\"send/lat/64/poll max_ns\" value=\"137438953472\"/>\n"
		"<property name=\"send/lat/64/poll kind\" value=\"half\"/>\n"
		"<property name=\"send/lat/64/poll messages\" value=\"61\"/>\n"
		"<property name=\"send/lat/64/poll trials\" value=\"3\"/>\n"
		"<property name=\"write/bw/1000/event/server-poll/t16 bytes_per_s\" value=\"42400000\"/>\n"
		"<property name=\"write/bw/1000/event/server-poll/t16 bytes_per_s_low\" value=\"12400000\"/>\n"
		"<property name=\"write/bw/1000/event/server-poll/t16 bytes_per_s_high\" value=\"72400000\"/>\n"
		"<property name=\"write/bw/1000/event/server-poll/t16 messages_per_s\" value=\"42400\"/>\n"
		"<property name=\"write/bw/1000/event/server-poll/t16 messages\" value=\"6360\"/>\n"
		"<property name=\"write/bw/1000/event/server-poll/t16 trials\" value=\"6\"/>\n"
		"</properties>\n"
		"<testcase name=\"send/lat/64/poll\" classname=\"send.lat\" time=\"0.000150\">\n"
		"</testcase>\n"
		"<testcase name=\"write/bw/1000/event/server-poll/t16\" classname=\"write.bw\" "
		"time=\"0.150000\">\n"
		"</testcase>\n"
		"<testcase name=\"write/lat/4k/event/server-poll\" classname=\"write.lat\" "
		"time=\"0.000000\">\n"
		"<failure message=\"a &lt; &quot;b&quot; &amp; c?\" type=\"failed\"/>\n"
		"</testcase>\n"
		"<testcase name=\"read/bw/64/poll/t4/Q5\" classname=\"read.bw\" time=\"0.000000\">\n"
		"<skipped message=\"--cq-mod exceeds --tx-depth\"/>\n"
		"</testcase>\n"
		"<testcase name=\"read/lat/1m/adaptive\" classname=\"read.lat\" time=\"0.000000\">\n"
		"<error message=\"interrupted\" type=\"interrupted\"/>\n"
		"</testcase>\n"
		"<system-out></system-out>\n"
		"<system-err/>\n"
		"</testsuite>\n"
		"</testsuites>\n");
}

/* Each result is a suite of the same document, even if they have cases in common. */
static void test_several(void **unused)
{
	sample.client.kind = "soft";
	exporting_open(&export_junit);
	assert_int_equal(exporting_add(&sample, "<a>"), 0);
	sample.n_cases = 1;
	assert_int_equal(exporting_add(&sample, "b\xff"), 0);
	sample.n_cases = SAMPLE_CASES;
	assert_int_equal(exporting_finish(), 0);
	assert_contains(exporting.text, "<testsuite id=\"0\" package=\"verbmark\" "
					"name=\"&lt;a&gt;\" tests=\"5\" ");
	assert_contains(exporting.text, "<testsuite id=\"1\" package=\"verbmark\" "
					"name=\"b?\" tests=\"1\" failures=\"0\" ");
	assert_contains(exporting.text, "<property name=\"device\" value=\"" BANNER_SOFT "\"/>\n");
	assert_contains(exporting.text,
			"<system-out>" BANNER_SOFT "</system-out>\n<system-err/>\n</testsuite>\n");
	assert_true(export_junit.has_banner);
}

static void test_interval(void **unused)
{
	struct result_case *line = &sample.cases[SAMPLE_BANDWIDTH];

	/* Add latencies with medians of 10, 20, ... 60 in the six trials. */
	line->latency = malloc(sizeof(*line->latency));
	assert_non_null(line->latency);
	sample_fill(line->latency, 35, false);
	for (size_t i = 0; i < line->n_trials; i++)
		line->trials[i].latency[3] = 10 * (double)(i + 1);
	exporting_open(&export_junit);
	assert_int_equal(exporting_add(&sample, "a"), 0);
	assert_int_equal(exporting_finish(), 0);
	assert_contains(
		exporting.text,
		"<property name=\"write/bw/1000/event/server-poll/t16 p50_ns\" value=\"35\"/>\n"
		"<property name=\"write/bw/1000/event/server-poll/t16 p50_low_ns\" value=\"10\"/>\n"
		"<property name=\"write/bw/1000/event/server-poll/t16 p50_high_ns\" value=\"60\"/>\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		exporting_test(test_sample),
		exporting_test(test_several),
		exporting_test(test_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
