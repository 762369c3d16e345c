/* SPDX-License-Identifier: MIT */
/*
 * Tests on a device are rows of tables. A program with several files has a table in each
 * and runs them as one group: TAP allows one plan, and starting a program may mean booting
 * a machine.
 */
#ifndef CORE_TEST_LIB_ROWS_H
#define CORE_TEST_LIB_ROWS_H

#include "core/test/lib/agent.h"
#include "core/test/lib/spare.h"

#define ALONE(test) cmocka_unit_test_teardown(test, agents_end)
/* The initial state and the name contain the test's variant. */
#define WITH(test, how)                                                                   \
	{                                                                                 \
		.name = #test " " #how, .test_func = (test), .teardown_func = agents_end, \
		.initial_state = (void *)(uintptr_t) & (how)                              \
	}
/* The same, with a device that the test may remove. */
#define SPARE(test, how)                                                                    \
	{                                                                                   \
		.name = #test " " #how, .test_func = (test), .setup_func = spare_make,      \
		.teardown_func = spare_remove, .initial_state = (void *)(uintptr_t) & (how) \
	}

struct rows {
	const struct CMUnitTest *tests;
	size_t n;
};

#define ROWS(array)                          \
	{                                    \
		(array), ARRAY_LENGTH(array) \
	}

/* Part of rxe_operations. */
extern const struct rows rows_contexts;
extern const struct rows rows_waits;

/* Part of rxe_failures. */
extern const struct rows rows_deaths;
extern const struct rows rows_strangers;
extern const struct rows rows_removals;

/* Runs n tables in order. Returns what cmocka_run_group_tests returns. */
int rows_run(const struct rows *tables, size_t n, CMFixtureFunction setup);

#endif
