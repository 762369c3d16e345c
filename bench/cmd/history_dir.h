/* SPDX-License-Identifier: MIT */
/* Where a history is that nobody has named. */
#ifndef BENCH_CMD_HISTORY_DIR_H
#define BENCH_CMD_HISTORY_DIR_H

#include "core/base/error.h"

/* In the user's data: the caller frees it. -EINVAL: there is no $HOME. */
int history_dir(char **folder, struct error *error);

#endif
