/* SPDX-License-Identifier: MIT */
#include "reports/test/lib/exporting.h"

#define ENDS "client=\"n01\",client_device=\"mlx5_0/1\",server=\"n02\",server_device=\"mlx5_1/2\""
#define CASE(id, op, metric, size, cq, server_cq)                                                  \
	"{" ENDS ",case=\"" id "\",op=\"" op "\",metric=\"" metric "\",size=\"" size "\",cq=\"" cq \
	"\",server_cq=\"" server_cq "\",transport=\"RC\""
#define LAT      CASE("send/lat/64/poll", "send", "lat", "64", "poll", "poll")
#define LAT_HALF LAT ",kind=\"half\""
#define BW       CASE("write/bw/1000/event/server-poll/t16", "write", "bw", "1000", "event", "poll")
#define FAILED   CASE("write/lat/4k/event/server-poll", "write", "lat", "4096", "event", "poll")
#define SKIPPED  CASE("read/bw/64/poll/t4/Q5", "read", "bw", "64", "poll", "poll")
#define NOT_RUN  CASE("read/lat/1m/adaptive", "read", "lat", "1048576", "adaptive", "adaptive")

/*
 * 61 samples: 20 each of 1230, 1240, 1250 ns, and one of 2^37 ns. They cost 189 us of CPU time on
 * the client, and 181.5 us for 366 messages on the server; 6360 messages cost 3 us, on one side.
 */
static void test_sample(void **unused)
{
	exporting_check(
		&export_prometheus,
		"# HELP verbmark_run_info Hosts and version of the run; always 1.\n"
		"# TYPE verbmark_run_info gauge\n"
		"verbmark_run_info{" ENDS ",version=\"1.2.3\",status=\"interrupted\"} 1\n"
		"# HELP verbmark_run_timestamp_seconds End of the run, in seconds since 1970.\n"
		"# TYPE verbmark_run_timestamp_seconds gauge\n"
		"verbmark_run_timestamp_seconds{" ENDS "} 981173107\n"
		"# HELP verbmark_case_status Always 1; the status label is complete, failed, "
		"skipped or interrupted.\n"
		"# TYPE verbmark_case_status gauge\n"
		"verbmark_case_status" LAT ",status=\"complete\"} 1\n"
		"verbmark_case_status" BW ",status=\"complete\"} 1\n"
		"verbmark_case_status" FAILED ",status=\"failed\"} 1\n"
		"verbmark_case_status" SKIPPED ",status=\"skipped\"} 1\n"
		"verbmark_case_status" NOT_RUN ",status=\"interrupted\"} 1\n"
		"# HELP verbmark_latency_seconds Message latency over all trials.\n"
		"# TYPE verbmark_latency_seconds summary\n"
		"verbmark_latency_seconds" LAT_HALF ",quantile=\"0.5\"} 1.24e-06\n"
		"verbmark_latency_seconds_sum" LAT_HALF "} 137.439027872\n"
		"verbmark_latency_seconds_count" LAT_HALF "} 61\n"
		"# HELP verbmark_latency_min_seconds Minimum latency.\n"
		"# TYPE verbmark_latency_min_seconds gauge\n"
		"verbmark_latency_min_seconds" LAT_HALF "} 1.23e-06\n"
		"# HELP verbmark_latency_max_seconds Maximum latency.\n"
		"# TYPE verbmark_latency_max_seconds gauge\n"
		"verbmark_latency_max_seconds" LAT_HALF "} 137.438953472\n"
		"# HELP verbmark_bandwidth_bytes_per_second Payload throughput in one direction, the median over "
		"trials.\n"
		"# TYPE verbmark_bandwidth_bytes_per_second gauge\n"
		"verbmark_bandwidth_bytes_per_second" BW "} 42400000\n"
		"# HELP verbmark_bandwidth_low_bytes_per_second Lower bound of the 95 % confidence "
		"interval of the throughput.\n"
		"# TYPE verbmark_bandwidth_low_bytes_per_second gauge\n"
		"verbmark_bandwidth_low_bytes_per_second" BW "} 12400000\n"
		"# HELP verbmark_bandwidth_high_bytes_per_second Upper bound of the 95 % confidence "
		"interval of the throughput.\n"
		"# TYPE verbmark_bandwidth_high_bytes_per_second gauge\n"
		"verbmark_bandwidth_high_bytes_per_second" BW "} 72400000\n"
		"# HELP verbmark_messages_per_second Message rate in one direction, the median over "
		"trials.\n"
		"# TYPE verbmark_messages_per_second gauge\n"
		"verbmark_messages_per_second" BW "} 42400\n"
		"# HELP verbmark_cpu_seconds_per_message CPU time per message on the client or "
		"server.\n"
		"# TYPE verbmark_cpu_seconds_per_message gauge\n"
		"verbmark_cpu_seconds_per_message" LAT ",end=\"client\"} 3.0983606557377e-06\n"
		"verbmark_cpu_seconds_per_message" LAT ",end=\"server\"} 4.95901639344262e-07\n"
		"verbmark_cpu_seconds_per_message" BW ",end=\"client\"} 4.71698113207547e-10\n"
		"verbmark_cpu_seconds_per_message" BW ",end=\"server\"} 0\n");
	assert_true(export_prometheus.has_banner);
}

