/* SPDX-License-Identifier: MIT */
/* The base of a comparison out of a history: the runs before what is new, of its setup. */
#ifndef BENCH_CMD_COMPARE_HISTORY_H
#define BENCH_CMD_COMPARE_HISTORY_H

#include "bench/cmd/compare_sides.h"

/*
 * Once what is new is there: adds to the base the newest runs, as many as most, of the folder
 * (NULL: the user's) that are of the setup of the oldest one, and before it. COMMAND_INVALID:
 * there are none.
 */
enum command_status compare_history_load(struct comparison *comparison, const char *folder,
					 size_t most, struct error *error);

#endif
