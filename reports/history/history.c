/* SPDX-License-Identifier: MIT */
#include "reports/history/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/document/parse.h"
#include "reports/history/index.h"

#define INDEX "index.sqlite"

/* Of files that the index takes in at once: who waits for it does so for as long. */
#define BATCH 32

/* What SQLite waits for, of programs that are not ours. Who only reads can do without it. */
#define BUSY_MS         10000
#define BUSY_READING_MS 1000

static char *path_of(const struct history *history, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", history->folder, name) < 0 ? NULL : path;
}

static void tell(struct history *history, const char *before, const char *what)
{
	char text[512];

	snprintf(text, sizeof(text), "%s%s", before, what);
	history->say(history->owner, text);
}

static int wait_for(int fd, const struct history *history, struct error *error)
{
	int code = history_files_lock(fd);

	if (code == -EBUSY)
		return error_set(error, code,
				 "another 'verbmark history' has %s since %d s; try again once it "
				 "has ended",
				 history->folder, HISTORY_WAIT_S);
	return code ? error_set_errno(error, code, "cannot lock %s", history->folder) : 0;
}

/* Ends with the descriptor, and so with a process that is killed. -1: it cannot be written. */
static int lock(int *fd, const struct history *history, struct error *error)
{
	char *path = path_of(history, "lock");
	int code;

	*fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
	code = *fd < 0 ? path ? -errno : -ENOMEM : 0;
	free(path);
	if (!code)
		return wait_for(*fd, history, error);
	return error_set_errno(error, code, "cannot lock %s", history->folder);
}

/* What is left of a transaction goes with it. */
static void remove_index(const struct history *history)
{
	static const char *const names[] = {INDEX, INDEX "-journal", INDEX "-wal", INDEX "-shm"};

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
		char *path = path_of(history, names[i]);

		if (path)
			unlink(path);
		free(path);
	}
}

static int open_file(sqlite3 **db, const struct history *history, int flags, struct error *error)
{
	char *path = path_of(history, INDEX);
	int result = path ? sqlite3_open_v2(path, db, flags, NULL) : SQLITE_NOMEM;

	free(path);
	if (result == SQLITE_OK) {
		sqlite3_busy_timeout(*db, history->busy_ms);
		return 0;
	}
	sql_fail(*db, result, error);
	sqlite3_close(*db);
	*db = NULL;
	return error->code;
}

static bool is_damaged(int code)
{
	return code == -EBADMSG || code == -EPROTO;
}

/* As it is on the disk, or begun anew. */
static int open_written(struct history *history, struct error *error)
{
	for (bool is_again = false;; is_again = true) {
		struct error found = {0};
		int code = open_file(&history->db, history,
				     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &found);

		if (!code)
			code = history_index_check(history->db, &found);
		if (code > 0)
			code = history_index_create(history->db, &found);
		if (!code)
			return 0;
		sqlite3_close(history->db);
		history->db = NULL;
		if (is_again || !is_damaged(code))
			return error_set(error, code, "%s", found.text);
		tell(history, "the index is made anew from the runs: ", found.text);
		remove_index(history);
	}
}

/* What is of use of the index on the disk, if nobody holds it. */
static void copy_written(const struct history *history, sqlite3 *memory)
{
	struct error ignored = {0};
	sqlite3_backup *backup;
	sqlite3 *db = NULL;

	if (open_file(&db, history, SQLITE_OPEN_READONLY, &ignored))
		return;
	sqlite3_busy_timeout(db, 0);
	backup = history_index_check(db, &ignored)
			 ? NULL
			 : sqlite3_backup_init(memory, "main", db, "main");
	if (backup) {
		sqlite3_backup_step(backup, -1);
		sqlite3_backup_finish(backup);
	}
	sqlite3_close(db);
}

