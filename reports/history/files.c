/* SPDX-License-Identifier: MIT */
#include "reports/history/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "reports/document/parse.h"

#define NS_PER_S 1000000000

/* Of files that are being written; a writer that was killed leaves one behind. */
#define BEGUN        ".new-"
#define BEGUN_MOST_S 3600

#define LABEL_BYTES_MOST 65536

static int no_memory(struct error *error)
{
	return error_set_errno(error, -ENOMEM, "cannot keep the names of files");
}

/* "FOLDER/runs/NAME.ENDING". */
static char *path_of(const char *folder, const char *name, const char *ending)
{
	char *path;

	return asprintf(&path, "%s/runs/%s%s", folder, name, ending) < 0 ? NULL : path;
}

static int flush_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int code = fd < 0 || fsync(fd) ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return code;
}

/* And all that are above it. */
static int make_folder(char *path)
{
	char *slash = strrchr(path, '/');
	int code = 0;

	if (!mkdir(path, 0777) || errno == EEXIST)
		return 0;
	if (errno != ENOENT || !slash || slash == path)
		return -errno;
	*slash = '\0';
	code = make_folder(path);
	if (!code)
		code = flush_folder(path);
	*slash = '/';
	if (!code && mkdir(path, 0777) && errno != EEXIST)
		code = -errno;
	return code;
}

int history_files_make(const char *folder, struct error *error)
{
	char *path = path_of(folder, "", "");
	int code;

	if (!path)
		return no_memory(error);
	path[strlen(path) - 1] = '\0';
	code = make_folder(path);
	if (!code && access(path, W_OK))
		code = -errno;
	/* What is in it is on the disk once it is; it itself has to be as well. */
	if (!code)
		code = flush_folder(folder);
	free(path);
	return code ? error_set_errno(error, code, "cannot keep runs in %s", folder) : 0;
}

static int write_all(int fd, const char *text, size_t length)
{
	while (length) {
		ssize_t written = write(fd, text, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written < 0 ? -errno : -ENOSPC;
		text += written;
		length -= (size_t)written;
	}
	return 0;
}

/* mkstemp makes it private; a run is as public as any new file. It can only be read so. */
static int make_public(int fd)
{
	mode_t mask = umask(0);

	umask(mask);
	return fchmod(fd, 0666 & ~mask) ? -errno : 0;
}

/* At its place at once, and whole, whenever the machine stops. */
static int place(const char *folder, const char *path, const char *text, size_t length)
{
	char *begun = path_of(folder, BEGUN, "XXXXXX");
	char *runs = path_of(folder, "", "");
	int fd = begun && runs ? mkstemp(begun) : -1;
	int code = fd < 0 ? -errno : write_all(fd, text, length);

	if (!code)
		code = make_public(fd);
	if (!code && fsync(fd))
		code = -errno;
	if (fd >= 0 && close(fd) && !code)
		code = -errno;
	if (!code && rename(begun, path))
		code = -errno;
	if (code && fd >= 0)
		unlink(begun);
	if (!code)
		code = flush_folder(runs);
	free(begun);
	free(runs);
	return code;
}

static int place_label(const char *folder, const char *name, const struct history_label *label,
		       struct error *error)
{
	char *path = path_of(folder, name, ".label");
	char *text = history_label_make(label);
	int code = path && text ? place(folder, path, text, strlen(text)) : -ENOMEM;

	free(path);
	free(text);
	return code ? error_set_errno(error, code, "cannot keep the label in %s", folder) : 0;
}

/* What is said now, and else what was: false where that is the same. */
static bool add_label(struct history_label *into, const struct history_label *label)
{
	bool is_other = (label->version[0] && strcmp(label->version, into->version) != 0) ||
			(label->commit[0] && strcmp(label->commit, into->commit) != 0);

	if (label->version[0])
		memcpy(into->version, label->version, sizeof(into->version));
	if (label->commit[0])
		memcpy(into->commit, label->commit, sizeof(into->commit));
	return is_other;
}

/* What is spoiled is not there: to add it again mends it. */
static bool is_there(const char *folder, const char *name)
{
	struct error ignored = {0};
	size_t length;
	char *text;
	bool is_whole = !history_files_read(folder, name, &text, &length, &ignored);

	free(text);
	return is_whole;
}

#define LOOK_MS 20

int history_files_lock(int fd)
{
	const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};

	for (int waited_ms = 0; flock(fd, LOCK_EX | LOCK_NB); waited_ms += LOOK_MS) {
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK)
			return -errno;
		if (waited_ms >= HISTORY_WAIT_S * 1000)
			return -EBUSY;
		nanosleep(&pause, NULL);
	}
	return 0;
}

/*
 * Of two that label one run, the second adds to what the first has said. Held for moments, and
 * no matter where a file system has no locks: *fd is -1 then, or has none.
 */
