/* SPDX-License-Identifier: MIT */
#include "bench/cli/value.h"
#include "core/base/compiler.h"
#include "core/test/lib/check.h"

#define UNTOUCHED 4711

/* Texts that none of the four parsers accepts, whatever the bounds. */
static const char *const invalid_numbers[] = {
	"",
	" ",
	" 4",
	"4 ",
	"4 k",
	"-1",
	"+1",
	"-0",
	"0x10",
	"1.5",
	"1e3",
	"4q",
	"k",
	"ms",
	"4kk",
	"4k4",
	"4\n",
	"١",
	"18446744073709551616",
	"99999999999999999999999999",
};

static void test_invalid_numbers(void **unused)
{
	for (size_t i = 0; i < ARRAY_LENGTH(invalid_numbers); i++) {
		uint64_t number = UNTOUCHED;
		unsigned int ms = UNTOUCHED;

		assert_false(value_count(invalid_numbers[i], 0, UINT64_MAX, &number));
		assert_false(value_size(invalid_numbers[i], &number));
		assert_false(value_time(invalid_numbers[i], &number));
		assert_int_equal(number, UNTOUCHED);
		assert_false(value_duration(invalid_numbers[i], &ms));
		assert_int_equal(ms, UNTOUCHED);
	}
}

static void test_counts(void **unused)
{
	static const struct {
		const char *text;
		uint64_t count;
	} rows[] = {
		{"0",                    0                      },
		{"1",                    1                      },
		{"007",                  7                      },
		{"65535",                65535                  },
		{"18446744073709551615", 18446744073709551615ULL},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		uint64_t count = UNTOUCHED;

		assert_true(value_count(rows[i].text, 0, UINT64_MAX, &count));
		assert_int_equal(count, rows[i].count);
	}
}

static void test_bounds_of_counts(void **unused)
{
	uint64_t count = UNTOUCHED;

	assert_false(value_count("2", 3, 5, &count));
	assert_false(value_count("6", 3, 5, &count));
	assert_false(value_count("4k", 3, 5, &count));
	assert_int_equal(count, UNTOUCHED);
	assert_true(value_count("3", 3, 5, &count));
	assert_int_equal(count, 3);
	assert_true(value_count("5", 3, 5, &count));
	assert_int_equal(count, 5);
}

static void test_sizes(void **unused)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} rows[] = {
		{"0",                    0                      },
		{"64",                   64                     },
		{"4k",                   4096                   },
		{"4K",                   4096                   },
		{"4KiB",                 4096                   },
		{"4kb",                  4096                   },
		{"4KB",                  4096                   },
		{"1MB",                  1048576                },
		{"2gb",                  2147483648             },
		{"1m",                   1048576                },
		{"2M",                   2097152                },
		{"3MiB",                 3145728                },
		{"1g",                   1073741824             },
		{"8G",                   8589934592             },
		{"8GiB",                 8589934592             },
		{"18446744073709551615", 18446744073709551615ULL},
 /* The largest value of each unit that fits into 64 bits. */
		{"18014398509481983k",   18446744073709550592ULL},
		{"17179869183g",         18446744072635809792ULL},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		uint64_t bytes = UNTOUCHED;

		assert_true(value_size(rows[i].text, &bytes));
		assert_int_equal(bytes, rows[i].bytes);
	}
}

static void test_invalid_sizes(void **unused)
{
	/* Values just above the limit, and other units. */
	static const char *const texts[] = {
		"18014398509481984k",
		"17592186044416m",
		"17179869184g",
		"18446744073709551615k",
		"4s",
		"4ms",
		"4kbit",
		"4ki",
		"4t",
		"4,8",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		uint64_t bytes = UNTOUCHED;

		assert_false(value_size(texts[i], &bytes));
	}
}

static void test_durations(void **unused)
{
	static const struct {
		const char *text;
		unsigned int ms;
	} rows[] = {
		{"0",            0         },
		{"10",           10000     },
		{"10s",          10000     },
		{"500ms",        500       },
		{"500MS",        500       },
		{"2m",           120000    },
		{"0ms",          0         },
 /* poll(2) takes milliseconds as an int. */
		{"2147483647ms", 2147483647},
		{"2147483s",     2147483000},
		{"35791m",       2147460000},
		{"24h",          86400000  },
		{"596h",         2145600000},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		unsigned int ms = UNTOUCHED;

		assert_true(value_duration(rows[i].text, &ms));
		assert_int_equal(ms, rows[i].ms);
	}
}

