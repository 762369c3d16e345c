/* SPDX-License-Identifier: MIT */
#include "reports/history/sql.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static int code_of(int result)
{
	switch (result & 0xff) {
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
		return -EROFS;
	case SQLITE_NOTADB:
		return -EINVAL;
	case SQLITE_CORRUPT:
	case SQLITE_ERROR: /* a table or a column is missing */
	case SQLITE_MISMATCH:
	case SQLITE_CONSTRAINT:
		return -EBADMSG;
	default:
		return -EIO;
	}
}

int sql_fail(sqlite3 *db, int result, struct error *error)
{
	/* errno says more than "disk I/O error" or "unable to open database file". */
	bool has_number = (result & 0xff) == SQLITE_IOERR || (result & 0xff) == SQLITE_CANTOPEN;
	int number = db && has_number ? sqlite3_system_errno(db) : 0;

	if (number)
		return error_set(error, -number, "%s", strerror(number));
	return error_set(error, code_of(result), "%s",
			 db ? sqlite3_errmsg(db) : sqlite3_errstr(result));
}

static int bind(sqlite3_stmt *statement, const char *types, va_list values)
{
	int result = SQLITE_OK;

	for (int i = 1; types[i - 1] && result == SQLITE_OK; i++) {
		switch (types[i - 1]) {
		case 'i':
			result = sqlite3_bind_int64(statement, i, va_arg(values, int64_t));
			break;
		case 'd':
			result = sqlite3_bind_double(statement, i, va_arg(values, double));
			break;
		case 'b': {
			const void *bytes = va_arg(values, const void *);

			result = sqlite3_bind_blob64(statement, i, bytes, va_arg(values, size_t),
						     SQLITE_STATIC);
			break;
		}
		default:
			result = sqlite3_bind_text(statement, i, va_arg(values, const char *), -1,
						   SQLITE_TRANSIENT);
			break;
		}
	}
	return result;
}

static sqlite3_stmt *sql_start_one(sqlite3 *db, struct error *error, const char *text,
				   const char *types, va_list values)
{
	sqlite3_stmt *statement = NULL;
	int result = sqlite3_prepare_v2(db, text, -1, &statement, NULL);

	if (result == SQLITE_OK)
		result = bind(statement, types, values);
	if (result == SQLITE_OK)
		return statement;
	sql_fail(db, result, error);
	sqlite3_finalize(statement);
	return NULL;
}

sqlite3_stmt *sql_start(sqlite3 *db, struct error *error, const char *text, const char *types, ...)
{
	sqlite3_stmt *statement;
	va_list values;

	va_start(values, types);
	statement = sql_start_one(db, error, text, types, values);
	va_end(values);
	return statement;
}

int sql_next(sqlite3_stmt *statement, struct error *error)
{
	int result;

	if (!statement)
		return error->code;
	result = sqlite3_step(statement);
	if (result == SQLITE_ROW)
		return 1;
	return result == SQLITE_DONE ? 0 : sql_fail(sqlite3_db_handle(statement), result, error);
}

int sql_again(sqlite3_stmt *statement, struct error *error, const char *types, ...)
{
	va_list values;
	int result;
	int code = 1;

	if (!statement)
		return error->code;
	va_start(values, types);
	sqlite3_reset(statement);
	result = bind(statement, types, values);
	va_end(values);
	if (result != SQLITE_OK)
		return sql_fail(sqlite3_db_handle(statement), result, error);
	while (code > 0)
		code = sql_next(statement, error);
	return code;
}

int sql_do(sqlite3 *db, struct error *error, const char *text, const char *types, ...)
{
	sqlite3_stmt *statement;
	va_list values;
	int code = 1;

	va_start(values, types);
	statement = sql_start_one(db, error, text, types, values);
	va_end(values);
	if (!statement)
		return error->code;
	while (code > 0)
		code = sql_next(statement, error);
	sqlite3_finalize(statement);
	return code;
}

int sql_number(sqlite3 *db, struct error *error, int64_t *number, const char *text)
{
	sqlite3_stmt *statement = sql_start(db, error, text, "");
	int code = sql_next(statement, error);

	*number = code > 0 ? sqlite3_column_int64(statement, 0) : 0;
	sqlite3_finalize(statement);
	return code < 0 ? code : 0;
}

const char *sql_text(sqlite3_stmt *statement, int column)
{
	const unsigned char *text = sqlite3_column_text(statement, column);

	return text ? (const char *)text : "";
}
