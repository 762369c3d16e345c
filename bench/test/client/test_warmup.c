/* SPDX-License-Identifier: MIT */
#include "bench/client/warmup.h"
#include "core/base/compiler.h"
#include "core/test/lib/check.h"

#define FIGURES 6

/* The last three figures may differ by a twentieth of the smallest. */
static void test_agreement(void **unused)
{
	static const struct {
		double figures[FIGURES];
		unsigned int count;
		bool agrees;
	} rows[] = {
		{{0},			    0, false},
		{{100},			  1, false},
		{{100, 100},                     2, false},
		{{100, 100, 100},                3, true },
		{{100, 105, 100},                3, true },
		{{100, 105.1, 100},              3, false},
		{{105, 100, 102},                3, true },
		{{102, 105.1, 100},              3, false},
		{{105.1, 102, 100},              3, false},
		{{0.001, 0.001, 0.001},          3, true },
		{{1e12, 1.04e12, 1.02e12},       3, true },
		{{0, 0, 0},                      3, true },
		{{0, 0, 1},                      3, false},
 /* Earlier figures do not matter. */
		{{900, 500, 100, 101, 102},      5, true },
		{{900, 100, 101, 102},           4, true },
		{{100, 100, 100, 200},           4, false},
		{{100, 100, 100, 200, 200},      5, false},
		{{100, 100, 100, 200, 200, 200}, 6, true },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct warmup warmup = {0};

		for (unsigned int n = 0; n < rows[i].count; n++)
			warmup_add(&warmup, rows[i].figures[n]);
		if (warmup_agrees(&warmup) != rows[i].agrees)
			fail_msg("row %zu", i);
	}
}

/* A latency that grows by 1 % per step converges, one that grows by 10 % does not. */
static void test_drifts(void **unused)
{
	struct warmup creeping = {0};
	struct warmup growing = {0};
	double slow = 1000;
	double fast = 1000;

	for (int i = 0; i < 100; i++, slow *= 1.01, fast *= 1.1) {
		warmup_add(&creeping, slow);
		warmup_add(&growing, fast);
		assert_int_equal(warmup_agrees(&creeping), i >= 2);
		assert_false(warmup_agrees(&growing));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agreement),
		cmocka_unit_test(test_drifts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