static void test_invalid_durations(void **unused)
{
	static const char *const texts[] = {
		"2147483648ms", "2147484s", "2147484", "35792m", "18446744073709551615m",
		"597h",         "4k",       "10 s",    "1d",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		unsigned int ms = UNTOUCHED;

		assert_false(value_duration(texts[i], &ms));
		assert_int_equal(ms, UNTOUCHED);
	}
}

static void test_times(void **unused)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} rows[] = {
		{"0",		      0                      },
		{"0ns",                    0                      },
		{"10",                     10000000000            },
		{"10s",                    10000000000            },
		{"100ms",                  100000000              },
		{"100MS",                  100000000              },
		{"7us",                    7000                   },
		{"7\xc2\xb5s",             7000                   },
		{"7\xce\xbcs",             7000                   },
		{"9ns",                    9                      },
		{"2m",                     120000000000           },
 /* The largest value of each unit that fits into 64 bits. */
		{"18446744073709551615ns", 18446744073709551615ULL},
		{"18446744073709551us",    18446744073709551000ULL},
		{"18446744073709ms",       18446744073709000000ULL},
		{"18446744073s",           18446744073000000000ULL},
		{"307445734m",             18446744040000000000ULL},
		{"24h",                    86400000000000         },
		{"5124095h",               18446742000000000000ULL},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		uint64_t ns = UNTOUCHED;

		assert_true(value_time(rows[i].text, &ns));
		assert_int_equal(ns, rows[i].ns);
	}
}

static void test_invalid_times(void **unused)
{
	static const char *const texts[] = {
		"18446744073709552us",
		"18446744073710ms",
		"18446744074s",
		"18446744074",
		"307445735m",
		"5124096h",
		"1d",
		"1min",
		"4k",
		"10 s",
		"1us1",
		"1:2",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		uint64_t ns = UNTOUCHED;

		assert_false(value_time(texts[i], &ns));
	}
}

/* A size is printed in the largest unit that divides it, and can be parsed again. */
static void test_printed_sizes(void **unused)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} rows[] = {
		{0,		       "0"                   },
		{1,		       "1"                   },
		{64,		      "64"                  },
		{1000,                    "1000"                },
		{1023,                    "1023"                },
		{1024,                    "1k"                  },
		{1025,                    "1025"                },
		{1536,                    "1536"                },
		{65536,                   "64k"                 },
		{1048576,                 "1m"                  },
		{1049600,                 "1025k"               },
		{1073741824,              "1g"                  },
		{1099511627776,           "1024g"               },
		{18446744073709551615ULL, "18446744073709551615"},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		uint64_t bytes = UNTOUCHED;
		char text[24];

		value_print_size(rows[i].bytes, text, sizeof(text));
		assert_string_equal(text, rows[i].text);
		assert_true(value_size(text, &bytes));
		assert_int_equal(bytes, rows[i].bytes);
	}
}

static void test_printed_times(void **unused)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} rows[] = {
		{0,		       "0ns"                   },
		{1,		       "1ns"                   },
		{999,                     "999ns"                 },
		{1000,                    "1us"                   },
		{1500,                    "1500ns"                },
		{1000000,                 "1ms"                   },
		{100000000,               "100ms"                 },
		{1000000000,              "1s"                    },
		{1500000000,              "1500ms"                },
		{60000000000,             "60s"                   },
		{86400000000000,          "86400s"                },
		{18446744073709551615ULL, "18446744073709551615ns"},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		uint64_t ns = UNTOUCHED;
		char text[24];

		value_print_time(rows[i].ns, text, sizeof(text));
		assert_string_equal(text, rows[i].text);
		assert_true(value_time(text, &ns));
		assert_int_equal(ns, rows[i].ns);
	}
}

/* Output that does not fit is truncated. */
static void test_printing_is_bounded(void **unused)
{
	for (size_t size = 1; size <= 6; size++) {
		char *text = test_malloc(size);

		value_print_size(1025 << 10, text, size);
		assert_int_equal(strlen(text), size - 1);
		assert_memory_equal(text, "1025k", size - 1);
		value_print_time(15000, text, size);
		assert_int_equal(strlen(text), size - 1 < 4 ? size - 1 : 4);
		test_free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_invalid_numbers),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_bounds_of_counts),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_invalid_sizes),
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_invalid_durations),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_invalid_times),
		cmocka_unit_test(test_printed_sizes),
		cmocka_unit_test(test_printed_times),
		cmocka_unit_test(test_printing_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
