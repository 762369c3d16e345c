/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "core/test/lib/check.h"
#include "reports/document/restore.h"
#include "reports/test/lib/sample.h"

static struct hist before;
static struct hist after;
static struct rate_windows shown;
static struct rate_windows restored;
static struct error error;

static int reset(void **unused)
{
	hist_init(&before);
	error = (struct error){0};
	return 0;
}

/* Makes the JSON of document.c, with the stddev rounded as in JSON. */
static json_t *latency_of(const struct hist *hist)
{
	json_t *bins = json_array();

	for (size_t i = 0; i < HIST_BINS; i++)
		if (hist->bins[i])
			json_array_append_new(bins, json_pack("[I, I, I]", (json_int_t)hist_low(i),
							      (json_int_t)hist_high(i),
							      (json_int_t)hist->bins[i]));
	return json_pack("{s:I, s:f, s:{s:s, s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:o}}", "count",
			 (json_int_t)hist->count, "stddev", hist_stddev(hist), "histogram",
			 "scheme", "log2-linear", "unit", "ns", "sub_bits", 10, "count",
			 (json_int_t)hist->count, "sum", (json_int_t)hist->sum, "min",
			 (json_int_t)(hist->count ? hist->min : 0), "max", (json_int_t)hist->max,
			 "over", (json_int_t)hist->over, "bins", bins);
}

static int restore(const char *text)
{
	json_t *latency = sample_json(text);
	int code = restore_hist(&after, latency, &error);

	json_decref(latency);
	return code;
}

static void check_again(void)
{
	json_t *latency = latency_of(&before);

	assert_int_equal(restore_hist(&after, latency, &error), 0);
	json_decref(latency);
	assert_int_equal(after.count, before.count);
	assert_int_equal(after.over, before.over);
	assert_int_equal(after.min, before.min);
	assert_int_equal(after.max, before.max);
	assert_int_equal(after.sum, before.sum);
	assert_memory_equal(after.bins, before.bins, sizeof(after.bins));
	assert_true(hist_stddev(&after) == hist_stddev(&before));
}

/* 12 x 1230^2 + 8 x 1250^2 = 30654800; 24760 / 20 = 1238, and 12 x 64 + 8 x 144 = 1920. */
static void test_by_hand(void **unused)
{
	assert_int_equal(
		restore("{\"count\": 20, \"stddev\": 10.052493799000692, \"histogram\": {"
			" \"scheme\": \"log2-linear\", \"sub_bits\": 10, \"unit\": \"ns\","
			" \"count\": 20, \"sum\": 24760, \"min\": 1230, \"max\": 1250, \"over\": 0,"
			" \"bins\": [[1230, 1231, 12], [1250, 1251, 8]]}}"),
		0);
	assert_int_equal(after.count, 20);
	assert_int_equal(after.sum, 24760);
	assert_int_equal(after.min, 1230);
	assert_int_equal(after.max, 1250);
	assert_int_equal(after.bins[1230], 12);
	assert_int_equal(after.bins[1250], 8);
	assert_true(after.sum_squares == 30654800);
}

/* An impossible stddev becomes the smallest one that the values allow. */
static void test_impossible_deviation(void **unused)
{
	assert_int_equal(restore("{\"count\": 3, \"stddev\": 0, \"histogram\": {"
				 " \"scheme\": \"log2-linear\", \"sub_bits\": 10, \"unit\": \"ns\","
				 " \"count\": 3, \"sum\": 4, \"min\": 1, \"max\": 2, \"over\": 0,"
				 " \"bins\": [[1, 2, 2], [2, 3, 1]]}}"),
			 0);
	assert_true(after.sum_squares == 1 + 1 + 4);
	assert_int_equal(restore("{\"count\": 4, \"stddev\": 0, \"histogram\": {"
				 " \"scheme\": \"log2-linear\", \"sub_bits\": 10, \"unit\": \"ns\","
				 " \"count\": 4, \"sum\": 38, \"min\": 9, \"max\": 10, \"over\": 0,"
				 " \"bins\": [[9, 10, 2], [10, 11, 2]]}}"),
			 0);
	assert_true(after.sum_squares == 81 + 81 + 100 + 100);
}

