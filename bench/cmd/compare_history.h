/* SPDX-License-Identifier: MIT */
/* The baseline of a comparison from a history. */
#ifndef BENCH_CMD_COMPARE_HISTORY_H
#define BENCH_CMD_COMPARE_HISTORY_H

#include "bench/cmd/compare_sides.h"

/*
 * Adds up to `most` of the newest runs that have the setup of NEW and started before all runs of
 * NEW, which must be loaded. path NULL: the user's history. COMMAND_INVALID: there is no such run.
 */
enum command_status compare_history_load(struct comparison *comparison, const char *path,
					 size_t most, struct error *error);

#endif