static int open_memory(struct history *history, struct error *error)
{
	int result = sqlite3_open(":memory:", &history->db);
	struct error ignored = {0};
	int code;

	if (result != SQLITE_OK)
		return sql_fail(history->db, result, error);
	if (!history->is_damaged)
		copy_written(history, history->db);
	code = history_index_check(history->db, &ignored);
	if (code < 0) {
		/* Half a copy. */
		sqlite3_close(history->db);
		result = sqlite3_open(":memory:", &history->db);
		code = result == SQLITE_OK ? 1 : sql_fail(history->db, result, error);
	}
	return code > 0 ? history_index_create(history->db, error) : code;
}

static bool is_same(const struct history_file *one, const struct history_file *other)
{
	return one->size == other->size && one->changed_ns == other->changed_ns &&
	       one->label_size == other->label_size &&
	       (one->label_size < 0 || one->label_changed_ns == other->label_changed_ns);
}

/*
 * What the index knows of files, by their names, those that were skipped too. One that is to be
 * tried again is as no file is.
 */
static int known_files(struct history_files *known, const struct history *history,
		       struct error *error)
{
	sqlite3_stmt *found =
		sql_start(history->db, error,
			  "SELECT name, size, changed_ns, label_size, label_changed_ns FROM runs "
			  "UNION ALL SELECT name, CASE program WHEN ? THEN size ELSE -1 END, "
			  "changed_ns, label_size, label_changed_ns FROM skipped ORDER BY name",
			  "t", history->is_trying ? "" : history->version);
	size_t room = 0;
	int code;

	*known = (struct history_files){0};
	for (code = sql_next(found, error); code > 0; code = sql_next(found, error)) {
		struct history_file file = {
			.size = sqlite3_column_int64(found, 1),
			.changed_ns = sqlite3_column_int64(found, 2),
			.label_size = sqlite3_column_int64(found, 3),
			.label_changed_ns = sqlite3_column_int64(found, 4),
		};

		if (known->count == room) {
			struct history_file *grown =
				reallocarray(known->list, 2 * room + 64, sizeof(*grown));

			if (!grown) {
				code = error_set_errno(error, -ENOMEM, "cannot keep the names");
				break;
			}
			known->list = grown;
			room = 2 * room + 64;
		}
		snprintf(file.name, sizeof(file.name), "%s", sql_text(found, 0));
		if (!history_name_number(file.name, &file.number))
			code = error_set(error, -EBADMSG, "it has names that are none");
		if (code < 0)
			break;
		known->list[known->count++] = file;
	}
	sqlite3_finalize(found);
	return code;
}

/* What is no fault of the file's may be over while that is as it was. */
static bool is_of_the_moment(int code)
{
	return code == -EACCES || code == -EPERM || code == -EIO || code == -ESTALE;
}

static int skip(struct history *history, const struct history_file *file, struct error *why,
		struct error *error)
{
	struct history_file kept = *file;

	/* As no file is: it is tried again. */
	if (is_of_the_moment(why->code))
		kept.size = -1;
	/* It may quote what is in the file. */
	said_make_printable(why->text);
	return history_index_skip(history->db, &kept, history->version, why->text, error);
}

int history_name_result(char name[static HISTORY_NAME], const struct result *result,
			const char *document, size_t length, struct error *error)
{
	/* No program that is imported prints it, and its order is what a history is about. */
	if (result->imported && !result->started[0])
		return error_set(error, -EINVAL,
				 "it is imported, and does not tell when it was measured: import "
				 "it with --started");
	return history_name(name, result->started, document, length, error);
}

/* Anybody may lay a document there: what 'add' would refuse, or call otherwise, is no run. */
static int check_run(const struct result *result, const char *name, const char *text, size_t length,
		     struct error *error)
{
	char wanted[HISTORY_NAME];
	int code = history_name_result(wanted, result, text, length, error);

	if (!code && strcmp(wanted, name) != 0)
		code = error_set(error, -EINVAL,
				 "it was started at %s, and its name has another time",
				 result->started);
	return code;
}

static int read_file(struct result *result, struct history_label *label,
		     const struct history *history, const struct history_file *file,
		     struct error *error)
{
	size_t length;
	char *text;
	int code = history_files_read(history->folder, file->name, &text, &length, error);