static void test_nothing_and_one(void **unused)
{
	check_again();
	assert_int_equal(after.min, UINT64_MAX);
	hist_add(&before, 4000000);
	check_again();
	assert_true(after.sum_squares == 16000000000000);
}

static uint64_t state = 1;

/* Knuth's MMIX: the upper bits are good. */
static uint64_t random_bits(unsigned int bits)
{
	state = state * 6364136223846793005U + 1442695040888963407U;
	return bits ? state >> (64 - bits) : 0;
}

/* Values from one nanosecond to beyond the bins, close together and far apart. */
static void test_any(void **unused)
{
	for (unsigned int i = 0; i < 1000; i++) {
		uint64_t base = random_bits(i % 38);
		unsigned int spread = i / 25;
		size_t n = 2 + (size_t)random_bits(i % 11);

		hist_init(&before);
		for (size_t j = 0; j < n; j++)
			hist_add(&before, base + random_bits(spread));
		check_again();
		/* Up to 2^50 about the mean, the squares are exact. */
		if (hist_stddev(&before) * hist_stddev(&before) * (double)n < 0x1p49)
			assert_true(after.sum_squares == before.sum_squares);
	}
}

#define HEAD "{\"count\": 2, \"stddev\": 1, \"histogram\": {"
#define OURS "\"scheme\": \"log2-linear\", \"unit\": \"ns\", \"sub_bits\": 10, "

