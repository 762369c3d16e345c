/* SPDX-License-Identifier: MIT */
#include "core/verbs/provider.h"

#include <dlfcn.h>
#include <stddef.h>

void *provider_function(const char *library, const char *name)
{
	void *function = dlsym(RTLD_DEFAULT, name);
	void *handle;

	if (function)
		return function;
	handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	return handle ? dlsym(handle, name) : NULL;
}
