/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/test/lib/check.h"
#include "reports/stats/holm.h"
#include "reports/test/lib/failing.h"

static struct error error;

static void check(const double *given, const double *wanted, size_t count)
{
	double values[8];

	memcpy(values, given, count * sizeof(*values));
	assert_int_equal(holm_correct(values, count, &error), 0);
	for (size_t i = 0; i < count; i++)
		assert_near(values[i], wanted[i], 1e-15);
}

/* By hand: the smallest times 4, then times 3, 2 and 1, each at least the one before. */
static void test_by_hand(void **unused)
{
	static const double given[] = {0.01, 0.04, 0.03, 0.005};
	static const double wanted[] = {0.03, 0.06, 0.06, 0.02};

	check(given, wanted, 4);
}

static void test_ties_and_ends(void **unused)
{
	static const double same[] = {0.02, 0.02, 0.02};
	static const double thrice[] = {0.06, 0.06, 0.06};
	static const double large[] = {0.9, 0.4, 0, 1};
	static const double most[] = {1, 1, 0, 1};
	static const double one[] = {0.04};

	check(same, thrice, 3);
	check(large, most, 4);
	check(one, one, 1);
	check(one, one, 0);
}

static void test_no_memory(void **unused)
{
	double values[] = {0.5, 0.01};
	struct error found = {0};

	allocations = 0;
	assert_int_equal(holm_correct(values, 2, &found), -ENOMEM);
	allocations = -1;
	assert_contains(found.text, "cannot sort 2 probabilities");
	assert_near(values[1], 0.01, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_ties_and_ends),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
