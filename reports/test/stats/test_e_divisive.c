/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/base/random.h"
#include "core/test/lib/check.h"
#include "reports/stats/e_divisive.h"
#include "reports/test/lib/failing.h"

static struct error error;

/*
 * Expected values were computed by R 4.2.2 on its own data sets, from the paper's formulas (5) and
 * (6) with exponent 1:
 *
 *   Q <- function(x, y) {
 *     n <- length(x); m <- length(y)
 *     m*n/(m+n) * (2/(m*n)*sum(abs(outer(x, y, "-"))) - sum(dist(x))/choose(n, 2) -
 *                  sum(dist(y))/choose(m, 2))
 *   }
 *   best <- function(z, least) {
 *     r <- c(0, 0, -1)
 *     for (t in least:(length(z)-least)) for (k in (t+least):length(z)) {
 *       q <- Q(z[1:t], z[(t+1):k]); if (q > r[3]) r <- c(t, k, q) }
 *     r
 *   }
 *
 * best(Nile, 4), best(lh, 4), best(discoveries, 4), Q(Nile[1:28], Nile[29:100]), Q of the two
 * groups of sleep$extra; p of lh from 1500 shuffles, of sleep from 50000.
 */
static const double nile[] = {
	1120, 1160, 963, 1210, 1160, 1160, 813,  1230, 1370, 1140, 995,  935,  1110, 994,  1020,
	960,  1180, 799, 958,  1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774,  840,
	874,  694,  940, 833,  701,  916,  692,  1020, 1050, 969,  831,  726,  456,  824,  702,
	1120, 1100, 832, 764,  821,  768,  845,  864,  862,  698,  845,  744,  796,  1040, 759,
	781,  865,  845, 944,  984,  897,  822,  1010, 771,  676,  649,  846,  812,  742,  801,
	1040, 860,  874, 848,  890,  744,  749,  838,  1050, 918,  986,  797,  923,  975,  815,
	1020, 906,  901, 1170, 912,  746,  919,  718,  714,  740,
};
static const double lh[] = {
	2.4, 2.4, 2.4, 2.2, 2.1, 1.5, 2.3, 2.3, 2.5, 2.0, 1.9, 1.7, 2.2, 1.8, 3.2, 3.2,
	2.7, 2.2, 2.2, 1.9, 1.9, 1.8, 2.7, 3.0, 2.3, 2.0, 2.0, 2.9, 2.9, 2.7, 2.7, 2.3,
	2.6, 2.4, 1.8, 1.7, 1.5, 1.4, 2.1, 3.3, 3.5, 3.5, 3.1, 2.6, 2.1, 3.4, 3.0, 2.9,
};
static const double discoveries[] = {
	5,  3, 0,  2, 0, 3, 2, 3, 6, 1, 2, 1, 2, 1, 3, 3, 3, 5, 2, 4, 4, 0, 2, 3, 7,
	12, 3, 10, 9, 2, 3, 7, 7, 2, 3, 3, 6, 2, 4, 3, 5, 2, 2, 4, 0, 4, 2, 5, 2, 3,
	3,  6, 5,  8, 3, 6, 6, 0, 5, 2, 2, 2, 6, 3, 4, 4, 2, 2, 4, 7, 5, 3, 3, 0, 2,
	2,  2, 1,  3, 4, 2, 2, 1, 1, 1, 2, 1, 4, 4, 3, 2, 1, 4, 1, 1, 1, 0, 0, 2, 0,
};
static const double extra[] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0,
			       1.9, 0.8,  1.1,  0.1,  -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};

static void check_best(const double *values, size_t count, struct e_divisive_place wanted)
{
	struct e_divisive_place found;

	assert_int_equal(e_divisive_find(&found, values, count, 4, &error), 0);
	assert_int_equal(found.at, wanted.at);
	assert_int_equal(found.end, wanted.end);
	assert_near(found.statistic / wanted.statistic, 1, 1e-12);
}

static void test_best_place(void **unused)
{
	check_best(nile, ARRAY_LENGTH(nile), (struct e_divisive_place){28, 83, 4916.59080767514});
	check_best(lh, ARRAY_LENGTH(lh), (struct e_divisive_place){39, 43, 5.23378212974296});
	check_best(discoveries, ARRAY_LENGTH(discoveries),
		   (struct e_divisive_place){24, 29, 23.5982008995502});
}

static void test_distance(void **unused)
{
	assert_near(e_divisive_distance(nile, 28, ARRAY_LENGTH(nile)), 4807.52131455399, 1e-8);
	assert_near(e_divisive_distance(extra, 10, ARRAY_LENGTH(extra)), 1.78222222222222, 1e-12);
}

