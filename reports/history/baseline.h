/* SPDX-License-Identifier: MIT */
/* The baseline of a result in a history: the newest runs of the same setup before it. */
#ifndef REPORTS_HISTORY_BASELINE_H
#define REPORTS_HISTORY_BASELINE_H

#include "reports/history/database.h"
#include "reports/history/name.h"

struct history_baseline {
	struct history_name *names; /* the oldest first */
	size_t count;
};

/* Finds at most that many runs that started before the result, on its setup (same_setup.h). */
int history_baseline_find(struct history_baseline *baseline, struct history *history,
			  const struct result *result, size_t most, struct error *error);

/* Reads the result of a run. The caller calls result_finish. */
int history_baseline_load(struct result *result, struct history *history,
			  const struct history_name *name, struct error *error);

void history_baseline_finish(struct history_baseline *baseline);

#endif
