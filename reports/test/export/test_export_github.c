/* SPDX-License-Identifier: MIT */
#include "reports/test/lib/exporting.h"

static void test_latencies(void **unused)
{
	exporting.choice.metric = EXPORT_LATENCY;
	exporting_check(&export_github, "[\n"
					"  {\n"
					"    \"name\": \"send/lat/64/poll p50\",\n"
					"    \"unit\": \"ns\",\n"
					"    \"value\": 1240.0,\n"
					"    \"extra\": \"trials: 3, latency: half\"\n"
					"  }\n"
					"]\n");
}

/* 42.4 MB/s are 0.3392 Gb/s; 12.4..72.4 MB/s are 0.0992..0.5792 Gb/s. */
static void test_rates(void **unused)
{
	exporting.choice.metric = EXPORT_BANDWIDTH;
	sample.server.kind = "soft";
	exporting_check(&export_github,
			"[\n"
			"  {\n"
			"    \"name\": \"write/bw/1000/event/server-poll/t16 bandwidth\",\n"
			"    \"unit\": \"Gb/s\",\n"
			"    \"value\": 0.3392,\n"
			"    \"range\": \"0.0992..0.5792\",\n"
			"    \"extra\": \"trials: 6\\n" BANNER_SOFT "\"\n"
			"  },\n"
			"  {\n"
			"    \"name\": \"write/bw/1000/event/server-poll/t16 messages\",\n"
			"    \"unit\": \"msg/s\",\n"
			"    \"value\": 42400.0,\n"
			"    \"range\": \"12400..72400\",\n"
			"    \"extra\": \"trials: 6\\n" BANNER_SOFT "\"\n"
			"  }\n"
			"]\n");
	assert_true(export_github.has_banner);
}

static void test_twice(void **unused)
{
	exporting.choice.metric = EXPORT_LATENCY;
	exporting_open(&export_github);
	assert_int_equal(exporting_add(&sample, "a.json"), 0);
	exporting_refused(
		exporting_add(&sample, "b.json"), -EEXIST,
		"b.json: send/lat/64/poll is already in a.json, and the format allows only one; "
		"merge both with 'report --merge'");
}

/* The error suggests a merge only if it is possible: not for other hosts or imported results. */
static void test_cannot_be_merged(void **unused)
{
	for (int is_imported = 0; is_imported < 2; is_imported++) {
		exporting.choice.metric = EXPORT_LATENCY;
		exporting_open(&export_github);
		exporting.error = (struct error){0};
		if (is_imported)
			sample.imported = sample_json("{\"format\": \"perftest\"}");
		assert_int_equal(exporting_add(&sample, "a.json"), 0);
		snprintf(sample.server.host, sizeof(sample.server.host), "n0%d", 3 - is_imported);
		exporting_refused(
			exporting_add(&sample, "b.json"), -EEXIST,
			"b.json: send/lat/64/poll is already in a.json, and the format allows only "
			"one; export each to its own file");
		if (!is_imported)
			export_github.close(exporting.state);
	}
}

static void test_nothing(void **unused)
{
	exporting.choice.metric = EXPORT_BANDWIDTH;
	sample.cases[SAMPLE_BANDWIDTH].status = RESULT_INTERRUPTED;
	exporting_open(&export_github);
	assert_int_equal(exporting_add(&sample, "a.json"), 0);
	exporting_refused(exporting_finish(), -ENODATA, "no case has a bandwidth");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		exporting_test(test_latencies), exporting_test(test_rates),
		exporting_test(test_twice),     exporting_test(test_cannot_be_merged),
		exporting_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
