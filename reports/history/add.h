/* SPDX-License-Identifier: MIT */
/*
 * Adds results to a history: the document, its setup, and one value in the series of each figure.
 * Each result is one transaction, which is on disk when it ends.
 */
#ifndef REPORTS_HISTORY_ADD_H
#define REPORTS_HISTORY_ADD_H

#include "reports/history/database.h"
#include "reports/history/name.h"

enum history_added {
	HISTORY_ADDED,
	HISTORY_KNOWN,     /* nothing changed */
	HISTORY_RELABELED, /* the run was known; its version or commit changed */
};

/* A result with its document. Empty members of the label keep what the document says. */
struct history_entry {
	const struct history_name *name;
	const struct result *result;
	const char *document;
	size_t length;
	const struct history_label *label;
};

/* Adds a result unless its run is known; sets *added. */
int history_add(enum history_added *added, struct history *history,
		const struct history_entry *entry, struct error *error);

#endif
