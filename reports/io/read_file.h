/* SPDX-License-Identifier: MIT */
/* The whole of a file in memory, so much of it at the most. */
#ifndef REPORTS_IO_READ_FILE_H
#define REPORTS_IO_READ_FILE_H

#include <stddef.h>

#include "core/base/error.h"

/* The path, as errors name it. */
const char *read_file_name(const char *path);

/*
 * path "-" is standard input. The text is the caller's to free, also where this fails; no
 * zero follows it. -EFBIG: there is more than most; is: what it was to be, such as "a result".
 */
int read_whole_file(const char *path, const char *is, size_t most, char **text, size_t *length,
		    struct error *error);

#endif
