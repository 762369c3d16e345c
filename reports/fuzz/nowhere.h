/* SPDX-License-Identifier: MIT */
/* Returns a stream that discards everything written to it. It is never closed. */
#ifndef REPORTS_FUZZ_NOWHERE_H
#define REPORTS_FUZZ_NOWHERE_H

#include <stdio.h>
#include <sys/types.h>

static inline ssize_t nowhere_write(void *cookie, const char *bytes, size_t size)
{
	(void)cookie;
	(void)bytes;
	return (ssize_t)size;
}

static inline FILE *nowhere(void)
{
	static FILE *stream;

	if (!stream)
		stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = nowhere_write});
	return stream;
}

#endif
