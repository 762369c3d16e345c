/* SPDX-License-Identifier: MIT */
/*
 * The index of a history: tables of runs, of the setups that they were measured on, of
 * series with their values, and what was found in these so far. A setup is all that has to
 * be alike for figures to be compared (alike.h), a series one figure of one case of a setup,
 * as long as it is run in one way (variant.h).
 */
#ifndef REPORTS_HISTORY_INDEX_H
#define REPORTS_HISTORY_INDEX_H

#include "reports/history/files.h"
#include "reports/history/sql.h"
#include "reports/result/result.h"

/* In user_version: of another one nothing is read. */
#define HISTORY_INDEX_VERSION 5

int history_index_create(sqlite3 *db, struct error *error);

/* -EBADMSG: it is damaged, or no index; -EPROTO: it is of another version. 1: it is empty. */
int history_index_check(sqlite3 *db, struct error *error);

/* The file has none of it yet. label: as it was said; the document tells what was not. */
int history_index_add(sqlite3 *db, const struct history_file *file, const struct result *result,
		      const struct history_label *label, struct error *error);

/* That this version of the program cannot read it, and why, until it changes. */
int history_index_skip(sqlite3 *db, const struct history_file *file, const char *version,
		       const char *why, struct error *error);

/* Whatever the index has of it. */
int history_index_remove(sqlite3 *db, const struct history_file *file, struct error *error);

#endif
