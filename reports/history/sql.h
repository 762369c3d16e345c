/* SPDX-License-Identifier: MIT */
/*
 * SQLite's calls with our errors. Values are bound in the order of their letters in types:
 * i int64_t, d double, t const char * (NULL too), b const void * and its size_t. A damaged file
 * is -EBADMSG, a full disk -ENOSPC, a lock of others -EBUSY, a read-only file -EROFS, and a file
 * that is no database -EINVAL.
 */
#ifndef REPORTS_HISTORY_SQL_H
#define REPORTS_HISTORY_SQL_H

#include <sqlite3.h>
#include <stdint.h>

#include "core/base/error.h"

/* Sets the error to what SQLite said, and returns its code. */
int sql_fail(sqlite3 *db, int result, struct error *error);

/* The caller calls sqlite3_finalize, which takes NULL too. NULL: see the error. */
sqlite3_stmt *sql_start(sqlite3 *db, struct error *error, const char *text, const char *types, ...);

/* Fetches a row: 1, or 0 behind the last one. statement NULL: the error of sql_start. */
int sql_next(sqlite3_stmt *statement, struct error *error);

/* Runs it once more, to its end, with other values. */
int sql_again(sqlite3_stmt *statement, struct error *error, const char *types, ...);

/* Runs one statement to its end. */
int sql_do(sqlite3 *db, struct error *error, const char *text, const char *types, ...);

/* Fetches the only number of a query; 0 where it has no row. */
int sql_number(sqlite3 *db, struct error *error, int64_t *number, const char *text);

/* Returns the text in a column; empty where it is NULL. */
const char *sql_text(sqlite3_stmt *statement, int column);

#endif
