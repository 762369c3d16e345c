/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "core/base/hist.h"
#include "core/test/lib/check.h"

#define TOP (1ULL << HIST_MAX_BITS)

static struct hist hist;

/*
 * Michelson's speed of light in air of 1879, in km/s minus 299000. NIST's Statistical
 * Reference Datasets (Michelso) certify mean and deviation; the quantiles are the sorted
 * observations (R: quantile, type 1).
 */
static const uint16_t michelson[] = {
	850,  740, 900, 1070, 930, 850, 950, 980, 980, 880, 1000, 980, 930, 650, 760, 810, 1000,
	1000, 960, 960, 960,  940, 960, 940, 880, 800, 850, 880,  900, 840, 830, 790, 810, 880,
	880,  830, 800, 790,  760, 800, 880, 880, 880, 860, 720,  720, 620, 860, 970, 950, 880,
	910,  850, 870, 840,  840, 850, 840, 840, 840, 890, 810,  810, 820, 800, 770, 760, 740,
	750,  760, 910, 920,  890, 860, 880, 720, 840, 850, 850,  780, 890, 840, 780, 810, 760,
	810,  790, 810, 820,  850, 870, 870, 810, 740, 810, 940,  950, 800, 810, 870,
};

static void fill_michelson(uint64_t base)
{
	hist_init(&hist);
	for (size_t i = 0; i < ARRAY_LENGTH(michelson); i++)
		hist_add(&hist, base + michelson[i]);
}

