/* SPDX-License-Identifier: MIT */
/* Reads a whole file into memory, up to a maximum length. */
#ifndef REPORTS_IO_READ_FILE_H
#define REPORTS_IO_READ_FILE_H

#include <stddef.h>

#include "core/base/error.h"

/* Returns the path, or "standard input" for "-". */
const char *read_file_name(const char *path);

/*
 * Reads a file; path "-" is standard input. The caller frees the text, even on failure; it is not
 * terminated. -EFBIG: the file is longer than most. is: what the file should be, e.g. "a result".
 */
int read_whole_file(const char *path, const char *is, size_t most, char **text, size_t *length,
		    struct error *error);

/* A kind of file. */
struct read_kind {
	const char *is;    /* e.g. "a result" */
	const char *start; /* how its text begins, apart from white space; NULL: anyhow */
	size_t most;       /* its maximum length */
};

/* The same for a file of several kinds: the first whose start matches. The last has no start. */
int read_file_of_kinds(const char *path, const struct read_kind *kinds, char **text, size_t *length,
		       struct error *error);

#endif
