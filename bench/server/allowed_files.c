/* SPDX-License-Identifier: MIT */
#include "bench/server/allowed_files.h"

#include <errno.h>
#include <string.h>

const char *allowed_files_parse(const char *text, void *field)
{
	struct allowed_files *allowed = field;

	if (text[0] != '/')
		return "is not an absolute path";
	if (allowed->count == ALLOWED_FILES)
		return "is one file too many; 16 are possible";
	allowed->path[allowed->count++] = text;
	return NULL;
}

int allowed_files_check(const struct allowed_files *allowed, const struct memory_choice *memory,
			struct error *error)
{
	const char *path = memory_path(memory);

	for (size_t i = 0; path && allowed && i < allowed->count; i++)
		if (!strcmp(allowed->path[i], path))
			return 0;
	if (!path)
		return 0;
	return error_set(error, -EOPNOTSUPP,
			 "clients may not write to %s on this server; allow it with 'serve "
			 "--allow-file' on the server",
			 path);
}
