/* SPDX-License-Identifier: MIT */
/*
 * Why something failed, as a sentence. The caller owns the struct and zeroes it;
 * whoever finds the fault sets it, the first one wins, and callers that know
 * more put it in front. Nothing is allocated. A NULL error is allowed everywhere.
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

/* The same with ": " and the errno's own text behind it. */
int error_set_errno(struct error *error, int code, const char *format, ...) FORMAT(3, 4);

/* Puts "format: " in front of an error that is set. Returns its code. */
int error_wrap(struct error *error, const char *format, ...) FORMAT(2, 3);

/* Puts "; format" behind an error that is set. Returns its code. */
int error_append(struct error *error, const char *format, ...) FORMAT(2, 3);

/* Keeps the first failure of a number of steps that must all be taken. */
static inline void error_keep(int *first, int code)
{
	if (code && !*first)
		*first = code;
}

#endif