static uint64_t next_random(uint64_t *state)
{
	/* xorshift64: any spread of values will do. */
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void check_value(uint64_t value)
{
	size_t index = hist_index(value);

	assert_true(index < HIST_BINS);
	assert_true(hist_low(index) <= value && value < hist_high(index));
	/* Exact up to 2047, to one part in 1024 above. */
	assert_true(hist_high(index) - hist_low(index) <= (value < 2048 ? 1 : value / 1024));
}

static void test_values_are_in_their_bins(void **unused)
{
	uint64_t random = 88172645463325252ULL;

	for (uint64_t value = 0; value < 10000; value++)
		check_value(value);
	for (unsigned int bit = 1; bit < HIST_MAX_BITS; bit++) {
		check_value((1ULL << bit) - 1);
		check_value(1ULL << bit);
		check_value((1ULL << bit) + 1);
	}
	check_value(TOP - 1);
	for (int i = 0; i < 200000; i++)
		check_value(next_random(&random) >> (64 - HIST_MAX_BITS + i % HIST_MAX_BITS));
}

static void test_bins_are_contiguous(void **unused)
{
	assert_int_equal(hist_low(0), 0);
	for (size_t i = 0; i < HIST_BINS; i++) {
		assert_int_equal(hist_index(hist_low(i)), i);
		assert_int_equal(hist_index(hist_high(i) - 1), i);
		if (i + 1 < HIST_BINS)
			assert_int_equal(hist_high(i), hist_low(i + 1));
	}
	assert_int_equal(hist_high(HIST_BINS - 1), TOP);
}

static void test_empty(void **unused)
{
	hist_init(&hist);
	assert_int_equal(hist.count, 0);
	assert_near(hist_mean(&hist), 0, 0);
	assert_near(hist_stddev(&hist), 0, 0);
	assert_near(hist_quantile(&hist, 500000), 0, 0);
	assert_false(hist_has_quantile(&hist, 0));
}

static void test_one_sample(void **unused)
{
	hist_init(&hist);
	hist_add(&hist, 123456789);
	assert_near(hist_mean(&hist), 123456789, 0);
	assert_near(hist_stddev(&hist), 0, 0);
	/* Its bin is 65536 wide; minimum and maximum are exact. */
	assert_near(hist_quantile(&hist, 0), 123456789, 0);
	assert_near(hist_quantile(&hist, 500000), 123456789, 0);
	assert_near(hist_quantile(&hist, 1000000), 123456789, 0);
}

static void test_certified_mean_and_deviation(void **unused)
{
	fill_michelson(0);
	assert_int_equal(hist.count, 100);
	assert_int_equal(hist.min, 620);
	assert_int_equal(hist.max, 1070);
	assert_near(hist_mean(&hist), 852.4, 1e-12 * 852.4);
	assert_near(hist_stddev(&hist), 79.0105478190518, 1e-12);
	fill_michelson(299000);
	assert_near(hist_mean(&hist), 299852.4, 1e-12 * 299852.4);
	assert_near(hist_stddev(&hist), 79.0105478190518, 1e-12);
}

static void test_certified_quantiles(void **unused)
{
	static const struct {
		uint32_t parts_per_million;
		uint16_t value;
	} rows[] = {
		{0,       620 },
                {1,       620 },
                {10000,   620 },
                {10001,   650 },
		{50000,   720 },
                {250000,  800 },
                {500000,  850 },
                {900000,  960 },
		{990000,  1000},
                {990001,  1070},
                {1000000, 1070},
	};

	fill_michelson(0);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		assert_near(hist_quantile(&hist, rows[i].parts_per_million), rows[i].value, 0);
}

/* [4096, 4100) is one bin: four samples are spread evenly over it, in eighths of its 3 steps. */
static void test_interpolation(void **unused)
{
	hist_init(&hist);
	for (uint64_t value = 4096; value < 4100; value++)
		hist_add(&hist, value);
	assert_near(hist_quantile(&hist, 250000), 4096.375, 1e-9);
	assert_near(hist_quantile(&hist, 500000), 4097.125, 1e-9);
	assert_near(hist_quantile(&hist, 750000), 4097.875, 1e-9);
	assert_near(hist_quantile(&hist, 1000000), 4098.625, 1e-9);
	hist_init(&hist);
	for (int i = 0; i < 1000; i++)
		hist_add(&hist, 4099);
	assert_near(hist_quantile(&hist, 1), 4099, 0);
	assert_near(hist_quantile(&hist, 999999), 4099, 0);
}

/*
 * NIST's NumAcc3 and NumAcc4, scaled by 10 to integers: a deviation of 1 about a large
 * mean. The third mean is beyond what double precision could handle.
 */
static void test_jitter_about_a_large_mean(void **unused)
{
	static const uint64_t means[] = {10000002, 100000002, 100000000002};

	for (size_t i = 0; i < ARRAY_LENGTH(means); i++) {
		hist_init(&hist);
		hist_add(&hist, means[i]);
		for (int pair = 0; pair < 500; pair++) {
			hist_add(&hist, means[i] - 1);
			hist_add(&hist, means[i] + 1);
		}
		assert_near(hist_mean(&hist), (double)means[i], 1e-4);
		assert_near(hist_stddev(&hist), 1, 1e-12);
	}
}

static void test_samples_beyond_the_bins(void **unused)
{
	hist_init(&hist);
	for (int i = 0; i < 9; i++)
		hist_add(&hist, 100);
	hist_add(&hist, TOP - 1);
	assert_int_equal(hist.over, 0);
	hist_add(&hist, TOP);
	hist_add(&hist, 5 * TOP);
	assert_int_equal(hist.over, 2);
	assert_int_equal(hist.count, 12);
	assert_int_equal(hist.max, 5 * TOP);
	assert_near(hist_quantile(&hist, 750000), 100, 0);
	assert_near(hist_quantile(&hist, 1000000), 5.0 * TOP, 0);
}

static void test_bins_and_over_make_the_count(void **unused)
{
	uint64_t random = 42;
	uint64_t sum = 0;

	hist_init(&hist);
	for (int i = 0; i < 100000; i++)
		hist_add(&hist, next_random(&random) >> (i % 63));
	for (size_t i = 0; i < HIST_BINS; i++)
		sum += hist.bins[i];
	assert_true(hist.over > 0);
	assert_int_equal(sum + hist.over, 100000);
	assert_int_equal(hist.count, 100000);
}

static void test_merge(void **unused)
{
	static struct hist low;
	static struct hist high;

	hist_init(&hist);
	hist_init(&low);
	hist_init(&high);
	for (uint64_t value = 1; value < TOP * 4; value += value / 3 + 1) {
		hist_add(&hist, value);
		hist_add(value % 2 ? &low : &high, value);
	}
	hist_merge(&low, &high);
	assert_memory_equal(&low, &hist, sizeof(hist));
	hist_init(&high);
	hist_merge(&low, &high);
	assert_memory_equal(&low, &hist, sizeof(hist));
}

/* Covers ranges so that each value is once the smallest and once the largest. */
static void test_clear(void **unused)
{
	static const uint64_t values[] = {0, 1, 100, 2047, 2048, 5000000, TOP - 1, TOP, 5 * TOP};
	static struct hist fresh;

	hist_init(&fresh);
	memset(&hist, 0, sizeof(hist));
	hist_clear(&hist);
	assert_memory_equal(&hist, &fresh, sizeof(hist));
	for (size_t i = 0; i < ARRAY_LENGTH(values); i++) {
		for (size_t j = i; j < ARRAY_LENGTH(values); j++) {
			for (size_t k = i; k <= j; k++)
				hist_add(&hist, values[k]);
			assert_int_equal(hist.count, j - i + 1);
			hist_clear(&hist);
			assert_memory_equal(&hist, &fresh, sizeof(hist));
		}
	}
}

static void check_range(size_t first, size_t end)
{
	assert_int_equal(hist_first(&hist), first);
	assert_int_equal(hist_end(&hist), end);
}

static void test_bins_in_use(void **unused)
{
	struct hist *made = hist_create();

	assert_non_null(made);
	hist_init(&hist);
	assert_memory_equal(made, &hist, sizeof(hist));
	free(made);
	check_range(0, 0);
	memset(&hist, 0, sizeof(hist));
	check_range(0, 0);
	hist_clear(&hist);
	hist_add(&hist, 2047);
	check_range(2047, 2048);
	hist_add(&hist, 2049); /* shares its bin with 2048 */
	check_range(2047, 2049);
	hist_add(&hist, 0);
	check_range(0, 2049);
	hist_add(&hist, TOP);
	check_range(0, HIST_BINS);
	hist_clear(&hist);
	hist_add(&hist, TOP);
	check_range(HIST_BINS, HIST_BINS);
	hist_clear(&hist);
	hist_add(&hist, TOP - 1);
	check_range(HIST_BINS - 1, HIST_BINS);
}

static void test_quantile_needs_ten_samples_beyond(void **unused)
{
	static const struct {
		uint64_t count;
		uint32_t parts_per_million;
		bool has;
	} rows[] = {
		{19,         500000,  false},
                {20,         500000,  true },
                {999,        990000,  false},
		{1000,       990000,  true },
                {9999,       999000,  false},
                {10000,      999000,  true },
		{99999,      999900,  false},
                {100000,     999900,  true },
                {9,          0,       false},
		{10,         0,       true },
                {UINT64_MAX, 999999,  true },
                {UINT64_MAX, 1000000, false},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		hist_init(&hist);
		hist.count = rows[i].count;
		assert_int_equal(hist_has_quantile(&hist, rows[i].parts_per_million), rows[i].has);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_are_in_their_bins),
		cmocka_unit_test(test_bins_are_contiguous),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_one_sample),
		cmocka_unit_test(test_certified_mean_and_deviation),
		cmocka_unit_test(test_certified_quantiles),
		cmocka_unit_test(test_interpolation),
		cmocka_unit_test(test_jitter_about_a_large_mean),
		cmocka_unit_test(test_samples_beyond_the_bins),
		cmocka_unit_test(test_bins_and_over_make_the_count),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_clear),
		cmocka_unit_test(test_bins_in_use),
		cmocka_unit_test(test_quantile_needs_ten_samples_beyond),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
