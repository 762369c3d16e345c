/* SPDX-License-Identifier: MIT */
/* A stream for what is only to be printed, and read by nobody. It stays open. */
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
