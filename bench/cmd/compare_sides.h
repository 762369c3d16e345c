/* SPDX-License-Identifier: MIT */
/* The results of both sides of a comparison, by the paths that were given. */
#ifndef BENCH_CMD_COMPARE_SIDES_H
#define BENCH_CMD_COMPARE_SIDES_H

#include "bench/cmd/command.h"
#include "reports/compare/compare.h"

struct compare_sides {
	const char **files[COMPARE_SIDES];
	size_t count[COMPARE_SIDES];
};

/*
 * One more of a side, which is the comparison's from here on. COMMAND_INVALID: it is not alike to
 * others (-EXDEV), or the same run.
 */
enum command_status compare_sides_add(struct comparison *comparison, enum compare_side side,
				      struct result *result, const char *path, struct error *error);

/* All of one side. */
enum command_status compare_sides_load(struct comparison *comparison,
				       const struct compare_sides *sides, enum compare_side side,
				       struct error *error);

#endif
