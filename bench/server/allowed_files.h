/* SPDX-License-Identifier: MIT */
/*
 * The files of the server's host that clients may name as memory (--allow-file). Clients
 * overwrite these files, so none is allowed by default.
 */
#ifndef BENCH_SERVER_ALLOWED_FILES_H
#define BENCH_SERVER_ALLOWED_FILES_H

#include <stddef.h>

#include "core/base/error.h"
#include "core/base/memory_choice.h"

#define ALLOWED_FILES 16

struct allowed_files {
	const char *path[ALLOWED_FILES];
	size_t count;
};

/* The option's parser. Keeps the text. */
const char *allowed_files_parse(const char *text, void *field);

/*
 * Fails with -EOPNOTSUPP if the memory has a path that is not one of the files. NULL: no file is
 * allowed.
 */
int allowed_files_check(const struct allowed_files *allowed, const struct memory_choice *memory,
			struct error *error);

#endif
