/* SPDX-License-Identifier: MIT */
#include "reports/history/baseline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "reports/compare/same_setup.h"
#include "reports/document/parse.h"
#include "reports/history/sql.h"

static int add_name(struct history_baseline *baseline, sqlite3_stmt *row, struct error *error)
{
	struct history_name *grown =
		reallocarray(baseline->names, baseline->count + 1, sizeof(*grown));

	if (!grown)
		return error_set_errno(error, -ENOMEM, "cannot keep the names of runs");
	baseline->names = grown;
	grown += baseline->count++;
	snprintf(grown->text, sizeof(grown->text), "%s", sql_text(row, 0));
	grown->number = sqlite3_column_int64(row, 1);
	return 0;
}

int history_baseline_find(struct history_baseline *baseline, struct history *history,
			  const struct result *result, size_t most, struct error *error)
{
	char key[SAME_SETUP_KEY];
	sqlite3_stmt *rows;
	int code = same_setup_key(key, result, error);

	*baseline = (struct history_baseline){0};
	if (!code)
		code = history_begin(history, HISTORY_READ, error);
	if (code)
		return code;
	rows = sql_start(history->db, error,
			 "SELECT name, id FROM (SELECT name, id FROM runs WHERE started < ? AND "
			 "setup = (SELECT id FROM setups WHERE key = ?) ORDER BY id DESC LIMIT ?) "
			 "ORDER BY id",
			 "tti", result->started, key, (int64_t)most);
	for (code = sql_next(rows, error); code > 0; code = sql_next(rows, error)) {
		code = add_name(baseline, rows, error);
		if (code)
			break;
	}
	sqlite3_finalize(rows);
	return history_end(history, HISTORY_READ, code, error);
}

/* Unpacks size bytes. A damaged file may hold any size. */
static int parse_packed(struct result *result, const void *packed, size_t length, int64_t size,
			struct error *error)
{
	bool is_possible = size > 0 && size <= PARSE_BYTES_MOST;
	char *text = is_possible ? malloc((size_t)size) : NULL;
	uLongf unpacked = is_possible ? (uLongf)size : 0;
	int code;

	if (is_possible && !text)
		return error_set_errno(error, -ENOMEM, "cannot unpack a document");
	if (!text || uncompress((unsigned char *)text, &unpacked, packed, length) != Z_OK)
		code = error_set(error, -EBADMSG, "a document cannot be decompressed");
	else
		code = parse_text(result, text, unpacked, error);
	free(text);
	return code;
}

int history_baseline_load(struct result *result, struct history *history,
			  const struct history_name *name, struct error *error)
{
	sqlite3_stmt *row;
	int code = history_begin(history, HISTORY_READ, error);

	*result = (struct result){0};
	if (code)
		return code;
	row = sql_start(history->db, error, "SELECT document, size FROM runs WHERE id = ?", "i",
			name->number);
	code = sql_next(row, error);
	if (code > 0)
		code = parse_packed(result, sqlite3_column_blob(row, 0),
				    (size_t)sqlite3_column_bytes(row, 0),
				    sqlite3_column_int64(row, 1), error);
	else if (!code)
		code = error_set(error, -EBADMSG, "the run %s is missing", name->text);
	sqlite3_finalize(row);
	return history_end(history, HISTORY_READ, code, error);
}

void history_baseline_finish(struct history_baseline *baseline)
{
	free(baseline->names);
	*baseline = (struct history_baseline){0};
}