	if (!code)
		code = parse_text(result, text, length, error);
	if (!code)
		code = check_run(result, file->name, text, length, error);
	free(text);
	return code ? code : history_files_label(label, history->folder, file->name, error);
}

/* Of a file that cannot be read the reason is kept; it is no failure. */
static int add_file(struct history *history, const struct history_file *file, struct error *error)
{
	struct history_label label;
	struct error why = {0};
	struct result result = {0};
	int code = read_file(&result, &label, history, file, &why);

	if (code == -ENOMEM || code == -EMFILE || code == -ENFILE)
		error_set(error, code, "%s: %s", file->name, why.text);
	else if (code)
		code = skip(history, file, &why, error);
	else
		code = history_index_add(history->db, file, &result, &label, error);
	result_finish(&result);
	return code;
}

/* One of the two lists, or both, have a file of that name. */
struct pair {
	const struct history_file *known;
	const struct history_file *file;
};

static int take_pair(struct history *history, const struct pair *pair, struct error *error)
{
	int code = 0;

	if (pair->known)
		code = history_index_remove(history->db, pair->known, error);
	if (!code && pair->file)
		code = add_file(history, pair->file, error);
	return code;
}

/* The next name of either list, and what they have of it. */
static bool next_pair(struct pair *pair, const struct history_files *known, size_t *i,
		      const struct history_files *files, size_t *j)
{
	int order;

	if (*i == known->count && *j == files->count)
		return false;
	order = *i == known->count   ? 1
		: *j == files->count ? -1
				     : strcmp(known->list[*i].name, files->list[*j].name);
	*pair = (struct pair){order <= 0 ? &known->list[(*i)++] : NULL,
			      order >= 0 ? &files->list[(*j)++] : NULL};
	return true;
}

/* In batches: what was taken in before a kill need not be taken in again. */
static int take_changes(struct history *history, const struct history_files *known,
			const struct history_files *files, struct error *error)
{
	struct pair pair;
	size_t taken = 0;
	size_t i = 0;
	size_t j = 0;
	int code = 0;

	while (!code && next_pair(&pair, known, &i, files, &j)) {
		if (pair.known && pair.file && is_same(pair.known, pair.file))
			continue;
		if (taken % BATCH == 0)
			code = sql_do(history->db, error, "BEGIN IMMEDIATE", "");
		if (!code)
			code = take_pair(history, &pair, error);
		if (!code && ++taken % BATCH == 0)
			code = sql_do(history->db, error, "COMMIT", "");
	}
	if (!code && taken % BATCH)
		code = sql_do(history->db, error, "COMMIT", "");
	return code;
}

/* Numbers sort as names do, so that two of one number are neighbours: the first one has it. */
static void drop_twins(struct history *history, struct history_files *files)
{
	size_t count = 0;

	for (size_t i = 0; i < files->count; i++) {
		if (count && files->list[count - 1].number == files->list[i].number) {
			history->n_skipped++;
			tell(history,
			     "skipped: its number is that of another run: ", files->list[i].name);
			continue;
		}
		files->list[count++] = files->list[i];
	}
	files->count = count;
}

static int say_skipped(struct history *history, struct error *error)
{
	sqlite3_stmt *found =
		sql_start(history->db, error, "SELECT name, why FROM skipped ORDER BY name", "");
	int code;

	for (code = sql_next(found, error); code > 0; code = sql_next(found, error)) {
		char text[512];

		history->n_skipped++;
		snprintf(text, sizeof(text), "skipped: runs/%s.json: %s", sql_text(found, 0),
			 sql_text(found, 1));
		history->say(history->owner, text);
	}
	sqlite3_finalize(found);
	return code;
}

static void ignore(void *owner, const char *text)
{
}

