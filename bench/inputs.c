/* SPDX-License-Identifier: MIT */
#include "bench/inputs.h"

#include <errno.h>
#include <string.h>

#include "reports/save.h"

int inputs_require(size_t count, const char *what, struct error *error)
{
	return count ? 0
		     : error_set(error, -EINVAL, "%s is missing: a result that run has left", what);
}

int inputs_spare(const char *const *paths, size_t count, const char *output, struct error *error)
{
	if (!output || !strcmp(output, "-"))
		return 0;
	for (size_t i = 0; i < count; i++)
		if (save_is_same(output, paths[i]))
			return error_set(error, -EINVAL, "--output is a result: it would be lost");
	return 0;
}
