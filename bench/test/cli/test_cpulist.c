/* SPDX-License-Identifier: MIT */
#include "bench/cli/cpulist.h"
#include "core/base/compiler.h"
#include "core/test/lib/check.h"

static void test_cpu_lists(void **unused)
{
	static const struct {
		const char *text;
		unsigned int count; /* 0: invalid */
	} rows[] = {
		{"0",		      1   },
                {"0-3",                    4   },
		{"0-3,8",                  5   },
                {"0,2,4,6",                4   },
		{"8191",                   1   },
                {"0-8191",                 8192},
		{"0-1,1-2",                3   },
                {"",                       0   },
		{"8192",                   0   },
                {"0-99999999999999999999", 0   },
		{"3-1",                    0   },
                {"1,",                     0   },
		{"1-",                     0   },
                {" 1",                     0   },
		{"-1",                     0   },
                {"0-3:1/2",                0   },
		{NULL,                     0   },
	};
	struct cpulist a;
	struct cpulist b;

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		assert_int_equal(cpulist_parse(&a, rows[i].text), rows[i].count > 0);
		if (rows[i].count)
			assert_int_equal(cpulist_count(&a), rows[i].count);
	}
	assert_true(cpulist_parse(&a, "0-63,100"));
	assert_true(cpulist_parse(&b, "60-70,100-101"));
	assert_int_equal(cpulist_common(&a, &b), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpu_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