/* R shuffles differently: allow three standard deviations of our p and three of R's. */
static void test_chance_between(void **unused)
{
	struct e_divisive_rule rule = {4, 1, 20000, 0};
	double p;

	for (; rule.seed < 5; rule.seed++) {
		assert_int_equal(e_divisive_compare(&p, &rule, extra, 10, ARRAY_LENGTH(extra)), 0);
		assert_near(p, 0.14476, 0.0075 + 0.0047);
	}
}

static void test_chance_of_a_place(void **unused)
{
	const struct e_divisive_rule rule = {4, 0.05, 2000, 1};
	struct e_divisive_division divisions[ARRAY_LENGTH(lh)];
	size_t count;

	assert_int_equal(e_divisive_divide(&rule, lh, ARRAY_LENGTH(lh), divisions, &count, &error),
			 0);
	assert_true(count >= 1);
	for (size_t i = 0; i < count; i++)
		if (divisions[i].at == 39)
			assert_near(divisions[i].p, 0.008, 0.006 + 0.0069);
	assert_true(divisions[0].at == 39 || count > 1);
}

/* The level of the river changes in 1899, as is well known. */
static void test_nile(void **unused)
{
	const struct e_divisive_rule rule = {4, 0.001, e_divisive_shuffles(0.001), 7};
	struct e_divisive_division divisions[ARRAY_LENGTH(nile)];
	size_t count;

	assert_int_equal(
		e_divisive_divide(&rule, nile, ARRAY_LENGTH(nile), divisions, &count, &error), 0);
	assert_int_equal(count, 1);
	assert_int_equal(divisions[0].at, 28);
	assert_true(divisions[0].p < 0.001);
}

static void test_fewest_shuffles(void **unused)
{
	assert_int_equal(e_divisive_shuffles(0.001), 1000);
	assert_int_equal(e_divisive_shuffles(0.05), 20);
	assert_true(1.0 / (1 + e_divisive_shuffles(0.05)) < 0.05);
	assert_true(1.0 / e_divisive_shuffles(0.05) >= 0.05);
}

static void test_several(void **unused)
{
	const struct e_divisive_rule rule = {4, 0.01, e_divisive_shuffles(0.01), 1};
	struct e_divisive_division divisions[60];
	double values[60];
	uint64_t state = 3;
	size_t count;

	for (size_t i = 0; i < ARRAY_LENGTH(values); i++)
		values[i] = (i < 20   ? 10
			     : i < 40 ? 20
				      : 10) +
			    (double)(random_next(&state) % 8) / 8;
	assert_int_equal(e_divisive_divide(&rule, values, 60, divisions, &count, &error), 0);
	assert_int_equal(count, 2);
	assert_int_equal(divisions[0].at, 20);
	assert_int_equal(divisions[1].at, 40);
}

static void test_nothing_to_divide(void **unused)
{
	const struct e_divisive_rule rule = {4, 0.01, e_divisive_shuffles(0.01), 1};
	static const double same[] = {5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5};
	struct e_divisive_division divisions[ARRAY_LENGTH(same)];
	size_t count;

	for (size_t length = 0; length <= ARRAY_LENGTH(same); length++) {
		assert_int_equal(e_divisive_divide(&rule, same, length, divisions, &count, &error),
				 0);
		assert_int_equal(count, 0);
	}
}

static void test_too_many(void **unused)
{
	static const double values[E_DIVISIVE_MOST + 1];
	struct e_divisive_division divisions[1];
	struct e_divisive_place place;
	struct error found = {0};
	size_t count;

	assert_int_equal(e_divisive_find(&place, values, ARRAY_LENGTH(values), 4, &found), -EINVAL);
	assert_contains(found.text, "301 values exceed the maximum of 300");
	assert_int_equal(e_divisive_divide(&(struct e_divisive_rule){4, 0.01, 100, 1}, values,
					   ARRAY_LENGTH(values), divisions, &count, &error),
			 -EINVAL);
	error = (struct error){0};
}

static void test_no_memory(void **unused)
{
	struct e_divisive_place place;
	struct error found = {0};
	double p;

	allocations = 0;
	assert_int_equal(e_divisive_find(&place, nile, 20, 4, &found), -ENOMEM);
	allocations = 0;
	assert_int_equal(
		e_divisive_compare(&p, &(struct e_divisive_rule){4, 0.01, 100, 1}, nile, 10, 20),
		-ENOMEM);
	allocations = -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_best_place),     cmocka_unit_test(test_distance),
		cmocka_unit_test(test_chance_between), cmocka_unit_test(test_chance_of_a_place),
		cmocka_unit_test(test_nile),           cmocka_unit_test(test_fewest_shuffles),
		cmocka_unit_test(test_several),        cmocka_unit_test(test_nothing_to_divide),
		cmocka_unit_test(test_too_many),       cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
