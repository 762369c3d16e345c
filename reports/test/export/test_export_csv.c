/* SPDX-License-Identifier: MIT */
#include "reports/table/csv.h"
#include "reports/test/lib/exporting.h"

/* The rows are those of report, with a single header. */
static void test_several(void **unused)
{
	static const char head[] = "file,case,op,metric,bytes,cq,server_cq,transport,qps,threads,";

	exporting_open(&export_csv);
	assert_int_equal(exporting_add(&sample, "a.json"), 0);
	assert_int_equal(exporting_add(&sample, "b,c"), 0);
	assert_int_equal(exporting_finish(), 0);
	assert_int_equal(strncmp(exporting.text, head, strlen(head)), 0);
	assert_null(strstr(exporting.text + 1, head));
	assert_contains(exporting.text, "\na.json,send/lat/64/poll,send,lat,64,poll,poll,RC,,,64,"
					"half,complete,,p50,ns,1240,,\n");
	assert_contains(exporting.text, "\n\"b,c\",send/lat/64/poll,send,lat,64,poll,poll,RC,,,64,"
					"half,complete,3,min,ns,1240,,\n");
	assert_contains(
		exporting.text,
		"\na.json,write/bw/1000/event/server-poll/t16,write,bw,1000,event,poll,RC,,,16,,"
		"complete,,bytes_per_s,B/s,42400000,12400000,72400000\n");
	assert_contains(exporting.text,
			"\na.json,read/bw/64/poll/t4/Q5,read,bw,64,poll,poll,RC,,,,,"
			"skipped,,,,,,\n");
	assert_false(export_csv.has_banner);
}

static void test_nothing(void **unused)
{
	exporting_open(&export_csv);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		exporting_test(test_several),
		exporting_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
