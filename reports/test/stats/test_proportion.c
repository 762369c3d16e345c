/* SPDX-License-Identifier: MIT */
#include "core/base/compiler.h"
#include "core/test/lib/check.h"
#include "reports/stats/proportion.h"

/* Those of R 4.2.2: binom.test(some, all)$conf.int. */
static void test_known(void **unused)
{
	static const struct {
		size_t some;
		size_t all;
		double low;
		double high;
	} known[] = {
		{0,   300, 0,                  0.0122209746942935},
		{300, 300, 0.987779025305706,  1                 },
		{0,   1,   0,                  0.975             },
		{1,   2,   0.0125791170934251, 0.987420882906575 },
		{95,  100, 0.887165088894537,  0.983568120817948 },
		{7,   21,  0.145876942343097,  0.569675482904124 },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(known); i++) {
		struct proportion found = proportion_of(known[i].some, known[i].all);

		assert_near(found.low, known[i].low, 1e-12);
		assert_near(found.high, known[i].high, 1e-12);
	}
}

static void test_nothing(void **unused)
{
	struct proportion found = proportion_of(0, 0);

	assert_near(found.low, 0, 0);
	assert_near(found.high, 1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests_name("proportion", tests, NULL, NULL);
}
