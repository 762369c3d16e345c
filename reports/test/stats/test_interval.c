/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "core/test/lib/check.h"
#include "reports/stats/interval.h"

static struct interval interval;
static struct error error;
static int is_memory_out;

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
	if (is_memory_out) {
		errno = ENOMEM;
		return NULL;
	}
	return __real_calloc(n, size);
}

static int reset(void **unused)
{
	error = (struct error){0};
	is_memory_out = 0;
	return 0;
}

/* Returns n shuffled values of which the i-th smallest is i, so that bounds are ranks. */
static double *make_ranks(size_t n)
{
	double *values = malloc(n * sizeof(*values));
	uint64_t random = 88172645463325252ULL;

	assert_non_null(values);
	for (size_t i = 0; i < n; i++)
		values[i] = (double)(i + 1);
	for (size_t i = n; i > 1; i--) {
		double kept = values[i - 1];
		size_t other;

		random = random * 6364136223846793005 + 1442695040888963407;
		other = (random >> 33) % i;
		values[i - 1] = values[other];
		values[other] = kept;
	}
	return values;
}

static void check_ranks(size_t n, double low, double high, double confidence, double tolerance)
{
	double *values = make_ranks(n);

	assert_int_equal(interval_median(&interval, values, n, &error), 0);
	assert_near(interval.low, low, 0);
	assert_near(interval.high, high, 0);
	assert_near(interval.median, (double)(n + 1) / 2, 0);
	assert_near(interval.confidence, confidence, tolerance);
	free(values);
}

/*
 * The ranks are one above the critical values of the two-sided sign test at 5 %, as in textbooks; n
 * of 6, 9, 12 and 20 with their confidence are in every table of intervals for the median.
 */
static void test_published_tables(void **unused)
{
	static const struct {
		size_t n;
		double low;
		double per_cent;
	} rows[] = {
		{6,   1,  96.9},
                {7,   1,  98.4},
                {8,   1,  99.2},
                {9,   2,  96.1},
                {10,  2,  97.9},
		{11,  2,  98.8},
                {12,  3,  96.1},
                {13,  3,  97.8},
                {14,  3,  98.7},
                {15,  4,  96.5},
		{16,  4,  97.9},
                {17,  5,  95.1},
                {18,  5,  96.9},
                {19,  5,  98.1},
                {20,  6,  95.9},
		{25,  8,  95.7},
                {30,  10, 95.7},
                {40,  14, 96.2},
                {50,  18, 96.7},
                {100, 40, 96.5},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		check_ranks(rows[i].n, rows[i].low, (double)rows[i].n + 1 - rows[i].low,
			    rows[i].per_cent / 100, 0.0005);
}

/* Expected values are exact sums of binomial coefficients in integers. */
static void test_exact_confidence(void **unused)
{
	check_ranks(6, 1, 6, 0.96875, 0);
	check_ranks(20, 6, 15, 0.9586105346679688, 1e-14);
	check_ranks(100, 40, 61, 0.9647997997822951, 1e-13);
	check_ranks(1000, 469, 532, 0.9537088026395019, 1e-10);
	/* 2^-2000 underflows a double. */
	check_ranks(2000, 956, 1045, 0.9534471795082162, 1e-10);
	check_ranks(10000, 4902, 5099, 0.9511670501036181, 1e-9);
}

static void test_too_few(void **unused)
{
	check_ranks(1, 1, 1, 0, 0);
	check_ranks(2, 1, 2, 0.5, 0);
	check_ranks(3, 1, 3, 0.75, 0);
	check_ranks(4, 1, 4, 0.875, 0);
	check_ranks(5, 1, 5, 0.9375, 0);
}

static void test_values(void **unused)
{
	static const double values[] = {3.5, -1, 3.5, HUGE_VAL, 0, 3.5, 2, -HUGE_VAL, 1e300};

	assert_int_equal(interval_median(&interval, values, ARRAY_LENGTH(values), &error), 0);
	assert_near(interval.median, 3.5, 0);
	assert_near(interval.low, -1, 0);
	assert_near(interval.high, 1e300, 0);
	/* The values do not change. */
	assert_near(values[1], -1, 0);
	assert_int_equal(interval_median(&interval, values, 2, &error), 0);
	assert_near(interval.median, 1.25, 0);
}

static void test_refusals(void **unused)
{
	const double values[] = {1, (double)NAN, 3};

	assert_int_equal(interval_median(&interval, values, 0, &error), -EINVAL);
	assert_string_equal(error.text, "no values");
	error = (struct error){0};
	assert_int_equal(interval_median(&interval, values, 3, &error), -EINVAL);
	assert_string_equal(error.text, "value 2 of 3 is not a number");
	error = (struct error){0};
	is_memory_out = 1;
	assert_int_equal(interval_median(&interval, values, 1, &error), -ENOMEM);
	is_memory_out = 0;
	assert_contains(error.text, "cannot sort 1 values");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_published_tables, reset),
		cmocka_unit_test_setup(test_exact_confidence, reset),
		cmocka_unit_test_setup(test_too_few, reset),
		cmocka_unit_test_setup(test_values, reset),
		cmocka_unit_test_setup(test_refusals, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
