/* SPDX-License-Identifier: MIT */
/*
 * The list of tests that cannot run on a device, each under its reason:
 *
 *	[reason]
 *	program test
 *
 * A test is meant whose name is that, or begins with it and a blank. The environment's
 * EXEMPT says where the list is; where it says nothing, none is exempt.
 */
#ifndef CORE_TEST_LIB_EXEMPT_H
#define CORE_TEST_LIB_EXEMPT_H

#include "core/test/lib/check.h"

/*
 * Takes those of this program out of the table, and prints how many for which reason. The
 * number that is left; -1 if the list cannot be read, or names a test that there is not.
 */
int exempt(struct CMUnitTest *tests, size_t n);

#endif
