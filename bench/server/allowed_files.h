/* SPDX-License-Identifier: MIT */
/*
 * The files of the server's host that clients may name as memory (--allow-file). Clients
 * overwrite these files, so none is allowed by default. The same applies to
 * the memory of GPUs (--allow-memory), which no quota limits.
 */
#ifndef BENCH_SERVER_ALLOWED_FILES_H
#define BENCH_SERVER_ALLOWED_FILES_H

#include <stddef.h>

#include "core/base/error.h"
#include "core/base/memory_choice.h"

#define ALLOWED_FILES 16
#define ALLOWED_KINDS 8

struct allowed_files {
	const char *path[ALLOWED_FILES];
	size_t count;
	const struct memory_kind *kind[ALLOWED_KINDS];
	size_t n_kinds;
};

/* Parsers of --allow-file, which keeps the text, and of --allow-memory, into one struct. */
const char *allowed_files_parse(const char *text, void *field);
const char *allowed_files_parse_memory(const char *text, void *field);

/*
 * Fails with -EOPNOTSUPP if the memory is of a file or GPU that is not allowed. NULL: none is
 * allowed.
 */
int allowed_files_check(const struct allowed_files *allowed, const struct memory_choice *memory,
			struct error *error);

#endif
