/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "core/test/lib/check.h"
#include "reports/finding/threshold.h"
#include "reports/test/lib/sample.h"

static struct result result;
static struct threshold_list limits;
static struct error error;

static int open_sample(void **unused)
{
	sample_init(&result);
	limits = (struct threshold_list){0};
	error = (struct error){0};
	return 0;
}

static int close_sample(void **unused)
{
	result_finish(&result);
	return 0;
}

static void test_parsed(void **unused)
{
	assert_null(threshold_parse_below("90%line,50Gb/s,1.2Mmsg/s", &limits));
	assert_null(threshold_parse_above("p99=5us,p99.9=12.5ms,p99_99=1s,max=800ns", &limits));
	assert_null(threshold_parse_above("mean=1us", &limits));
	assert_int_equal(limits.count, 8);
	assert_string_equal(limits.limit[0].text, "90%line");
	assert_true(limits.limit[0].bound == 90);
	assert_null(limits.limit[2].statistic);
	assert_true(limits.limit[2].bound == 1.2);
	assert_string_equal(limits.limit[3].text, "5us");
	assert_string_equal(limits.limit[3].statistic->key, "p99");
	assert_string_equal(limits.limit[4].statistic->key, "p99_9");
	assert_true(limits.limit[4].bound == 12.5);
	assert_string_equal(limits.limit[5].statistic->key, "p99_99");
	assert_string_equal(limits.limit[6].statistic->key, "max");
	assert_string_equal(limits.limit[7].statistic->key, "mean");
}

static void test_rejects_malformed_limits(void **unused)
{
	static const char *const below[] = {
		"",        "90",           "90%",
		"%line",   "-1Gb/s",       "+1Gb/s",
		"1e3Gb/s", "1Gbps",        "50gb/s",
		"50Gb/S",  "5us",          "p99=5us",
		"0Gb/s",   "0.0%line",     "1.Gb/s",
		".5Gb/s",  "1.2.3Gb/s",    "0x1Gb/s",
		"infGb/s", "nanGb/s",      "1 Gb/s",
		" 1Gb/s",  "1Gb/s ",       "1Gb/s,",
		",1Gb/s",  "1Gb/s,,2Gb/s", "1111111111111111111111111111Gb/s",
	};
	static const char *const above[] = {
		"",         "5us",     "p99",      "p99=",      "=5us",      "p98=5us",  "p9=5us",
		"p999=5us", "P99=5us", "p99=5",    "p99=5Gb/s", "p99=-5us",  "p99==5us", "p99=0us",
		"p99=5us,", "p99:5us", "p99=5 us", "p99=5US",   "count=3us",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(below); i++) {
		limits.count = 0;
		if (!threshold_parse_below(below[i], &limits))
			fail_msg("'%s' was accepted", below[i]);
	}
	for (size_t i = 0; i < ARRAY_LENGTH(above); i++) {
		limits.count = 0;
		if (!threshold_parse_above(above[i], &limits))
			fail_msg("'%s' was accepted", above[i]);
	}
}

static void test_too_many(void **unused)
{
	for (size_t i = 0; i < THRESHOLDS_MOST; i++)
		assert_null(threshold_parse_below("1Gb/s", &limits));
	assert_string_equal(threshold_parse_below("1Gb/s", &limits),
			    "exceeds the maximum of 16 limits");
	assert_string_equal(threshold_parse_above("max=1s", &limits),
			    "exceeds the maximum of 16 limits");
	assert_int_equal(limits.count, THRESHOLDS_MOST);
}

/* sentence: the expected error; NULL: the case meets the limit. */
static void check(const struct result_case *line, const char *below, const char *above,
		  const char *sentence)
{
	limits.count = 0;
	error = (struct error){0};
	assert_null(below ? threshold_parse_below(below, &limits)
			  : threshold_parse_above(above, &limits));
	assert_int_equal(threshold_check(&limits.limit[0], &result, line, &error),
			 sentence ? -ERANGE : 0);
	assert_string_equal(error.text, sentence ? sentence : "");
}

/*
 * 6360 messages of 1000 bytes in 150 ms: 42.4 MB/s, 339.2 Mb/s, 42400 msg/s, and 13.568 % of the
 * server's 2.5 Gb/s link.
 */
