/* SPDX-License-Identifier: MIT */
/*
 * cmocka with a few additional checks. Checks work only in the process that cmocka runs;
 * forked children report failures as in agent.h.
 */
#ifndef CORE_TEST_LIB_CHECK_H
#define CORE_TEST_LIB_CHECK_H

/* cmocka.h requires the first three headers. */
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#include <math.h>
#include <stdio.h>
#include <string.h>

#define assert_contains(text, part) check_contains(text, part, __FILE__, __LINE__)

static inline void check_contains(const char *text, const char *part, const char *file, int line)
{
	if (!text || !strstr(text, part)) {
		print_error("'%s' is not in '%s'\n", part, text ? text : "(null)");
		_fail(file, line);
	}
}

#define assert_near(value, wanted, tolerance) \
	check_near(value, wanted, tolerance, __FILE__, __LINE__)

static inline void check_near(double value, double wanted, double tolerance, const char *file,
			      int line)
{
	if (!(fabs(value - wanted) <= tolerance)) {
		print_error("%.17g is not within %g of %.17g\n", value, tolerance, wanted);
		_fail(file, line);
	}
}

#endif
