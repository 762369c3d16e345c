/* SPDX-License-Identifier: MIT */
#include "core/test/check.h"
#include "reports/table.h"
#include "reports/test/sample.h"

static struct sample sample;

static int open_sample(void **unused)
{
	sample_init(&sample);
	return 0;
}

static int close_sample(void **unused)
{
	sample_finish(&sample);
	return 0;
}

static void check_line(const struct result_case *line, const char *wanted)
{
	char text[1024] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_non_null(out);
	table_line(out, line);
	fclose(out);
	assert_string_equal(text, wanted);
}

static void test_head(void **unused)
{
	char text[1024] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_non_null(out);
	table_head(out, &sample.result);
	fclose(out);
	assert_string_equal(text,
			    "n01 mlx5_0/1 -> n02 mlx5_1/2  Ethernet 100 Gb/s MTU 4096 RC\n"
			    "LATENCY us        bytes cq             kind             min      mean"
			    "       p50       p99     p99.9       max  CPU us/msg near/far\n");
}

/* 3 us of 21 messages at the near end, 0.5 us of 121 at the far one. */
static void test_line(void **unused)
{
	sample.cases[0].latency->max = 1250;
	sample.cases[0].latency->sum = 24760;
	sample.cases[0].latency->count = 20;
	check_line(&sample.cases[0], "send                 64 poll           half            1.23"
				     "      1.24      1.23         -         -      1.25  "
				     "3.00/0.50\n");
}

static void test_two_modes(void **unused)
{
	hist_init(&sample.latency);
	hist_add(&sample.latency, 1234567);
	sample.cases[0].cq = "adaptive";
	sample.cases[0].server_cq = "event";
	sample.cases[0].kind = RESULT_COMPLETION;
	sample.cases[0].size = 1073741824;
	sample.cases[0].server.messages = 0;
	check_line(&sample.cases[0], "send           1073741824 adaptive/event completion   1234.57"
				     "   1234.57         -         -         -   1234.57  "
				     "3.00/0.00\n");
}

static void test_cases_without_figures(void **unused)
{
	check_line(&sample.cases[1], "write/lat/4k/event/server-poll: no completion for 5 s\n");
	check_line(&sample.cases[2], "read/lat/1m/adaptive: interrupted\n");
	/* What a failed case has counted so far is no result. */
	sample.cases[1].latency = &sample.latency;
	check_line(&sample.cases[1], "write/lat/4k/event/server-poll: no completion for 5 s\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_head, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_line, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_two_modes, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_cases_without_figures, open_sample,
						close_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
