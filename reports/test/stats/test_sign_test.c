/* SPDX-License-Identifier: MIT */
#include "core/base/compiler.h"
#include "core/test/lib/check.h"
#include "reports/stats/sign_test.h"

/* Exact sums of binomial coefficients over 2^n; the second is from a table. */
static void test_chances(void **unused)
{
	static const struct {
		size_t heads;
		size_t count;
		double chance;
	} known[] = {
		{15,   20,   0.020694732666015625 },
		{8,    10,   0.0546875            },
		{42,   60,   0.001335218141403533 },
		{60,   60,   8.673617379884035e-19},
		{1034, 2000, 0.06703503428156415  },
		{1,    1,    0.5                  },
		{0,    5,    1                    },
		{6,    5,    0                    },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(known); i++)
		assert_near(sign_test_chance(known[i].heads, known[i].count), known[i].chance,
			    1e-9 * known[i].chance);
}

static void test_ranks(void **unused)
{
	assert_int_equal(sign_test_rank(20, 0.01), 5);
	assert_int_equal(sign_test_rank(12, 0.01), 2);
	assert_int_equal(sign_test_rank(60, 0.01), 21);
	assert_int_equal(sign_test_rank(1000, 0.01), 463);
	assert_int_equal(sign_test_rank(6, 0.05), 1);
	assert_int_equal(sign_test_rank(6, 0.01), 0);
	assert_int_equal(sign_test_rank(0, 0.01), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chances),
		cmocka_unit_test(test_ranks),
	};

	return cmocka_run_group_tests_name("sign", tests, NULL, NULL);
}