static int take_files(struct history *history, struct error *error)
{
	struct history_files known = {0};
	struct history_files files;
	int code = history_files_list(&files, history->folder,
				      history->was_listed ? ignore : history->say, history->owner,
				      error);

	history->n_skipped = files.n_strangers;
	history->has_no_files = code != 0;
	history->was_listed = true;
	if (!code)
		code = known_files(&known, history, error);
	if (!code) {
		drop_twins(history, &files);
		code = take_changes(history, &known, &files, error);
	}
	history_files_finish(&files);
	history_files_finish(&known);
	return code ? code : say_skipped(history, error);
}

static int use(struct history *history, bool is_written, history_work *work, void *of,
	       struct error *error)
{
	int code = is_written ? open_written(history, error) : open_memory(history, error);

	if (!code)
		code = take_files(history, error);
	if (!code && work)
		code = work(history, of, error);
	/* What is not committed is not there. */
	sqlite3_close(history->db);
	history->db = NULL;
	return code;
}

/* Now, or ever: where there are no locks, nobody can have it alone. */
static bool is_unwritable(int code)
{
	static const int codes[] = {EROFS, EACCES, EPERM,  ENOSPC, EDQUOT,
				    EFBIG, EIO,    ENOLCK, ENOSYS, EOPNOTSUPP};

	for (size_t i = 0; i < ARRAY_LENGTH(codes); i++)
		if (code == -codes[i])
			return true;
	return false;
}

/* Who only reads need not write: it takes longer each time. */
static int use_memory(struct history *history, const struct error *why, history_work *work,
		      void *of, struct error *error)
{
	struct error found = {0};
	int code;

	tell(history, "the index cannot be written, and is made in memory this time: ", why->text);
	code = use(history, false, work, of, &found);
	if (is_damaged(code)) {
		history->is_damaged = true;
		found = (struct error){0};
		code = use(history, false, work, of, &found);
	}
	return code ? error_set(error, code, "%s", found.text) : 0;
}

static int use_written(struct history *history, enum history_use wanted, history_work *work,
		       void *of, struct error *error)
{
	struct error found = {0};
	int code;

	if (wanted == HISTORY_REBUILD)
		remove_index(history);
	code = use(history, true, work, of, &found);
	if (is_damaged(code)) {
		tell(history, "the index is made anew from the runs: ", found.text);
		remove_index(history);
		found = (struct error){0};
		code = use(history, true, work, of, &found);
	}
	if (wanted == HISTORY_READ && (code == -EBUSY || is_unwritable(code)) &&
	    !history->has_no_files)
		return use_memory(history, &found, work, of, error);
	if (code == -EBUSY)
		return error_set(error, code,
				 "another program, such as sqlite3, has %s/" INDEX
				 " in a transaction: end that, and try again",
				 history->folder);
	return code ? error_set(error, code, "%s", found.text) : 0;
}

/* Nothing is left in a folder that was meant to be another one. */
static int check_folder(const struct history *history, struct error *error)
{
	char *path = path_of(history, "runs");
	int code = !path ? -ENOMEM : access(path, F_OK) ? -errno : 0;

	free(path);
	if (code == -ENOENT)
		return error_set(
			error, code,
			"there is no history in %s: 'verbmark history add FILE' begins one",
			history->folder);
	return code ? error_set_errno(error, code, "cannot use %s", history->folder) : 0;
}

int history_do(struct history *history, enum history_use wanted, history_work *work, void *of,
	       struct error *error)
{
	struct error why = {0};
	int fd;
	int code = check_folder(history, error);

	if (code)
		return code;
	history->is_trying = wanted == HISTORY_ADD;
	history->was_listed = false;
	history->busy_ms = wanted == HISTORY_READ ? BUSY_READING_MS : BUSY_MS;
	code = lock(&fd, history, &why);

	if (!code)
		code = use_written(history, wanted, work, of, error);
	else if (wanted == HISTORY_READ && is_unwritable(code))
		code = use_memory(history, &why, work, of, error);
	else
		error_set(error, code, "%s", why.text);
	if (fd >= 0)
		close(fd);
	return code;
}
