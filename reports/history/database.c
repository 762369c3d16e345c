/* SPDX-License-Identifier: MIT */
#include "reports/history/database.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "reports/history/sql.h"

/* How long SQLite waits for another process's lock. */
#define BUSY_MS 10000

/*
 * setups.key is equal if compare accepts two results as the same setup (same_setup.h). A series is
 * one figure of one case on one setup, as long as the case is run with the same settings
 * (run_settings.h). Run ids sort like run names. runs.document is compressed with zlib;
 * runs.size is its original size.
 */
static const char *const tables[] = {
	"CREATE TABLE setups(id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, "
	"title TEXT NOT NULL, banner TEXT NOT NULL)",
	"CREATE TABLE runs(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, "
	"setup INTEGER NOT NULL REFERENCES setups(id), started TEXT NOT NULL, "
	"status TEXT NOT NULL, version TEXT NOT NULL, revision TEXT NOT NULL, "
	"size INTEGER NOT NULL, document BLOB NOT NULL)",
	"CREATE INDEX runs_of_setup ON runs(setup, id)",
	"CREATE TABLE series(id INTEGER PRIMARY KEY, "
	"setup INTEGER NOT NULL REFERENCES setups(id), case_id TEXT NOT NULL, "
	"kind TEXT NOT NULL, figure TEXT NOT NULL, variant TEXT NOT NULL, "
	"UNIQUE(setup, case_id, kind, figure, variant))",
	"CREATE TABLE points(series INTEGER NOT NULL REFERENCES series(id), "
	"run INTEGER NOT NULL REFERENCES runs(id), value REAL NOT NULL CHECK(value > 0), "
	"PRIMARY KEY(series, run)) WITHOUT ROWID",
};

#define TEXT_OF(number)          #number
#define SET_NUMBER(name, number) "PRAGMA " name " = " TEXT_OF(number)

static int create_tables(struct history *history, struct error *error)
{
	int code =
		sql_do(history->db, error, SET_NUMBER("application_id", HISTORY_APPLICATION), "");

	if (!code)
		code = sql_do(history->db, error, SET_NUMBER("user_version", HISTORY_VERSION), "");
	for (size_t i = 0; i < ARRAY_LENGTH(tables) && !code; i++)
		code = sql_do(history->db, error, tables[i], "");
	return code;
}

/* Returns 1 if the database is empty. -EPROTO: this version cannot read it. */
static int check_version(struct history *history, struct error *error)
{
	int64_t application;
	int64_t version;
	int64_t n_tables;
	int code = sql_number(history->db, error, &application, "PRAGMA application_id");

	if (!code)
		code = sql_number(history->db, error, &version, "PRAGMA user_version");
	if (!code)
		code = sql_number(history->db, error, &n_tables,
				  "SELECT count(*) FROM sqlite_master");
	if (code)
		return code;
	if (!application && !version && !n_tables)
		return 1;
	if (application != HISTORY_APPLICATION)
		return error_set(error, -EPROTO, "%s is a database of another program",
				 history->path);
	if (version != HISTORY_VERSION)
		return error_set(
			error, -EPROTO,
			"%s has format %lld, but this verbmark supports format %d: use the "
			"verbmark that wrote it, or a newer one",
			history->path, (long long)version, HISTORY_VERSION);
	return 0;
}

static int no_history(const struct history *history, struct error *error)
{
	return error_set(error, -ENOENT,
			 "no history in %s; create one with 'verbmark history add FILE'",
			 history->path);
}

/* Creates the folders above the file. */
static int make_folders(char *path)
{
	char *slash = strrchr(path, '/');
	int code = 0;

	if (!slash || slash == path)
		return 0;
	*slash = '\0';
	if (mkdir(path, 0777) && errno == ENOENT) {
		code = make_folders(path);
		if (!code && mkdir(path, 0777) && errno != EEXIST)
			code = -errno;
	}
	*slash = '/';
	return code;
}