static int hold_labels(int *fd, const char *folder, struct error *error)
{
	char *path = path_of(folder, "", "");

	*fd = path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	free(path);
	if (*fd < 0 || history_files_lock(*fd) != -EBUSY)
		return 0;
	return error_set(
		error, -EBUSY,
		"another program has the lock of %s/runs since %d s; try again once it has "
		"ended",
		folder, HISTORY_WAIT_S);
}

static int keep(enum history_kept *kept, const char *folder,
		const struct history_document *document, struct error *error)
{
	struct error ignored = {0};
	struct history_label before;
	char *path = path_of(folder, document->name, ".json");
	bool is_spoiled;
	int code = 0;

	if (!path)
		return no_memory(error);
	/* One that is spoiled is written anew, and says what is said now. */
	is_spoiled = history_files_label(&before, folder, document->name, &ignored) == -EINVAL;
	if (ignored.code)
		before = (struct history_label){0};
	*kept = is_there(folder, document->name) ? HISTORY_THERE : HISTORY_NEW;
	if (add_label(&before, document->label) || is_spoiled) {
		code = place_label(folder, document->name, &before, error);
		*kept = *kept == HISTORY_THERE ? HISTORY_LABELLED : *kept;
	}
	if (!code && *kept == HISTORY_NEW) {
		code = place(folder, path, document->text, document->length);
		if (code)
			error_set_errno(error, code, "cannot keep the run in %s", folder);
	}
	free(path);
	return code;
}

int history_files_keep(enum history_kept *kept, const char *folder,
		       const struct history_document *document, struct error *error)
{
	int held;
	int code = hold_labels(&held, folder, error);

	if (!code)
		code = keep(kept, folder, document, error);
	if (held >= 0)
		close(held);
	return code;
}

static int64_t nanoseconds(const struct timespec *time)
{
	return (int64_t)time->tv_sec * NS_PER_S + time->tv_nsec;
}

static int by_name(const void *left, const void *right)
{
	const struct history_file *one = left;
	const struct history_file *other = right;

	return strcmp(one->name, other->name);
}

/* Where it is one of a run: a pointer to its ending. */
static const char *ending_of(const char *file, char name[static HISTORY_NAME], int64_t *number)
{
	const char *dot = strchr(file, '.');
	size_t length = dot ? (size_t)(dot - file) : 0;

	if (length != HISTORY_NAME - 1)
		return NULL;
	memcpy(name, file, length);
	name[length] = '\0';
	if (!history_name_number(name, number) ||
	    (strcmp(dot, ".json") != 0 && strcmp(dot, ".label") != 0))
		return NULL;
	return dot;
}

/* One entry of runs/. */
struct entry {
	int folder;
	const char *name;
	struct stat found;
};

static void look_begun(const struct entry *entry)
{
	if (!strncmp(entry->name, BEGUN, strlen(BEGUN)) && S_ISREG(entry->found.st_mode) &&
	    time(NULL) - entry->found.st_mtime > BEGUN_MOST_S)
		unlinkat(entry->folder, entry->name, 0);
}

static void say_stranger(const struct entry *entry, bool is_named, said *say, void *owner)
{
	char text[512];

	snprintf(text, sizeof(text),
		 is_named ? "skipped: runs/%.200s is no file, or leads to none that is there"
			  : "skipped: runs/%.200s is no name of a run: keep it elsewhere, "
			    "and add it by 'verbmark history add'",
		 entry->name);
	/* Names may have any bytes. */
	said_make_printable(text);
	say(owner, text);
}

