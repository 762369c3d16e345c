/* SPDX-License-Identifier: MIT */
/*
 * Results over time in one SQLite database: runs with their documents, the setups that they were
 * measured on, and series of values. SQLite keeps the file whole when a process is killed or the
 * disk is full, and lets one process at a time write. Every function leaves a sentence that
 * names the file.
 */
#ifndef REPORTS_HISTORY_DATABASE_H
#define REPORTS_HISTORY_DATABASE_H

#include <sqlite3.h>

#include "core/base/error.h"

/* In application_id: "vbmk". */
#define HISTORY_APPLICATION 0x76626d6b

/* In user_version. Count it up when the tables or the values in them change. */
#define HISTORY_VERSION 1

struct history {
	char *path;
	sqlite3 *db;
};

enum history_use {
	HISTORY_READ,
	HISTORY_WRITE, /* creates the file and its folder where they are missing */
};

/* -ENOENT: nobody has added a run yet. */
int history_open(struct history *history, const char *path, enum history_use use,
		 struct error *error);

/*
 * Begins and ends what other processes see at once. End it with the code of the work: an error
 * rolls back, and gets a sentence that says what could not be done ("read", "write").
 */
int history_begin(struct history *history, enum history_use use, struct error *error);
int history_end(struct history *history, enum history_use use, int code, struct error *error);

void history_close(struct history *history);

#endif
