/* SPDX-License-Identifier: MIT */
#include "core/memory/gpu.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static void *open_library(const char *const *names, struct error *error)
{
	char reason[160] = "";

	for (size_t i = 0; names[i]; i++) {
		void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);

		if (library)
			return library;
		/* The first name is the one to look for. */
		if (!i)
			snprintf(reason, sizeof(reason), "%.150s", dlerror());
	}
	error_set(error, -EOPNOTSUPP, "%s", reason);
	return NULL;
}

int gpu_load(void *table, const char *const *names, const struct gpu_symbol *symbols, size_t count,
	     const char *advice, struct error *error)
{
	void *library = open_library(names, error);

	if (!library) {
		error_append(error, "%s", advice);
		return -EOPNOTSUPP;
	}
	for (size_t i = 0; i < count; i++) {
		void *function = dlsym(library, symbols[i].name);

		if (!function && !symbols[i].is_optional) {
			dlclose(library);
			return error_set(error, -EOPNOTSUPP,
					 "%s has no function %s: the driver is too old; install a "
					 "newer one",
					 names[0], symbols[i].name);
		}
		memcpy((char *)table + symbols[i].offset, &function, sizeof(function));
	}
	return 0;
}

void gpu_set_address(struct gpu *gpu, const char *text)
{
	size_t length = strlen(text);

	/* Some drivers print eight digits of domain. */
	if (length == sizeof("00000000:17:00.0") - 1)
		text += 4;
	snprintf(gpu->address, sizeof(gpu->address), "%.15s", text);
	for (char *letter = gpu->address; *letter; letter++)
		*letter = (char)tolower((unsigned char)*letter);
}
