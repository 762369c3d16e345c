/* SPDX-License-Identifier: MIT */
#include "bench/value.h"
#include "core/compiler.h"
#include "core/test/check.h"

#define UNTOUCHED 4711

/* What is refused by each of the three, however it is bounded. */
static const char *const no_numbers[] = {
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

static void test_no_numbers(void **unused)
{
	for (size_t i = 0; i < ARRAY_LENGTH(no_numbers); i++) {
		uint64_t number = UNTOUCHED;
		unsigned int ms = UNTOUCHED;

		assert_false(value_count(no_numbers[i], 0, UINT64_MAX, &number));
		assert_false(value_size(no_numbers[i], &number));
		assert_int_equal(number, UNTOUCHED);
		assert_false(value_duration(no_numbers[i], &ms));
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
		{"1m",                   1048576                },
		{"2M",                   2097152                },
		{"3MiB",                 3145728                },
		{"1g",                   1073741824             },
		{"8G",                   8589934592             },
		{"8GiB",                 8589934592             },
		{"18446744073709551615", 18446744073709551615ULL},
 /* The most that 64 bits hold of each unit. */
		{"18014398509481983k",   18446744073709550592ULL},
		{"17179869183g",         18446744072635809792ULL},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		uint64_t bytes = UNTOUCHED;

		assert_true(value_size(rows[i].text, &bytes));
		assert_int_equal(bytes, rows[i].bytes);
	}
}

static void test_no_sizes(void **unused)
{
	/* One more than fits; units of other things. */
	static const char *const texts[] = {
		"18014398509481984k",
		"17592186044416m",
		"17179869184g",
		"18446744073709551615k",
		"4s",
		"4ms",
		"4kb",
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
 /* A poll(2) takes an int of milliseconds. */
		{"2147483647ms", 2147483647},
		{"2147483s",     2147483000},
		{"35791m",       2147460000},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		unsigned int ms = UNTOUCHED;

		assert_true(value_duration(rows[i].text, &ms));
		assert_int_equal(ms, rows[i].ms);
	}
}

static void test_no_durations(void **unused)
{
	static const char *const texts[] = {
		"2147483648ms",          "2147484s", "2147484", "35792m",
		"18446744073709551615m", "1h",       "4k",      "10 s",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		unsigned int ms = UNTOUCHED;

		assert_false(value_duration(texts[i], &ms));
		assert_int_equal(ms, UNTOUCHED);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_numbers),       cmocka_unit_test(test_counts),
		cmocka_unit_test(test_bounds_of_counts), cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_no_sizes),         cmocka_unit_test(test_durations),
		cmocka_unit_test(test_no_durations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
