/* SPDX-License-Identifier: MIT */
/*
 * The list of tests that cannot run on a device, grouped by reason:
 *
 *	[reason]
 *	program test
 *
 * A line applies to tests with that name, or whose name begins with it and a space. The
 * environment variable EXEMPT is the path of the list; without it, all tests run.
 */
#ifndef CORE_TEST_LIB_EXEMPT_H
#define CORE_TEST_LIB_EXEMPT_H

#include "core/test/lib/check.h"

/*
 * Removes this program's exempt tests from the table and prints their number by reason.
 * Returns the number of remaining tests, or -1 if the list cannot be read or names an
 * unknown test.
 */
int exempt(struct CMUnitTest *tests, size_t n);

#endif
