/* SPDX-License-Identifier: MIT */
#include <float.h>

#include "core/test/lib/check.h"
#include "reports/stats/holm.h"
#include "reports/stats/ratio.h"

static struct ratio ratio;

static void compute(const double *base, size_t n_base, const double *now, size_t n_now)
{
	const struct ratio_side before = {base, n_base};
	const struct ratio_side after = {now, n_now};

	ratio_of(&ratio, &before, &after, 0);
}

/* Returns the two-sided p, as in published tables. */
static double chance_if_equal(void)
{
	return 2 * ratio_beyond(&ratio, 0);
}

/*
 * Student's own data; R prints for t.test(extra ~ group, data = sleep)
 * t = -1.8608, df = 17.776, p-value = 0.07939, interval -3.3654832 0.2054832, means 0.75 2.33.
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
	assert_true(ratio_is_known(&ratio));
	assert_near(log(ratio.base), 0.75, 1e-12);
	assert_near(log(ratio.now), 2.33, 1e-12);
	assert_near(ratio.ratio, exp(1.58), 1e-12);
	assert_near(log(ratio.low), -0.2054832, 5e-8);
	assert_near(log(ratio.high), 3.3654832, 5e-8);
	assert_near(chance_if_equal(), 0.07939, 5e-6);
}

/*
 * Data used to explain and check Welch's test in many languages: with 10 and 20 values, 9.9 degrees
 * of freedom and p = 0.148842; with 4 and 3, where one side has nearly all of the spread,
 * p = 0.010751561. With a pooled spread they would be 0.045 and 0.00009.
 */
static void test_unequal_spread(void **unused)
{
	static const double few[] = {17.2, 20.9, 22.6, 18.1, 21.7, 21.4, 23.5, 24.2, 14.7, 21.8};
	static const double many[] = {21.5, 22.8, 21.0, 23.0, 21.6, 23.6, 22.5, 20.7, 23.4, 21.8,
				      20.7, 21.7, 21.5, 22.5, 23.6, 21.5, 22.5, 23.5, 21.5, 21.8};
	const double narrow[] = {exp(3), exp(4), exp(1), exp(2.1)};
	const double broad[] = {exp(490.2), exp(340), exp(433.9)};
	double base[10];
	double now[20];

	for (size_t i = 0; i < 10; i++)
		base[i] = exp(few[i]);
	for (size_t i = 0; i < 20; i++)
		now[i] = exp(many[i]);
	compute(base, 10, now, 20);
	assert_near(chance_if_equal(), 0.148842, 5e-7);
	compute(now, 20, base, 10);
	assert_near(chance_if_equal(), 0.148842, 5e-7);
	compute(narrow, 4, broad, 3);
	assert_near(chance_if_equal(), 0.010751561, 1e-9);
}

/*
 * By hand, with powers of e: means 1 and 5, squares 2 and 18 with 5 degrees of freedom, so a
 * variance of 4 (1/3 + 1/4); half the interval is 2.570582 times its root. Separate spreads would
 * give 1/3 + 6/4, and a narrower interval.
 */
static void test_unequal_numbers(void **unused)
{
	const double base[] = {1, exp(1), exp(2)};
	const double now[] = {exp(2), exp(5), exp(8), exp(5)};

	compute(base, 3, now, 4);
	assert_near(log(ratio.ratio), 4, 1e-12);
	assert_near(log(ratio.high), 4 + 2.570582 * sqrt(7.0 / 3), 1e-6);
	assert_near(log(ratio.low), 4 - 2.570582 * sqrt(7.0 / 3), 1e-6);
}

/* Two runs against three have one degree of freedom: 2/2 + 1/3, whose root times 12.706205. */
static void test_two_beside_more(void **unused)
{
	const double base[] = {1, exp(2)};
	const double now[] = {exp(2), exp(3), exp(4)};

	compute(base, 2, now, 3);
	assert_near(log(ratio.high), 2 + 12.706205 * sqrt(4.0 / 3), 1e-6);
	compute(now, 3, base, 2);
	assert_near(log(ratio.high), -2 + 12.706205 * sqrt(4.0 / 3), 1e-6);
}

/*
 * The same values: an error of sqrt(7/3) with 5 degrees of freedom, which exceeds 1.475884 with a
 * chance of 1/10, and 2.570582 with a chance of 1/40.
 */
static void test_thresholds(void **unused)
{
	const double base[] = {1, exp(1), exp(2)};
	const double now[] = {exp(2), exp(5), exp(8), exp(5)};
	double reach = 1.475884 * sqrt(7.0 / 3);

	compute(base, 3, now, 4);
	assert_near(ratio_beyond(&ratio, expm1(4 - reach)), 0.1, 1e-6);
	assert_near(ratio_beyond(&ratio, expm1(4)), 0.5, 1e-12);
	assert_true(ratio_beyond(&ratio, expm1(4 + reach)) > 0.9 - 1e-6);
	assert_near(ratio_reach(&ratio, 0.1), reach, 1e-6);
	assert_near(ratio_reach(&ratio, 0.025), 2.570582 * sqrt(7.0 / 3), 1e-6);
	compute(now, 4, base, 3);
	assert_near(ratio_beyond(&ratio, expm1(4 - reach)), 0.1, 1e-6);
}

