/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "core/base/random.h"
#include "core/test/lib/check.h"
#include "reports/stats/change_points.h"
#include "reports/stats/change_points_options.h"

static struct error error;

static double uniform(uint64_t *state)
{
	return ((double)(random_next(state) >> 11) + 0.5) / 0x1p53;
}

/* Box-Muller transform. */
static double normal(uint64_t *state)
{
	double radius = sqrt(-2 * log(uniform(state)));

	return radius * cos(2 * acos(-1) * uniform(state));
}

static void fill(double *values, size_t count, double spread, uint64_t seed)
{
	uint64_t state = seed;

	for (size_t i = 0; i < count; i++)
		values[i] = 1000 * exp(spread * normal(&state));
}

static void raise(double *values, size_t from, size_t to, double factor)
{
	for (size_t i = from; i < to; i++)
		values[i] *= factor;
}

static void find(struct change_points *found, const double *values, size_t count)
{
	assert_int_equal(change_points_find(found, &change_points_usual, values, count, &error), 0);
}

/* A change is found anywhere in a window, once there are 6 values after it. */
static void test_place(void **unused)
{
	static const size_t places[] = {26, 49, 50, 51, 74, 75, 76, 99, 140};

	for (size_t i = 0; i < ARRAY_LENGTH(places); i++) {
		for (size_t behind = 6; behind < 120; behind += 19) {
			double values[300];
			struct change_points found;

			fill(values, ARRAY_LENGTH(values), 0.005, 1 + i);
			raise(values, places[i], ARRAY_LENGTH(values), 1.1);
			find(&found, values, places[i] + behind);
			assert_int_equal(found.count, 1);
			assert_int_equal(found.list[0].at, places[i]);
			assert_near(found.list[0].after / found.list[0].before, 1.1, 0.011);
			change_points_finish(&found);
		}
	}
}

/* Two values after a change are too few. */
static void test_too_early(void **unused)
{
	double values[80];
	struct change_points found;

	fill(values, ARRAY_LENGTH(values), 0.005, 1);
	raise(values, 70, ARRAY_LENGTH(values), 1.1);
	find(&found, values, 70 + 2);
	assert_int_equal(found.count, 0);
	find(&found, values, 0);
	assert_int_equal(found.count, 0);
}

/* A rise and a fall are two change points; a change below the magnitude is not one. */
static void test_several(void **unused)
{
	double values[300];
	struct change_points found;

	fill(values, ARRAY_LENGTH(values), 0.005, 5);
	raise(values, 60, 90, 0.8);
	raise(values, 200, 300, 1.02);
	find(&found, values, ARRAY_LENGTH(values));
	assert_int_equal(found.count, 2);
	assert_int_equal(found.list[0].at, 60);
	assert_int_equal(found.list[1].at, 90);
	assert_near(found.list[0].after / found.list[0].before, 0.8, 0.01);
	assert_near(found.list[1].after / found.list[1].before, 1 / 0.8, 0.01);
	change_points_finish(&found);
}

/* A single outlier of ten times the value is not a change point, wherever it is. */
static void test_outlier(void **unused)
{
	for (size_t at = 40; at < 80; at++) {
		double values[80];
		struct change_points found;

		fill(values, ARRAY_LENGTH(values), 0.02, at);
		values[at] *= 10;
		find(&found, values, ARRAY_LENGTH(values));
		assert_int_equal(found.count, 0);
	}
}

/* A sanitized build is about forty times slower. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define SERIES      10
#define FALSE_MOST  2
#define RAISED      4
#define FOUND_LEAST 3
#endif
#endif
#ifndef SERIES
#define SERIES      400
#define FALSE_MOST  16
#define RAISED      100
#define FOUND_LEAST 95
#endif

/*
 * Noise alone: 400 series of 500 runs with a spread of 5 %, each in 20 windows. At p = 0.001 per
 * window, 8 change points are expected, and more than 16 have a probability of 0.4 %; the second
 * test lowers both. For 10 series, 0.2 are expected, and more than 2 have a probability of 0.1 %.
 */
static void test_noise(void **unused)
{
	static double values[500];
	size_t count = 0;

	for (uint64_t seed = 0; seed < SERIES; seed++) {
		struct change_points found;

		fill(values, ARRAY_LENGTH(values), 0.05, seed << 32);
		find(&found, values, ARRAY_LENGTH(values));
		count += found.count;
		change_points_finish(&found);
	}
	if (count > FALSE_MOST)
		print_error("%zu false change points in %d series of 500 runs\n", count, SERIES);
	assert_true(count <= FALSE_MOST);
}

/* In noise of 2 %, a change of 10 % is found after 8 runs, at most one run away. */
static void test_power(void **unused)
{
	size_t count = 0;

	for (uint64_t seed = 0; seed < RAISED; seed++) {
		double values[68];
		struct change_points found;

		fill(values, ARRAY_LENGTH(values), 0.02, seed << 32);
		raise(values, 60, ARRAY_LENGTH(values), 1.1);
		find(&found, values, ARRAY_LENGTH(values));
		count += found.count == 1 && found.list[0].at >= 59 && found.list[0].at <= 61;
		change_points_finish(&found);
	}
	assert_true(count >= FOUND_LEAST);
}

static void test_words(void **unused)
{
	size_t window;
	double part;

	assert_null(change_points_parse_window("60", &window));
	assert_int_equal(window, 60);
	assert_null(change_points_parse_level("0.01", &part));
	assert_near(part, 0.01, 0);
	assert_null(change_points_parse_magnitude("2.5%", &part));
	assert_near(part, 0.025, 0);
	assert_non_null(change_points_parse_window("19", &window));
	assert_non_null(change_points_parse_window("201", &window));
	assert_non_null(change_points_parse_window("5e1", &window));
	assert_non_null(change_points_parse_window("50.0", &window));
	assert_non_null(change_points_parse_level("0", &part));
	assert_non_null(change_points_parse_level("0.2", &part));
	assert_non_null(change_points_parse_level("nan", &part));
	assert_non_null(change_points_parse_level("", &part));
	assert_non_null(change_points_parse_level("-0.01", &part));
	assert_non_null(change_points_parse_magnitude("3", &part));
	assert_non_null(change_points_parse_magnitude("%", &part));
	assert_non_null(change_points_parse_magnitude("1.2.3%", &part));
	assert_non_null(change_points_parse_magnitude("0x3%", &part));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_place),   cmocka_unit_test(test_too_early),
		cmocka_unit_test(test_several), cmocka_unit_test(test_outlier),
		cmocka_unit_test(test_noise),   cmocka_unit_test(test_power),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