/* Entries of one run come in any order: both are put down, and joined when they are sorted. */
static int add_entry(struct history_files *files, size_t *room, const struct entry *entry,
		     said *say, void *owner)
{
	struct history_file file = {.size = -1, .label_size = -1};
	const char *ending = ending_of(entry->name, file.name, &file.number);

	/* A label that is no file spoils its run, until it has gone. */
	if (!ending || (strcmp(ending, ".label") != 0 && !S_ISREG(entry->found.st_mode))) {
		if (entry->name[0] == '.')
			return 0;
		files->n_strangers++;
		say_stranger(entry, ending != NULL, say, owner);
		return 0;
	}
	if (!strcmp(ending, ".json")) {
		file.size = entry->found.st_size;
		file.changed_ns = nanoseconds(&entry->found.st_mtim);
	} else {
		file.label_size = entry->found.st_size;
		file.label_changed_ns = nanoseconds(&entry->found.st_mtim);
	}
	if (files->count == *room) {
		struct history_file *grown =
			reallocarray(files->list, 2 * *room + 64, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		files->list = grown;
		*room = 2 * *room + 64;
	}
	files->list[files->count++] = file;
	return 0;
}

/* A label without its run is one of a writer that was killed. */
static void join(struct history_files *files)
{
	size_t count = 0;

	qsort(files->list, files->count, sizeof(*files->list), by_name);
	for (size_t i = 0; i < files->count;) {
		struct history_file file = files->list[i];
		size_t next = i + 1;

		if (next < files->count && !strcmp(files->list[next].name, file.name)) {
			const struct history_file *other = &files->list[next++];
			const struct history_file *label = file.size < 0 ? &files->list[i] : other;

			file = file.size < 0 ? *other : file;
			file.label_size = label->label_size;
			file.label_changed_ns = label->label_changed_ns;
		}
		if (file.size >= 0)
			files->list[count++] = file;
		i = next;
	}
	files->count = count;
}

/*
 * 0, 1 where it has gone meanwhile, as it was being written, or a negative errno: of runs that cannot
 * be looked at nobody knows whether they are there. A link that leads nowhere is looked at itself.
 */
static int look_at(struct entry *entry)
{
	if (!fstatat(entry->folder, entry->name, &entry->found, 0))
		return 0;
	if ((errno == ENOENT || errno == ENOTDIR) &&
	    !fstatat(entry->folder, entry->name, &entry->found, AT_SYMLINK_NOFOLLOW))
		return 0;
	return errno == ENOENT ? 1 : -errno;
}

static bool is_run(const char *file)
{
	char name[HISTORY_NAME];
	int64_t number;
	const char *ending = ending_of(file, name, &number);

	return ending && !strcmp(ending, ".json");
}

static int read_folder(struct history_files *files, DIR *folder, said *say, void *owner)
{
	size_t room = 0;
	int code = 0;

	while (!code) {
		const struct dirent *found;
		struct entry entry = {.folder = dirfd(folder)};
		int seen;

		errno = 0;
		found = readdir(folder);
		if (!found)
			return -errno;
		entry.name = found->d_name;
		seen = look_at(&entry);
		if (seen > 0)
			continue;
		/* Of strangers it is enough to have their names, and labels are read later. */
		if (seen < 0 && is_run(entry.name))
			return seen;
		look_begun(&entry);
		code = add_entry(files, &room, &entry, say, owner);
	}
	return code;
}

int history_files_list(struct history_files *files, const char *folder, said *say, void *owner,
		       struct error *error)
{
	char *path = path_of(folder, "", "");
	DIR *opened = path ? opendir(path) : NULL;
	int code = opened ? 0 : path ? -errno : -ENOMEM;

	*files = (struct history_files){0};
	free(path);
	if (opened) {
		code = read_folder(files, opened, say, owner);
		closedir(opened);
	}
	if (!code && files->count)
		join(files);
	if (!code)
		return 0;
	history_files_finish(files);
	return error_set_errno(error, code, "cannot read the runs of %s", folder);
}

void history_files_finish(struct history_files *files)
{
	free(files->list);
	*files = (struct history_files){0};
}

/* To open a pipe is to wait for who writes into it. */
static int check_file(const char *path, struct error *error)
{
	struct stat found;

	if (!stat(path, &found) && !S_ISREG(found.st_mode))
		return error_set(error, -EINVAL, "it is no file");
	return 0;
}

int history_files_read(const char *folder, const char *name, char **text, size_t *length,
		       struct error *error)
{
	char *path = path_of(folder, name, ".json");
	int code;

	*text = NULL;
	if (!path)
		return no_memory(error);
	code = check_file(path, error);
	if (!code)
		code = parse_read(path, text, length, error);
	free(path);
	if (!code && !history_name_is_of(name, *text, *length))
		code = error_set(error, -EBADMSG,
				 "it is not the document that was added: its name is of another");
	return code;
}

/* A pipe is not waited for, and no label. */
static int read_label(struct history_label *label, int fd, struct error *error)
{
	struct stat found;
	ssize_t length;
	char *text;
	int code;

	if (!fstat(fd, &found) && !S_ISREG(found.st_mode))
		return error_set(error, -EINVAL, "its label is no file");
	text = malloc(LABEL_BYTES_MOST);
	length = text ? read(fd, text, LABEL_BYTES_MOST) : 0;
	if (!text || length < 0)
		code = error_set_errno(error, text ? -errno : -ENOMEM, "cannot read its label");
	else
		code = history_label_read(label, text, (size_t)length, error);
	free(text);
	return code;
}

int history_files_label(struct history_label *label, const char *folder, const char *name,
			struct error *error)
{
	char *path = path_of(folder, name, ".label");
	int fd = path ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
	int code = 0;

	*label = (struct history_label){0};
	if (!path)
		code = no_memory(error);
	else if (fd >= 0)
		code = read_label(label, fd, error);
	else if (errno != ENOENT)
		code = error_set_errno(error, -errno, "cannot read its label");
	if (fd >= 0)
		close(fd);
	free(path);
	return code;
}
