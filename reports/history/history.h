/* SPDX-License-Identifier: MIT */
/*
 * Results over time: a folder of documents (history_files.h), and index.sqlite beside them,
 * which is made of them, and made anew where it is missing, damaged, or of another version.
 * Who uses a history has it alone, for as long as the work takes; where the folder or the
 * disk takes no writing, or another program has the index, that of readers is in memory. Who
 * is killed leaves it usable.
 */
#ifndef REPORTS_HISTORY_HISTORY_H
#define REPORTS_HISTORY_HISTORY_H

#include <sqlite3.h>

#include "core/base/error.h"
#include "reports/history/name.h"
#include "reports/result/result.h"
#include "reports/table/sentences.h"

struct history {
	const char *folder;
	const char *version; /* of the program: what another one has skipped is tried again */
	sqlite3 *db;
	said *say; /* what was skipped, and whether the index was made anew */
	void *owner;
	size_t n_skipped;
	bool was_listed;   /* in this use of it: strangers have been told */
	bool has_no_files; /* they could not be read: no fault of the index */
	bool is_trying;    /* all that was skipped once more: it was added, maybe */
	int busy_ms;       /* that other programs' locks are waited for */
	bool is_damaged;   /* the index on the disk, in what is found late: nothing of it is used */
};

enum history_use {
	HISTORY_READ,
	HISTORY_ADD,     /* the index is to be on the disk */
	HISTORY_REBUILD, /* and none of what is in it is believed */
};

/* What the document of that result is called. -EINVAL: it does not tell when it was measured. */
int history_name_result(char name[static HISTORY_NAME], const struct result *result,
			const char *document, size_t length, struct error *error);

/* 0 or a negative errno; it may be called once more where the index was damaged. */
typedef int history_work(struct history *history, void *of, struct error *error);

/*
 * Brings the index up to the files, and does the work with it. history has folder,
 * version, say and owner. work NULL: that was all.
 */
int history_do(struct history *history, enum history_use use, history_work *work, void *of,
	       struct error *error);

#endif
