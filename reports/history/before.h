/* SPDX-License-Identifier: MIT */
/*
 * What a history has to compare a result with: the newest runs of the same setup (alike.h) that
 * were started before it.
 */
#ifndef REPORTS_HISTORY_BEFORE_H
#define REPORTS_HISTORY_BEFORE_H

#include "reports/history/history.h"

struct history_before {
	const struct result *result; /* the caller's, like: */
	size_t most;
	char (*names)[HISTORY_NAME]; /* the newest first; of documents in runs/ */
	size_t count;
};

/* A history_work: of is what has result and most, and is filled anew. */
int history_before_fill(struct history *history, void *of, struct error *error);

void history_before_finish(struct history_before *before);

#endif
