/* SPDX-License-Identifier: MIT */
#include "bench/cmd/compare_sides.h"

#include <errno.h>

#include "bench/cli/inputs.h"

enum command_status compare_sides_add(struct comparison *comparison, enum compare_side side,
				      struct result *result, const char *path, struct error *error)
{
	char name[INPUTS_NAME];
	int code;

	inputs_name(name, path);
	code = compare_add(comparison, side, result, name, error);
	if (code == -EXDEV || code == -EEXIST)
		return COMMAND_INVALID;
	return code ? COMMAND_FAILED : COMMAND_GOOD;
}

enum command_status compare_sides_load(struct comparison *comparison,
				       const struct compare_sides *sides, enum compare_side side,
				       struct error *error)
{
	enum command_status status = COMMAND_GOOD;

	for (size_t i = 0; i < sides->count[side] && status == COMMAND_GOOD; i++) {
		const char *path = sides->files[side][i];
		struct result result;

		if (inputs_load(&result, path, error))
			return COMMAND_FAILED;
		status = compare_sides_add(comparison, side, &result, path, error);
	}
	return status;
}