/* Catches errors for which SQLite has no good message. */
static int check_path(struct history *history, enum history_use use, struct error *error)
{
	struct stat found;
	int code;

	if (!stat(history->path, &found))
		return S_ISREG(found.st_mode)
			       ? 0
			       : error_set(error, -EISDIR,
					   "%s is not a file; to import the runs of a folder, use "
					   "'verbmark history import FOLDER'",
					   history->path);
	if (errno != ENOENT)
		return error_set_errno(error, -errno, "cannot open %s", history->path);
	if (use == HISTORY_READ)
		return no_history(history, error);
	code = make_folders(history->path);
	return code ? error_set_errno(error, code, "cannot create %s", history->path) : 0;
}

/* Completes the error with the file name and a hint; SQLite's messages have neither. */
static int explain(const struct history *history, enum history_use use, struct error *error)
{
	/* check_version has named the file. */
	if (error->code == -EPROTO)
		return error->code;
	error_wrap(error, use == HISTORY_WRITE ? "cannot write to %s" : "cannot read %s",
		   history->path);
	if (error->code == -EBUSY)
		error_append(error, "another process is using it; retry when that has ended");
	else if (error->code == -EIO)
		error_append(error, "check the disk's free space, quota and health");
	else if (error->code == -EBADMSG)
		error_append(error, "restore a backup, or try 'sqlite3 FILE .recover'");
	else if (use == HISTORY_WRITE && (error->code == -EACCES || error->code == -EROFS))
		error_append(error, "the file and its folder must be writable");
	return error->code;
}

static int connect_database(struct history *history, enum history_use use, struct error *error)
{
	int flags = SQLITE_OPEN_READWRITE | (use == HISTORY_WRITE ? SQLITE_OPEN_CREATE : 0);
	int result = sqlite3_open_v2(history->path, &history->db, flags, NULL);

	if (result == SQLITE_OK) {
		sqlite3_busy_timeout(history->db, BUSY_MS);
		return 0;
	}
	sql_fail(history->db, result, error);
	return explain(history, use, error);
}

int history_begin(struct history *history, enum history_use use, struct error *error)
{
	int code = history->db ? 0 : connect_database(history, use, error);

	if (code)
		return code;
	if (sql_do(history->db, error, use == HISTORY_WRITE ? "BEGIN IMMEDIATE" : "BEGIN", ""))
		return explain(history, use, error);
	if (use == HISTORY_READ)
		return 0;
	code = check_version(history, error);
	if (code > 0)
		code = create_tables(history, error);
	return code ? history_end(history, use, code, error) : 0;
}

int history_end(struct history *history, enum history_use use, int code, struct error *error)
{
	struct error ignored = {0};

	if (!code)
		code = sql_do(history->db, error, "COMMIT", "");
	if (!code)
		return 0;
	/* After some failures SQLite has rolled back already. */
	sql_do(history->db, &ignored, "ROLLBACK", "");
	return explain(history, use, error);
}

static int open_database(struct history *history, enum history_use use, struct error *error)
{
	int code;

	/* SQLite creates the file on open; wait until there is a result to add. */
	if (use == HISTORY_WRITE && access(history->path, F_OK))
		return 0;
	code = history_begin(history, HISTORY_READ, error);
	if (code)
		return code;
	code = check_version(history, error);
	if (code > 0 && use == HISTORY_READ)
		return no_history(history, error);
	/* Unlike COMMIT, ROLLBACK need not wait for readers. */
	sql_do(history->db, error, "ROLLBACK", "");
	return error->code ? explain(history, use, error) : 0;
}

int history_open(struct history *history, const char *path, enum history_use use,
		 struct error *error)
{
	int code;

	*history = (struct history){.path = strdup(path)};
	if (!history->path)
		return error_set_errno(error, -ENOMEM, "cannot open %s", path);
	code = check_path(history, use, error);
	if (!code)
		code = open_database(history, use, error);
	if (code)
		history_close(history);
	return code;
}

void history_close(struct history *history)
{
	sqlite3_close(history->db);
	free(history->path);
	*history = (struct history){0};
}
