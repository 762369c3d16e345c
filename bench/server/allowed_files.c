/* SPDX-License-Identifier: MIT */
#include "bench/server/allowed_files.h"

#include <errno.h>
#include <stdio.h>
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

static bool has_kind(const struct allowed_files *allowed, const struct memory_kind *kind)
{
	for (size_t i = 0; allowed && i < allowed->n_kinds; i++)
		if (allowed->kind[i] == kind)
			return true;
	return false;
}

const char *allowed_files_parse_memory(const char *text, void *field)
{
	struct allowed_files *allowed = field;
	size_t length;

	for (;; text += length + 1) {
		struct memory_choice choice;
		struct error ignored = {0};
		char name[MEMORY_TEXT];

		length = strcspn(text, ",");
		snprintf(name, sizeof(name), "%.*s", (int)length, text);
		if (memory_find(name, &choice, &ignored) || !memory_is_of_gpu(&choice) ||
		    choice.detail[0])
			return "is not a list of cuda, cuda-managed, cuda-pinned and rocm";
		if (!has_kind(allowed, choice.kind) && allowed->n_kinds < ALLOWED_KINDS)
			allowed->kind[allowed->n_kinds++] = choice.kind;
		if (!text[length])
			return NULL;
	}
}

int allowed_files_check(const struct allowed_files *allowed, const struct memory_choice *memory,
			struct error *error)
{
	const char *path = memory_path(memory);

	for (size_t i = 0; path && allowed && i < allowed->count; i++)
		if (!strcmp(allowed->path[i], path))
			return 0;
	if (memory_is_of_gpu(memory) && !has_kind(allowed, memory->kind))
		return error_set(error, -EOPNOTSUPP,
				 "clients may not use memory of GPUs on this server; allow it with "
				 "'serve --allow-memory' on the server");
	if (!path)
		return 0;
	return error_set(error, -EOPNOTSUPP,
			 "clients may not write to %s on this server; allow it with 'serve "
			 "--allow-file' on the server",
			 path);
}