static void test_rejects_inconsistent_histograms(void **unused)
{
	static const struct {
		const char *text;
		const char *sentence;
	} rows[] = {
		{"[]",									  "\"count\" is missing"              },
		{"{\"count\": 2}",							      "\"histogram\" is missing"          },
		{"{\"count\": -2, \"histogram\": {}}",                                          "\"count\" is not a count"          },
		{"{\"count\": 2.0, \"histogram\": {}}",                                         "\"count\" is not a count"          },
		{HEAD "\"scheme\": \"log10\", \"unit\": \"ns\", \"sub_bits\": 10}}",
		 "unsupported bins: log10"											  },
		{HEAD "\"scheme\": \"log2-linear\", \"unit\": \"s\", \"sub_bits\": 10}}",
		 "10 bits in s"												     },
		{HEAD "\"scheme\": \"log2-linear\", \"unit\": \"ns\", \"sub_bits\": 11}}",
		 "of 11 bits"												       },
		{HEAD OURS "\"count\": 2, \"sum\": 20, \"min\": 9, \"max\": 11, \"over\": 0}}",
		 "\"bins\" is missing"											      },
		{HEAD OURS "\"count\": 3, \"sum\": 20, \"min\": 9, \"max\": 11, \"over\": 0,"
			   "\"bins\": [[9, 10, 1], [11, 12, 1]]}}",            "do not add up to the count 3"      },
		{HEAD OURS "\"count\": 2, \"sum\": 20, \"min\": 9, \"max\": 11, \"over\": 1,"
			   "\"bins\": [[9, 10, 1], [11, 12, 1]]}}",            "do not add up to the count 2"      },
		{HEAD OURS "\"count\": 2, \"sum\": 21, \"min\": 9, \"max\": 11, \"over\": 0,"
			   "\"bins\": [[9, 10, 1], [11, 12, 1]]}}",            "do not allow the sum 21"           },
		{HEAD OURS "\"count\": 2, \"sum\": 19, \"min\": 9, \"max\": 11, \"over\": 0,"
			   "\"bins\": [[9, 10, 1], [11, 12, 1]]}}",            "do not allow the sum 19"           },
		{HEAD OURS "\"count\": 2, \"sum\": 4098, \"min\": 2049, \"max\": 2049, \"over\": 0,"
			   "\"bins\": [[2049, 2050, 2]]}}",		    "bin 0 is invalid"                  },
		{HEAD OURS "\"count\": 2, \"sum\": 4100, \"min\": 2048, \"max\": 2052, \"over\": 0,"
			   "\"bins\": [[2048, 2050, 1], [2052, 2054, 1]]}}",   NULL				},
		{HEAD OURS "\"count\": 2, \"sum\": 4103, \"min\": 2048, \"max\": 2052, \"over\": 0,"
			   "\"bins\": [[2048, 2050, 1], [2052, 2054, 1]]}}",   "do not allow the sum 4103"         },
		{HEAD OURS "\"count\": 2, \"sum\": 20, \"min\": 8, \"max\": 11, \"over\": 0,"
			   "\"bins\": [[9, 10, 1], [11, 12, 1]]}}",            "min and max do not match"          },
		{HEAD OURS "\"count\": 2, \"sum\": 20, \"min\": 9, \"max\": 12, \"over\": 0,"
			   "\"bins\": [[9, 10, 1], [11, 12, 1]]}}",            "min and max do not match"          },
		{HEAD OURS "\"count\": 2, \"sum\": 20, \"min\": 9, \"max\": 11, \"over\": 0,"
			   "\"bins\": [[11, 12, 1], [9, 10, 1]]}}",            "bin 1 is invalid or out of order"  },
		{HEAD OURS "\"count\": 2, \"sum\": 18, \"min\": 9, \"max\": 9, \"over\": 0,"
			   "\"bins\": [[9, 10, 1], [9, 10, 1]]}}",             "bin 1 is invalid"                  },
		{HEAD OURS "\"count\": 2, \"sum\": 20, \"min\": 9, \"max\": 11, \"over\": 0,"
			   "\"bins\": [[9, 12, 2]]}}",			 "bin 0 is invalid"                  },
		{HEAD OURS "\"count\": 2, \"sum\": 4098, \"min\": 2049, \"max\": 2049, \"over\": 0,"
			   "\"bins\": [[2049, 2051, 2]]}}",		    "bin 0 is invalid"                  },
		{HEAD OURS "\"count\": 2, \"sum\": 20, \"min\": 9, \"max\": 11, \"over\": 0,"
			   "\"bins\": [[9, 10, 0], [10, 11, 2]]}}",            "bin 0 is invalid"                  },
		{HEAD OURS "\"count\": 2, \"sum\": 20, \"min\": 9, \"max\": 11, \"over\": 0,"
			   "\"bins\": [[9, 10, -1], [11, 12, 3]]}}",           "bin 0 is invalid"                  },
		{HEAD OURS "\"count\": 2, \"sum\": 20, \"min\": 9, \"max\": 11, \"over\": 0,"
			   "\"bins\": [[9, 10], [11, 12, 1]]}}",               "bin 0 is invalid"                  },
		{HEAD OURS "\"count\": 2, \"sum\": 20, \"min\": 9, \"max\": 11, \"over\": 0,"
			   "\"bins\": [7]}}",				  "bin 0 is invalid"                  },
		{HEAD OURS "\"count\": 2, \"sum\": 20, \"min\": 9, \"max\": 11, \"over\": 0,"
			   "\"bins\": [[\"0\", 1, 2]]}}",		      "bin 0 is invalid"                  },
		{HEAD OURS "\"count\": 2, \"sum\": 20, \"min\": 9, \"max\": 11, \"over\": 0,"
			   "\"bins\": [[137438953472, 137573171200, 2]]}}",    "bin 0 is invalid"                  },
		{"{\"count\": 3, \"histogram\": {" OURS
		 "\"count\": 2, \"sum\": 20, \"min\": 9, \"max\": 11, \"over\": 0,"
		 "\"bins\": [[9, 10, 1], [11, 12, 1]]}}",		      "count does not match the histogram"},
		{"{\"count\": 2, \"histogram\": {" OURS
		 "\"count\": 2, \"sum\": 20, \"min\": 9, \"max\": 11, \"over\": 0,"
		 "\"bins\": [[9, 10, 1], [11, 12, 1]]}}",		      "\"stddev\" is missing"             },
		{"{\"count\": 2, \"stddev\": -1, \"histogram\": {" OURS
		 "\"count\": 2, \"sum\": 20, \"min\": 9, \"max\": 11, \"over\": 0,"
		 "\"bins\": [[9, 10, 1], [11, 12, 1]]}}",		      "\"stddev\" is negative"            },
		{"{\"count\": 2, \"stddev\": 1e18, \"histogram\": {" OURS
		 "\"count\": 2, \"sum\": 20, \"min\": 9, \"max\": 11, \"over\": 0,"
		 "\"bins\": [[9, 10, 1], [11, 12, 1]]}}",		      "a stddev of 1e+18 is impossible"   },
		{"{\"count\": 9223372036854775807, \"stddev\": 1e18, \"histogram\": {" OURS
		 "\"count\": 9223372036854775807, \"sum\": 9223372036854775807, \"min\": 0,"
		 "\"max\": 9223372036854775807, \"over\": 1,"
		 "\"bins\": [[0, 1, 9223372036854775806]]}}",		  "a stddev of 1e+18 is impossible"   },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		error = (struct error){0};
		assert_int_equal(restore(rows[i].text), rows[i].sentence ? -EINVAL : 0);
		if (rows[i].sentence)
			assert_contains(error.text, rows[i].sentence);
	}
}

