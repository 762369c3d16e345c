/* SPDX-License-Identifier: MIT */
/*
 * Adds result files, or the runs of an old folder, to a history and prints a line for each.
 * Inputs that cannot be read are reported on standard error; the others are added.
 */
#ifndef BENCH_CMD_HISTORY_ADD_H
#define BENCH_CMD_HISTORY_ADD_H

#include "bench/cmd/command.h"
#include "reports/history/add.h"

enum command_status history_add_files(struct history *history, const char *const *files,
				      size_t n_files, const struct history_label *label,
				      struct error *error);

enum command_status history_add_folder(struct history *history, const char *path,
				       struct error *error);

#endif
