/* SPDX-License-Identifier: MIT */
/* The baseline of a comparison from a history. */
#ifndef BENCH_CMD_COMPARE_HISTORY_H
#define BENCH_CMD_COMPARE_HISTORY_H

#include "bench/cmd/compare_sides.h"

/*
 * Adds the newest runs, at most that many, of the setup of NEW that started before all of NEW.
 * Call it when NEW is loaded. path NULL: the user's history. COMMAND_INVALID: there is no run.
 */
enum command_status compare_history_load(struct comparison *comparison, const char *path,
					 size_t most, struct error *error);

#endif
