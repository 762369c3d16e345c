/* SPDX-License-Identifier: MIT */
/*
 * Adds results to a history: the document, what it was measured on, and a value in the series of
 * each of its figures. One result is one transaction, which is on the disk when it ends.
 */
#ifndef REPORTS_HISTORY_ADD_H
#define REPORTS_HISTORY_ADD_H

#include "reports/history/database.h"
#include "reports/history/name.h"

enum history_added {
	HISTORY_ADDED,
	HISTORY_KNOWN,     /* nothing has changed */
	HISTORY_RELABELED, /* it is known, and has another version or commit now */
};

/* A result with its document. Empty members of the label leave what the document says. */
struct history_entry {
	const struct history_name *name;
	const struct result *result;
	const char *document;
	size_t length;
	const struct history_label *label;
};

int history_add(enum history_added *added, struct history *history,
		const struct history_entry *entry, struct error *error);

#endif