static void test_bandwidths(void **unused)
{
#define ID "write/bw/1000/event/server-poll/t16: "
	static const struct {
		const char *limit;
		const char *sentence;
	} rows[] = {
		{"42.4MB/s",     NULL					},
		{"339.2Mb/s",    NULL					},
		{"0.3392Gb/s",   NULL					},
		{"0.3392gbit",   NULL					},
		{"339200kbit",   NULL					},
		{"90gbit",       ID "0.339 Gb/s is below 90gbit"             },
		{"0.34Gbit",     ID "0.339 Gb/s is below 0.34Gbit"           },
		{"339200001bit", ID "339200000 b/s is below 339200001bit"    },
		{"42.4kmsg/s",   NULL					},
		{"13.568%line",  NULL					},
		{"40.4MiB/s",    NULL					},
		{"41406KiB/s",   NULL					},
		{"41407KiB/s",   ID "41406 KiB/s is below 41407KiB/s"        },
		{"40.5MiB/s",    ID "40.4 MiB/s is below 40.5MiB/s"          },
		{"0.04GB/s",     NULL					},
		{"0.05GB/s",     ID "0.0424 GB/s is below 0.05GB/s"          },
		{"42.41MB/s",    ID "42.4 MB/s is below 42.41MB/s"           },
		{"50Gb/s",       ID "0.339 Gb/s is below 50Gb/s"             },
		{"0.33921Gb/s",  ID "0.339 Gb/s is below 0.33921Gb/s"        },
		{"42401msg/s",   ID "42400 msg/s is below 42401msg/s"        },
		{"1.2Mmsg/s",    ID "0.0424 Mmsg/s is below 1.2Mmsg/s"       },
		{"90%line",      ID "13.6% of the line is below 90%line"     },
		{"13.57%line",   ID "13.568% of the line is below 13.57%line"},
		{"42400001B/s",  ID "42400000 B/s is below 42400001B/s"      },
		{"339200001b/s", ID "339200000 b/s is below 339200001b/s"    },
		{"0.001TB/s",    ID "4.24e-05 TB/s is below 0.001TB/s"       },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		check(&result.cases[SAMPLE_BANDWIDTH], rows[i].limit, NULL, rows[i].sentence);
	/* The slower link of client and server counts. */
	result.client.rate_mbps = 1000;
	check(&result.cases[SAMPLE_BANDWIDTH], "50%line", NULL,
	      ID "33.9% of the line is below 50%line");
	result.client.rate_mbps = 0;
	check(&result.cases[SAMPLE_BANDWIDTH], "1%line", NULL,
	      ID "link rate is unknown; cannot check 1%line");
#undef ID
}

/* 61 samples; the 31st is 1240 ns. Ten lie above the median, six above the 90th percentile. */
static void test_latencies(void **unused)
{
	static const struct {
		const char *limit;
		const char *sentence;
	} rows[] = {
		{"p50=1240ns",   NULL								},
		{"p50=1.24us",   NULL								},
		{"min=1.23us",   NULL								},
		{"p50=1239ns",   "send/lat/64/poll: p50 1240 ns is above 1239ns"                     },
		{"p50=1.2us",    "send/lat/64/poll: p50 1.24 us is above 1.2us"                      },
		{"p50=1.2399us", "send/lat/64/poll: p50 1.24 us is above 1.2399us"                   },
		{"max=137s",     "send/lat/64/poll: max 137.4 s is above 137s"                       },
		{"max=138s",     NULL								},
		{"p90=1ms",      "send/lat/64/poll: p90 is unknown: it has 61 samples but needs 100" },
		{"p99=5us",      "send/lat/64/poll: p99 is unknown: it has 61 samples but needs 1000"},
		{"p99.9=5us",
		 "send/lat/64/poll: p99.9 is unknown: it has 61 samples but needs 10000"             },
		{"p99_99=5s",
		 "send/lat/64/poll: p99_99 is unknown: it has 61 samples but needs 100000"           },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		check(&result.cases[SAMPLE_LATENCY], NULL, rows[i].limit, rows[i].sentence);
}

/* 4100 ns are exactly 4.1 us, which does not exceed the limit. */
static void test_at_the_bound(void **unused)
{
	struct result_case *line = &result.cases[SAMPLE_LATENCY];

	for (uint64_t ns = 1; ns < 100000; ns += 7) {
		char text[32];

		hist_init(line->latency);
		hist_add(line->latency, ns);
		snprintf(text, sizeof(text), "max=%d.%03dus", (int)(ns / 1000), (int)(ns % 1000));
		check(line, NULL, text, NULL);
	}
}

static void test_unknown_deviation(void **unused)
{
	hist_init(result.cases[SAMPLE_LATENCY].latency);
	hist_add(result.cases[SAMPLE_LATENCY].latency, 1230);
	check(&result.cases[SAMPLE_LATENCY], NULL, "stddev=1s",
	      "send/lat/64/poll: stddev is unknown");
	check(&result.cases[SAMPLE_LATENCY], NULL, "mean=1us",
	      "send/lat/64/poll: mean 1.23 us is above 1us");
}

/* A limit ignores cases of the other metric and cases that are not complete. */
static void test_ignores_other_cases(void **unused)
{
	check(&result.cases[SAMPLE_LATENCY], "1000Gb/s", NULL, NULL);
	check(&result.cases[SAMPLE_BANDWIDTH], NULL, "max=1ns", NULL);
	check(&result.cases[SAMPLE_FAILED], NULL, "max=1ns", NULL);
	check(&result.cases[SAMPLE_SKIPPED], "1000Gb/s", NULL, NULL);
	result.cases[SAMPLE_LATENCY].status = RESULT_FAILED;
	check(&result.cases[SAMPLE_LATENCY], NULL, "max=1ns", NULL);
}

/* A limit that applies to no case is an error. */
static void test_use(void **unused)
{
	assert_null(threshold_parse_below("90%line", &limits));
	assert_null(threshold_parse_above("p99.9=5us", &limits));
	assert_int_equal(threshold_check_use(&limits.limit[0], &result, &error), 0);
	assert_int_equal(threshold_check_use(&limits.limit[1], &result, &error), 0);
	result.cases[SAMPLE_BANDWIDTH].status = RESULT_INTERRUPTED;
	assert_int_equal(threshold_check_use(&limits.limit[0], &result, &error), -ENOENT);
	assert_string_equal(error.text, "no case has a bandwidth to check against 90%line");
	error = (struct error){0};
	result.n_cases = 0;
	assert_int_equal(threshold_check_use(&limits.limit[1], &result, &error), -ENOENT);
	assert_string_equal(error.text, "no case has a latency to check against p99.9=5us");
	result.n_cases = SAMPLE_CASES;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_parsed, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_rejects_malformed_limits, open_sample,
						close_sample),
		cmocka_unit_test_setup_teardown(test_too_many, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_bandwidths, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_latencies, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_at_the_bound, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_unknown_deviation, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_ignores_other_cases, open_sample,
						close_sample),
		cmocka_unit_test_setup_teardown(test_use, open_sample, close_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
