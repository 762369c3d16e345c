/* SPDX-License-Identifier: MIT */
/* The baseline of a result: the newest earlier runs of the same setup in a history. */
#ifndef REPORTS_HISTORY_BASELINE_H
#define REPORTS_HISTORY_BASELINE_H

#include "reports/history/database.h"
#include "reports/history/name.h"

struct history_baseline {
	struct history_name *names; /* oldest first */
	size_t count;
};

/* Finds at most that many runs of the result's setup (same_setup.h) that started before it. */
int history_baseline_find(struct history_baseline *baseline, struct history *history,
			  const struct result *result, size_t most, struct error *error);

/* Loads the result of a run; the caller calls result_finish. */
int history_baseline_load(struct result *result, struct history *history,
			  const struct history_name *name, struct error *error);

void history_baseline_finish(struct history_baseline *baseline);

#endif
