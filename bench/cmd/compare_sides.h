/* SPDX-License-Identifier: MIT */
/* Loads the results of both sides of a comparison. */
#ifndef BENCH_CMD_COMPARE_SIDES_H
#define BENCH_CMD_COMPARE_SIDES_H

#include "bench/cmd/command.h"
#include "reports/compare/compare.h"

struct compare_sides {
	const char **files[COMPARE_SIDES];
	size_t count[COMPARE_SIDES];
};

/*
 * Adds a result to a side; the comparison takes ownership. COMMAND_INVALID: it was measured under
 * other circumstances (error code -EXDEV), or is the same run as another one.
 */
enum command_status compare_sides_add(struct comparison *comparison, enum compare_side side,
				      struct result *result, const char *path, struct error *error);

/* Loads all files of a side. */
enum command_status compare_sides_load(struct comparison *comparison,
				       const struct compare_sides *sides, enum compare_side side,
				       struct error *error);

#endif
