/* SPDX-License-Identifier: MIT */
#include "core/test/lib/rows.h"

#include "core/test/lib/exempt.h"

#define ROWS_MAX 200

int rows_run(const struct rows *tables, size_t n, CMFixtureFunction setup)
{
	struct CMUnitTest tests[ROWS_MAX];
	size_t total = 0;
	int left;

	for (size_t i = 0; i < n; i++) {
		if (tables[i].n > ROWS_MAX - total) {
			print_error("too many rows\n");
			return -1;
		}
		memcpy(&tests[total], tables[i].tests, tables[i].n * sizeof(*tests));
		total += tables[i].n;
	}
	left = exempt(tests, total);
	if (left < 0)
		return -1;
	/* As cmocka_run_group_tests does for an array of that size. */
	return _cmocka_run_group_tests("tests", tests, (size_t)left, setup, NULL);
}
