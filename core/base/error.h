/* SPDX-License-Identifier: MIT */
/*
 * The reason for a failure, as text. The caller owns the struct and zeroes it. The function
 * that detects a failure sets it, the first error is kept, and callers prepend context.
 * Nothing is allocated. A NULL error is allowed everywhere.
 */
#ifndef CORE_BASE_ERROR_H
#define CORE_BASE_ERROR_H

#include "core/base/compiler.h"

struct error {
	int code; /* negative errno; 0: none yet */
	char text[256];
};

/* Sets the error unless it is set already. Returns code, which is negative. */
int error_set(struct error *error, int code, const char *format, ...) FORMAT(3, 4);

/* The same, followed by ": " and the text of the errno. */
int error_set_errno(struct error *error, int code, const char *format, ...) FORMAT(3, 4);

/*
 * Prepends "format: " to an error that is set. Returns its code, or -EIO if error is NULL: the
 * caller has failed, and its code is unknown.
 */
int error_wrap(struct error *error, const char *format, ...) FORMAT(2, 3);

/* Appends "; format" to an error that is set. Returns the same. */
int error_append(struct error *error, const char *format, ...) FORMAT(2, 3);

/* Keeps the first failure of several steps that must all be executed. */
static inline void error_keep(int *first, int code)
{
	if (code && !*first)
		*first = code;
}

#endif
