/* SPDX-License-Identifier: MIT */
/* What 'verbmark history add' does. */
#ifndef BENCH_CMD_HISTORY_ADD_H
#define BENCH_CMD_HISTORY_ADD_H

#include "reports/history/history.h"
#include "reports/history/name.h"

struct history_add {
	const char *const *files;
	size_t n_files;
	const char *version; /* NULL: as the documents say */
	const char *commit;
};

/* Whether a label may say that; the option is named. */
int history_add_check(const struct history_add *add, struct error *error);

/* The exit status. What cannot be added is told, and the others are added. */
int history_add(struct history *history, const struct history_add *add, struct error *error);

#endif