static json_t *bandwidth_of(const struct rate_windows *windows, uint64_t message_bytes)
{
	json_t *rates = json_array();
	uint64_t duration_ns = windows->count * windows->window_ns;

	for (size_t i = 0; i < windows->count; i++)
		json_array_append_new(rates, json_integer((json_int_t)rate_windows_rate(
						     windows, i, message_bytes)));
	return json_pack("{s:I, s:I, s:I, s:o}", "window_ns", (json_int_t)windows->window_ns,
			 "duration_ns", (json_int_t)duration_ns, "messages",
			 (json_int_t)rate_windows_total(windows), "windows", rates);
}

static void check_windows(uint64_t message_bytes)
{
	json_t *bandwidth = bandwidth_of(&shown, message_bytes);

	assert_int_equal(restore_windows(&restored, bandwidth, message_bytes, &error), 0);
	json_decref(bandwidth);
	assert_int_equal(restored.window_ns, shown.window_ns);
	assert_int_equal(restored.count, shown.count);
	assert_int_equal(rate_windows_total(&restored), rate_windows_total(&shown));
}

/* A window of 10 ms with 123 messages of 64 bytes has 787200 bytes/s. */
static void test_windows(void **unused)
{
	json_t *bandwidth = sample_json("{\"window_ns\": 10000000, \"duration_ns\": 25000000,"
					" \"messages\": 170, \"windows\": [787200, 0]}");

	assert_int_equal(restore_windows(&restored, bandwidth, 64, &error), 0);
	json_decref(bandwidth);
	assert_int_equal(restored.count, 2);
	assert_int_equal(restored.messages[0], 123);
	assert_int_equal(restored.messages[1], 0);
	assert_int_equal(restored.rest, 47);
	assert_int_equal(restored.window_ns, 10000000);
}

static void test_any_windows(void **unused)
{
	for (unsigned int i = 0; i < 400; i++) {
		uint64_t message_bytes = 1 + random_bits(i % 24);

		/* From 10 ms to 640 ms. */
		rate_windows_init(&shown, 10000000ULL << i % 7);
		shown.count = 1 + random_bits(i % 13) % RATE_WINDOWS_MAX;
		shown.rest = random_bits(20);
		for (size_t j = 0; j < shown.count; j++)
			shown.messages[j] = random_bits(i % 30);
		check_windows(message_bytes);
		assert_int_equal(restored.rest, shown.rest);
		assert_memory_equal(restored.messages, shown.messages, sizeof(shown.messages));
	}
}