static void test_load(void **unused)
{
	static const struct load_row row = {300000, 2500, true};

	result_finish(&sample);
	loads_init(&sample, &row, 1);
	sample.cases[0].sent = 7;
	sample.cases[0].lost = 2;
	exporting_open(&export_prometheus);
	assert_int_equal(exporting_add(&sample, "a.json"), 0);
	assert_int_equal(exporting_finish(), 0);
#define LOAD CASE("send/load/64/poll/rate300000", "send", "load", "64", "poll", "poll")
	assert_contains(exporting.text, "\nverbmark_load_messages_per_second" LOAD "} 300000\n");
	assert_contains(exporting.text, "\nverbmark_load_saturated" LOAD "} 1\n");
	assert_contains(exporting.text, "\nverbmark_sent_messages" LOAD "} 7\n");
	assert_contains(exporting.text, "\nverbmark_lost_messages" LOAD "} 2\n");
	assert_contains(exporting.text, "\nverbmark_latency_seconds" LOAD
					",kind=\"completion\",quantile=\"0.99\"} 2.5e-06\n");
	assert_null(strstr(exporting.text, "verbmark_messages_per_second"));
}

static void test_labels(void **unused)
{
	snprintf(sample.client.host, sizeof(sample.client.host), "a\\b\"c\nd{},");
	sample.server.kind = "soft";
	snprintf(sample.finished, sizeof(sample.finished), "yesterday");
	exporting_open(&export_prometheus);
	assert_int_equal(exporting_add(&sample, "a.json"), 0);
	assert_int_equal(exporting_finish(), 0);
	assert_contains(exporting.text, "# " BANNER_SOFT "\n# HELP verbmark_run_info ");
	assert_contains(
		exporting.text,
		"\nverbmark_run_info{client=\"a\\\\b\\\"c\\nd{},\",client_device=\"mlx5_0/1\","
		"server=\"n02\",server_device=\"mlx5_1/2\",software_device=\"true\",");
	assert_null(strstr(exporting.text, "timestamp"));
}

/* All samples of a metric are adjacent. */
static void test_several(void **unused)
{
	struct result other;
	const char *first;

	sample_init(&other);
	snprintf(other.client.device, sizeof(other.client.device), "mlx5_2");
	exporting_open(&export_prometheus);
	assert_int_equal(exporting_add(&sample, "a.json"), 0);
	assert_int_equal(exporting_add(&other, "b.json"), 0);
	result_finish(&other);
	assert_int_equal(exporting_finish(), 0);
	first = strstr(exporting.text, "# TYPE verbmark_messages_per_second gauge\n");
	assert_non_null(first);
	assert_contains(first, "} 42400\nverbmark_messages_per_second{client=\"n01\","
			       "client_device=\"mlx5_2/1\"");
	assert_null(strstr(first + 1, "# TYPE verbmark_messages_per_second"));
}

static void test_refused(void **unused)
{
	exporting_open(&export_prometheus);
	assert_int_equal(exporting_add(&sample, "a.json"), 0);
	exporting_refused(
		exporting_add(&sample, "b.json"), -EEXIST,
		"b.json: n01 mlx5_0/1 -> n02 mlx5_1/2 is already in a.json, and the format "
		"allows only one; merge both with 'report --merge'");
}

static void test_twice(void **unused)
{
	struct result_case *line = &sample.cases[SAMPLE_NOT_RUN];

	exporting_open(&export_prometheus);
	*line = sample.cases[SAMPLE_SKIPPED];
	exporting_refused(exporting_add(&sample, "a.json"), -EEXIST,
			  "a.json: duplicate case read/bw/64/poll/t4/Q5");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		exporting_test(test_sample),  exporting_test(test_load),
		exporting_test(test_labels),  exporting_test(test_several),
		exporting_test(test_refused), exporting_test(test_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
