/* SPDX-License-Identifier: MIT */
#include <float.h>

#include "core/test/check.h"
#include "reports/holm.h"
#include "reports/ratio.h"

static struct ratio ratio;

static void compute(const double *base, size_t n_base, const double *now, size_t n_now)
{
	const struct ratio_side before = {base, n_base};
	const struct ratio_side after = {now, n_now};

	ratio_of(&ratio, &before, &after, 0);
}

/*
 * Student's own data, of which R has: t.test(extra ~ group, data = sleep, var.equal = TRUE)
 * t = -1.8608, df = 18, p-value = 0.07919, interval -3.363874 0.203874, means 0.75 2.33.
 */
static void test_sleep(void **unused)
{
	static const double first[] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
	static const double second[] = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
	double base[10];
	double now[10];

	for (size_t i = 0; i < 10; i++) {
		base[i] = exp(first[i]);
		now[i] = exp(second[i]);
	}
	compute(base, 10, now, 10);
	assert_true(ratio.is_known);
	assert_near(log(ratio.base), 0.75, 1e-12);
	assert_near(log(ratio.now), 2.33, 1e-12);
	assert_near(ratio.ratio, exp(1.58), 1e-12);
	assert_near(log(ratio.low), -0.203874, 5e-7);
	assert_near(log(ratio.high), 3.363874, 5e-7);
	assert_near(ratio.chance, 0.07919, 5e-6);
}

/*
 * By hand, of powers of e: means 1 and 3, squares 2 and 2 of 3 degrees, and so a variance of
 * 4/3 times 1/2 + 1/3; t = 2 / sqrt(10/9), of which 3.182 times is the interval's half.
 */
static void test_unequal_numbers(void **unused)
{
	const double base[] = {1, exp(2)};
	const double now[] = {exp(2), exp(3), exp(4)};

	compute(base, 2, now, 3);
	assert_near(log(ratio.ratio), 2, 1e-12);
	assert_near(log(ratio.high), 2 + 3.182446 * sqrt(10.0 / 9), 1e-6);
	assert_near(log(ratio.low), 2 - 3.182446 * sqrt(10.0 / 9), 1e-6);
}

static void test_unknown_spread(void **unused)
{
	static const double values[] = {100, 110, 121};

	compute(values, 1, values + 1, 1);
	assert_false(ratio.is_known);
	assert_near(ratio.ratio, 1.1, 1e-12);
	assert_true(isnan(ratio.low) && isnan(ratio.high) && isnan(ratio.chance));
	compute(values, 1, values, 3);
	assert_false(ratio.is_known);
	assert_near(ratio.now, 110, 1e-9);
	compute(values, 3, values, 1);
	assert_false(ratio.is_known);
}

/* All runs in the same place are apart by as much as one place is wide, in a way. */
static void test_rounded(void **unused)
{
	static const double low[] = {20, 20};
	static const double high[] = {21, 21};
	const struct ratio_side base = {low, 2};
	const struct ratio_side now = {high, 2};

	ratio_of(&ratio, &base, &now, 0);
	assert_near(ratio.chance, DBL_EPSILON, 0);
	assert_near(ratio.low, 1.05, 1e-12);
	/* t = ln 1.05 / (0.05 / sqrt 12) = 3.380, and of two degrees 1 - t / sqrt(2 + t^2). */
	ratio_of(&ratio, &base, &now, 0.05);
	assert_near(ratio.chance, 1 - 3.3803 / sqrt(2 + 3.3803 * 3.3803), 1e-5);
	ratio_of(&ratio, &base, &base, 0);
	assert_near(ratio.chance, 1, 0);
	assert_near(ratio.low, 1, 0);
	assert_near(ratio.high, 1, 0);
}

static uint64_t random_state;

static double uniform(void)
{
	random_state = random_state * 6364136223846793005 + 1442695040888963407;
	return ((double)(random_state >> 11) + 0.5) / 0x1p53;
}

/* Runs of a median of 1000 ns whose logarithms are normal, with a deviation of 2 %. */
static void make_runs(double *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double radius = sqrt(-2 * log(uniform()));

		values[i] = 1000 * exp(0.02 * radius * cos(2 * M_PI * uniform()));
	}
}

/*
 * Of 2000 comparisons of what is equal one in twenty is beyond 5 %. That it is more than 149,
 * or fewer than 57, has a probability of 1e-6 (binomial distribution, added up exactly).
 */
static void test_false_alarms(void **unused)
{
	static const size_t runs[] = {2, 3, 5};

	random_state = 20011225;
	for (size_t i = 0; i < ARRAY_LENGTH(runs); i++) {
		int alarms = 0;
		int covered = 0;

		for (int round = 0; round < 2000; round++) {
			double values[10];

			make_runs(values, 2 * runs[i]);
			compute(values, runs[i], values + runs[i], runs[i]);
			alarms += ratio.chance <= 0.05;
			covered += ratio.low <= 1 && ratio.high >= 1;
		}
		assert_in_range(alarms, 57, 149);
		assert_int_equal(covered, 2000 - alarms);
	}
}

/* The same of families of 40 tests, 500 of them: 51 at most, with that probability. */
static void test_false_alarms_of_families(void **unused)
{
	int alarms = 0;

	random_state = 19991231;
	for (int round = 0; round < 500; round++) {
		double chances[40];
		struct error error = {0};
		int found = 0;

		for (size_t i = 0; i < ARRAY_LENGTH(chances); i++) {
			double values[6];

			make_runs(values, 6);
			compute(values, 3, values + 3, 3);
			chances[i] = ratio.chance;
		}
		assert_int_equal(holm_correct(chances, ARRAY_LENGTH(chances), &error), 0);
		for (size_t i = 0; i < ARRAY_LENGTH(chances); i++)
			found += chances[i] <= 0.05;
		alarms += found > 0;
	}
	assert_in_range(alarms, 6, 51);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sleep),
		cmocka_unit_test(test_unequal_numbers),
		cmocka_unit_test(test_unknown_spread),
		cmocka_unit_test(test_rounded),
		cmocka_unit_test(test_false_alarms),
		cmocka_unit_test(test_false_alarms_of_families),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
