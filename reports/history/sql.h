/* SPDX-License-Identifier: MIT */
/*
 * Wrappers of SQLite's calls. types has one letter for each bound value: i int64_t, d double,
 * t const char * (may be NULL), b const void * followed by its size_t. Errors: -EBADMSG a damaged
 * file, -ENOSPC a full disk, -EBUSY a lock of another process, -EROFS a read-only file, -EINVAL a
 * file that is not a database.
 */
#ifndef REPORTS_HISTORY_SQL_H
#define REPORTS_HISTORY_SQL_H

#include <sqlite3.h>
#include <stdint.h>

#include "core/base/error.h"

/* Sets the error to SQLite's message and returns its code. */
int sql_fail(sqlite3 *db, int result, struct error *error);

/* Prepares a statement, which the caller finalizes. NULL: error (sqlite3_finalize accepts it). */
sqlite3_stmt *sql_start(sqlite3 *db, struct error *error, const char *text, const char *types, ...);

/* Fetches a row. Returns 1, or 0 after the last one; for NULL, the error of sql_start. */
int sql_next(sqlite3_stmt *statement, struct error *error);

/* Runs a statement again, to its end, with new values. */
int sql_again(sqlite3_stmt *statement, struct error *error, const char *types, ...);

/* Runs one statement to its end. */
int sql_do(sqlite3 *db, struct error *error, const char *text, const char *types, ...);

/* Fetches the number that a query returns; 0 if it returns no row. */
int sql_number(sqlite3 *db, struct error *error, int64_t *number, const char *text);

/* Returns the text in a column; empty if it is NULL. */
const char *sql_text(sqlite3_stmt *statement, int column);

#endif