static void test_unknown_spread(void **unused)
{
	static const double values[] = {100, 110, 121};

	compute(values, 1, values + 1, 1);
	assert_false(ratio_is_known(&ratio));
	assert_near(ratio.ratio, 1.1, 1e-12);
	assert_true(isnan(ratio.low) && isnan(ratio.high) && isnan(chance_if_equal()));
	assert_true(isnan(ratio_reach(&ratio, 0.025)));
	compute(values, 1, values, 3);
	assert_false(ratio_is_known(&ratio));
	assert_near(ratio.now, 110, 1e-9);
	compute(values, 3, values, 1);
	assert_false(ratio_is_known(&ratio));
}

/*
 * One run against five with logarithms 1 to 5: a variance of 10/4 times 1 + 1/5, and 4 degrees of
 * freedom, for which Student's tables have 2.776445.
 */
static void test_one_beside_many(void **unused)
{
	const double many[] = {exp(1), exp(2), exp(3), exp(4), exp(5)};
	const double one[] = {exp(8)};

	compute(many, 5, one, 1);
	assert_true(ratio_is_known(&ratio));
	assert_near(log(ratio.ratio), 5, 1e-12);
	assert_near(log(ratio.low), 5 - 2.776445 * sqrt(3), 1e-5);
	compute(one, 1, many, 5);
	assert_near(log(ratio.high), -5 + 2.776445 * sqrt(3), 1e-5);
	compute(one, 1, many, 4);
	assert_false(ratio_is_known(&ratio));
}

/* Equal values may differ by their rounding step. */
static void test_rounded(void **unused)
{
	static const double low[] = {20, 20};
	static const double high[] = {21, 21};
	const struct ratio_side base = {low, 2};
	const struct ratio_side now = {high, 2};

	ratio_of(&ratio, &base, &now, 0);
	assert_near(chance_if_equal(), DBL_EPSILON, 0);
	assert_near(ratio.low, 1.05, 1e-12);
	/* t = ln 1.05 / (0.05 / sqrt 12) = 3.380; for two degrees 1 - t / sqrt(2 + t^2). */
	ratio_of(&ratio, &base, &now, 0.05);
	assert_near(chance_if_equal(), 1 - 3.3803 / sqrt(2 + 3.3803 * 3.3803), 1e-5);
	ratio_of(&ratio, &base, &base, 0);
	assert_near(chance_if_equal(), 1, 0);
	assert_near(ratio.low, 1, 0);
	assert_near(ratio.high, 1, 0);
}

static uint64_t random_state;

static double uniform(void)
{
	random_state = random_state * 6364136223846793005 + 1442695040888963407;
	return ((double)(random_state >> 11) + 0.5) / 0x1p53;
}

/* Makes runs with a median of 1000 ns and normal logarithms. */
static void make_runs(double *values, size_t count, double deviation)
{
	for (size_t i = 0; i < count; i++) {
		double radius = sqrt(-2 * log(uniform()));

		values[i] = 1000 * exp(deviation * radius * cos(2 * M_PI * uniform()));
	}
}

/*
 * In 2000 comparisons of equal distributions, at most one in twenty is beyond 5 %, because the
 * wider of two intervals is used. More than 149 have a probability of 1e-6 (exact binomial sum),
 * and so do fewer than 57 with many runs.
 */
static void test_false_alarms(void **unused)
{
	static const struct {
		size_t counts[2];
		double deviations[2];
		int least;
	} rows[] = {
		{{2, 2},   {0.02, 0.02}, 0 },
                {{3, 3},   {0.02, 0.02}, 0 },
		{{5, 5},   {0.02, 0.02}, 0 },
                {{10, 10}, {0.02, 0.02}, 57},
		{{3, 10},  {0.1, 0.02},  57},
                {{3, 10},  {0.02, 0.1},  0 },
		{{2, 10},  {0.1, 0.02},  0 },
                {{3, 10},  {0.02, 0.02}, 0 },
		{{2, 10},  {0.04, 0.02}, 0 },
                {{5, 10},  {0.1, 0.02},  57},
		{{3, 3},   {0.1, 0.01},  0 },
                {{10, 4},  {0.02, 0.06}, 0 },
	};

	random_state = 20011225;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		int alarms = 0;
		int covered = 0;

		for (int round = 0; round < 2000; round++) {
			double base[10];
			double now[10];

			make_runs(base, rows[i].counts[0], rows[i].deviations[0]);
			make_runs(now, rows[i].counts[1], rows[i].deviations[1]);
			compute(base, rows[i].counts[0], now, rows[i].counts[1]);
			alarms += chance_if_equal() <= 0.05;
			covered += ratio.low <= 1 && ratio.high >= 1;
		}
		assert_in_range(alarms, rows[i].least, 149);
		assert_int_equal(covered, 2000 - alarms);
	}
}

/* 500 families of 40 tests: at most 51 false alarms, with the same probability. */
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

			make_runs(values, 6, 0.02);
			compute(values, 3, values + 3, 3);
			chances[i] = chance_if_equal();
		}
		assert_int_equal(holm_correct(chances, ARRAY_LENGTH(chances), &error), 0);
		for (size_t i = 0; i < ARRAY_LENGTH(chances); i++)
			found += chances[i] <= 0.05;
		alarms += found > 0;
	}
	assert_in_range(alarms, 0, 51);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sleep),
		cmocka_unit_test(test_unequal_spread),
		cmocka_unit_test(test_unequal_numbers),
		cmocka_unit_test(test_two_beside_more),
		cmocka_unit_test(test_thresholds),
		cmocka_unit_test(test_unknown_spread),
		cmocka_unit_test(test_one_beside_many),
		cmocka_unit_test(test_rounded),
		cmocka_unit_test(test_false_alarms),
		cmocka_unit_test(test_false_alarms_of_families),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
