/* SPDX-License-Identifier: MIT */
/* Opens the database of --db, or the user's own. */
#ifndef BENCH_CMD_HISTORY_DB_H
#define BENCH_CMD_HISTORY_DB_H

#include "reports/history/database.h"

/* path NULL: verbmark/history.sqlite in the user's data directory; -EINVAL if that is unknown. */
int history_db_open(struct history *history, const char *path, enum history_use use,
		    struct error *error);

#endif
