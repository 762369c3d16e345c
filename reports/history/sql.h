/* SPDX-License-Identifier: MIT */
/*
 * SQLite's calls with our errors. Values are bound in the order of their letters in types:
 * i int64_t, d double, t const char * (NULL too). What is wrong with the file itself is
 * -EBADMSG, a full disk -ENOSPC, what others hold -EBUSY, what may not be written -EROFS.
 */
#ifndef REPORTS_HISTORY_SQL_H
#define REPORTS_HISTORY_SQL_H

#include <sqlite3.h>
#include <stdint.h>

#include "core/base/error.h"

int sql_fail(sqlite3 *db, int result, struct error *error);

/* NULL: the error says why. To be ended by sqlite3_finalize, which takes NULL too. */
sqlite3_stmt *sql_start(sqlite3 *db, struct error *error, const char *text, const char *types, ...);

/* The next row: 1, or 0 behind the last one. statement NULL: the error of sql_start. */
int sql_next(sqlite3_stmt *statement, struct error *error);

/* Once more with other values, as far as its end. */
int sql_again(sqlite3_stmt *statement, struct error *error, const char *types, ...);

/* From its begin to its end. */
int sql_do(sqlite3 *db, struct error *error, const char *text, const char *types, ...);

/* A number that is the only answer; 0 where there is none. */
int sql_number(sqlite3 *db, struct error *error, int64_t *number, const char *text);

/* Of a column of a row; empty where it is NULL. */
const char *sql_text(sqlite3_stmt *statement, int column);

#endif
