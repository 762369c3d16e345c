/* SPDX-License-Identifier: MIT */
/*
 * Results over time in one SQLite database: runs with their documents, their setups, and series of
 * values. SQLite keeps the file intact if a process is killed or the disk is full, and allows one
 * writer at a time. Every function that fails sets an error that names the file.
 */
#ifndef REPORTS_HISTORY_DATABASE_H
#define REPORTS_HISTORY_DATABASE_H

#include <sqlite3.h>

#include "core/base/error.h"

/* application_id: "vbmk". */
#define HISTORY_APPLICATION 0x76626d6b

/* user_version. Increment it when the tables, or the meaning of their values, change. */
#define HISTORY_VERSION 1

struct history {
	char *path;
	sqlite3 *db;
};

enum history_use {
	HISTORY_READ,
	HISTORY_WRITE, /* creates the file and its folder if missing */
};

/* Opens a history. -ENOENT: no run has been added yet. */
int history_open(struct history *history, const char *path, enum history_use use,
		 struct error *error);

/*
 * Begin and end a transaction. Pass the result of the work to history_end: on an error it rolls
 * back and adds to the message whether reading or writing failed.
 */
int history_begin(struct history *history, enum history_use use, struct error *error);
int history_end(struct history *history, enum history_use use, int code, struct error *error);

void history_close(struct history *history);

#endif
