/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "core/base/random.h"
#include "core/test/lib/check.h"
#include "reports/stats/change_points.h"
#include "reports/stats/change_points_options.h"

#define LONG 700

static struct error error;

static double uniform(uint64_t *state)
{
	return ((double)(random_next(state) >> 11) + 0.5) / 0x1p53;
}

/* By Box and Muller. */
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
	const struct change_points_values all = {values, 0, count};
	struct change_points settled = {0};

	assert_int_equal(change_points_settle(&settled, &change_points_usual, &all, &error), 0);
	assert_int_equal(change_points_find(found, &settled, &change_points_usual, &all, &error),
			 0);
	change_points_finish(&settled);
}

/* In whatever window it comes, and from soon on: of fewer values chance makes a step as well. */
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

/* Two runs may be anything. */
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

/* Both there and back, and what is below the magnitude is none. */
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

/* One run of ten times as much, wherever it is, is no step. */
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

/* A sanitized build is some forty times slower. */
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
 * Noise alone: 400 series of 500 runs with a spread of 5 %, each looked at in 20 windows. If
 * each window had its p of 0.001, there were 8 steps; that each is held against its sides
 * again makes it less, and more than 16 have a chance of 0.4 % even so. Of 10 there were 0.2,
 * and more than 2 have a chance of 0.1 %.
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
		print_error("%zu false steps in %d series of 500 runs\n", count, SERIES);
	assert_true(count <= FALSE_MOST);
}

/* Of noise of 2 %, a step of 10 % is found in 8 runs, and where it was within one run. */
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

static void check_same(const struct change_points *one, const struct change_points *other)
{
	assert_int_equal(one->count, other->count);
	for (size_t i = 0; i < one->count; i++) {
		assert_int_equal(one->list[i].at, other->list[i].at);
		assert_near(one->list[i].before, other->list[i].before, 0);
		assert_near(one->list[i].after, other->list[i].after, 0);
		assert_near(one->list[i].statistic, other->list[i].statistic, 0);
	}
}

/* Value by value, with no more of those before than are needed: as if it had been at once. */
static void test_piece_by_piece(void **unused)
{
	static double values[LONG];
	struct change_points settled = {0};
	struct change_points found = {0};

	fill(values, LONG, 0.03, 9);
	for (size_t i = 40; i + 37 < LONG; i += 74)
		raise(values, i, i + 37, 1.08);
	for (size_t count = 1; count <= LONG; count++) {
		size_t first = change_points_need(&settled, &change_points_usual);
		double *copied = malloc((count - first) * sizeof(*copied));
		const struct change_points_values some = {copied, first, count};
		struct change_points at_once;

		memcpy(copied, values + first, (count - first) * sizeof(*copied));
		assert_int_equal(
			change_points_settle(&settled, &change_points_usual, &some, &error), 0);
		if (count % 70 == 3 || count == LONG) {
			change_points_finish(&found);
			assert_int_equal(change_points_find(&found, &settled, &change_points_usual,
							    &some, &error),
					 0);
			find(&at_once, values, count);
			check_same(&found, &at_once);
			change_points_finish(&at_once);
		}
		free(copied);
	}
	assert_true(found.count > 10);
	change_points_finish(&found);
	change_points_finish(&settled);
}

static void test_needed_values(void **unused)
{
	static double values[LONG];
	struct change_points settled = {0};
	struct change_points_values some = {values, 0, LONG};
	struct error refused = {0};

	fill(values, LONG, 0.03, 9);
	assert_int_equal(change_points_settle(&settled, &change_points_usual, &some, &error), 0);
	assert_int_equal(settled.windows, (LONG - 50) / 25 + 1);
	assert_int_equal(change_points_settled(&settled, &change_points_usual), LONG);
	some.first = change_points_need(&settled, &change_points_usual) + 1;
	some.values += some.first;
	assert_int_equal(change_points_settle(&settled, &change_points_usual, &some, &refused),
			 -EINVAL);
	change_points_finish(&settled);
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
		cmocka_unit_test(test_place),          cmocka_unit_test(test_too_early),
		cmocka_unit_test(test_several),        cmocka_unit_test(test_outlier),
		cmocka_unit_test(test_noise),          cmocka_unit_test(test_power),
		cmocka_unit_test(test_piece_by_piece), cmocka_unit_test(test_needed_values),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
