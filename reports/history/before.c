/* SPDX-License-Identifier: MIT */
#include "reports/history/before.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/compare/same_setup.h"
#include "reports/history/sql.h"

static int before_add(struct history_before *before, const char *name, struct error *error)
{
	char(*grown)[HISTORY_NAME] = reallocarray(before->names, before->count + 1, sizeof(*grown));

	if (!grown)
		return error_set_errno(error, -ENOMEM, "cannot keep the names of runs");
	before->names = grown;
	snprintf(grown[before->count++], HISTORY_NAME, "%s", name);
	return 0;
}

int history_before_fill(struct history *history, void *of, struct error *error)
{
	struct history_before *before = of;
	char key[SAME_SETUP_KEY];
	sqlite3_stmt *rows;
	int code = same_setup_key(key, before->result, error);

	if (code)
		return code;
	before->count = 0;
	rows = sql_start(history->db, error,
			 "SELECT name FROM runs WHERE started < ? AND setup IN "
			 "(SELECT id FROM setups WHERE key = ?) ORDER BY id DESC LIMIT ?",
			 "tti", before->result->started, key, (int64_t)before->most);
	for (code = sql_next(rows, error); code > 0; code = sql_next(rows, error)) {
		code = before_add(before, sql_text(rows, 0), error);
		if (code)
			break;
	}
	sqlite3_finalize(rows);
	return code;
}

void history_before_finish(struct history_before *before)
{
	free(before->names);
	*before = (struct history_before){0};
}