/* In 10 s, 105 bytes and 100 bytes are both 10 bytes/s; the difference goes to rest. */
static void test_slow_windows(void **unused)
{
	rate_windows_init(&shown, 10000000000);
	shown.count = 1;
	shown.messages[0] = 105;
	check_windows(1);
	assert_int_equal(restored.messages[0], 100);
	assert_int_equal(restored.rest, 5);
	assert_int_equal(rate_windows_rate(&restored, 0, 1), 10);
}

/* With empty messages, the windows cannot be restored. */
static void test_empty_messages(void **unused)
{
	rate_windows_init(&shown, 10000000);
	shown.count = 2;
	shown.rest = 9;
	check_windows(0);
	assert_int_equal(restored.rest, 9);
}

static void test_rejects_impossible_windows(void **unused)
{
	static const struct {
		const char *text;
		const char *sentence;
	} rows[] = {
		{"{}",									   "\"window_ns\" is missing"           },
		{"{\"window_ns\": 0, \"duration_ns\": 9, \"messages\": 9, \"windows\": []}",
		 "0 windows of 0 ns"												  },
		{"{\"window_ns\": 5, \"duration_ns\": 9, \"messages\": 9, \"windows\": [0, 0]}",
		 "2 windows of 5 ns do not fit into 9 ns"									     },
		{"{\"window_ns\": 9223372036854775807, \"duration_ns\": 9, \"messages\": 9,"
		 " \"windows\": [0, 0]}",				       "2 windows of 9223372036854775807 ns"},
		{"{\"window_ns\": 10000000, \"duration_ns\": 25000000, \"messages\": 9,"
		 " \"windows\": [-1]}",					 "window 0 is not a count"            },
		{"{\"window_ns\": 10000000, \"duration_ns\": 25000000, \"messages\": 9,"
		 " \"windows\": [0, 1.5]}",				     "window 1 is not a count"            },
		{"{\"window_ns\": 10000000, \"duration_ns\": 25000000, \"messages\": 9,"
		 " \"windows\": [6401]}",				       "window 0 is not a possible number"  },
		{"{\"window_ns\": 10000000, \"duration_ns\": 25000000, \"messages\": 9,"
		 " \"windows\": [38400, 25600]}",			       "window 1 is not a possible number"  },
		{"{\"window_ns\": 10000000, \"duration_ns\": 25000000, \"messages\": 9,"
		 " \"windows\": [9223372036854775807]}",			"window 0 is not a possible number"  },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		json_t *bandwidth = sample_json(rows[i].text);

		error = (struct error){0};
		assert_int_equal(restore_windows(&restored, bandwidth, 64, &error), -EINVAL);
		assert_contains(error.text, rows[i].sentence);
		json_decref(bandwidth);
	}
}

static void test_too_many_windows(void **unused)
{
	json_t *bandwidth = sample_json("{\"window_ns\": 1, \"duration_ns\": 25000000,"
					" \"messages\": 9, \"windows\": []}");
	json_t *rates = json_object_get(bandwidth, "windows");

	for (size_t i = 0; i < RATE_WINDOWS_MAX; i++)
		json_array_append_new(rates, json_integer(0));
	assert_int_equal(restore_windows(&restored, bandwidth, 64, &error), 0);
	json_array_append_new(rates, json_integer(0));
	assert_int_equal(restore_windows(&restored, bandwidth, 64, &error), -EINVAL);
	assert_contains(error.text, "4097 windows");
	json_decref(bandwidth);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_by_hand, reset),
		cmocka_unit_test_setup(test_impossible_deviation, reset),
		cmocka_unit_test_setup(test_nothing_and_one, reset),
		cmocka_unit_test_setup(test_any, reset),
		cmocka_unit_test_setup(test_rejects_inconsistent_histograms, reset),
		cmocka_unit_test_setup(test_windows, reset),
		cmocka_unit_test_setup(test_any_windows, reset),
		cmocka_unit_test_setup(test_slow_windows, reset),
		cmocka_unit_test_setup(test_empty_messages, reset),
		cmocka_unit_test_setup(test_rejects_impossible_windows, reset),
		cmocka_unit_test_setup(test_too_many_windows, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
