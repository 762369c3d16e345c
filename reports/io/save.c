/* SPDX-License-Identifier: MIT */
#include "reports/io/save.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* The size of a short result. */
#define LEAST_ROOM (64 << 10)
#define LINKS_MOST 40

int save_json(FILE *out, json_t *document, size_t flags)
{
	int code = document ? json_dumpf(document, out, flags) : -1;

	json_decref(document);
	fputc('\n', out);
	return code && !ferror(out) ? -ENOMEM : 0;
}

/* Calls the writer. Returns its error, or else the stream's. */
static int write_all(FILE *out, save_writer *write, const void *what)
{
	int code;

	errno = 0;
	code = write(out, what);
	if (!code && (fflush(out) || ferror(out)))
		code = errno ? -errno : -EIO;
	return code;
}

/* The file that a path leads to. */
struct place {
	char *path;  /* with all links resolved, so that they stay; freed by the caller */
	bool is_own; /* an open descriptor of a process, whose file may have more content */
};

/* Returns the folder of a path with its slash, or an empty string. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("");
}

static bool is_descriptor(const char *folder)
{
	struct statfs found;

	return *folder && !statfs(folder, &found) && found.f_type == PROC_SUPER_MAGIC;
}

/* Follows one link. Returns 1, or 0 if there is no link, or a link to a descriptor. */
static int follow(struct place *place)
{
	char target[PATH_MAX];
	ssize_t length = readlink(place->path, target, sizeof(target) - 1);
	char *folder = length < 0 ? NULL : folder_of(place->path);
	char *next = NULL;
	int code = 0;

	if (length < 0)
		return 0;
	target[length] = '\0';
	place->is_own = folder && is_descriptor(folder);
	if (!folder ||
	    (!place->is_own && asprintf(&next, "%s%s", *target == '/' ? "" : folder, target) < 0)) {
		code = -ENOMEM;
	} else if (!place->is_own) {
		free(place->path);
		place->path = next;
		code = 1;
	}
	free(folder);
	return code;
}

/*
 * Resolves a path. Returns 0 for a file that exists or can be created, and 1 for a device, a pipe
 * or a descriptor, which is written in place, because renaming a file over it would replace it.
 * -EISDIR: a folder.
 */
static int save_find(const char *path, struct place *place)
{
	struct stat found;
	int code = 1;

	*place = (struct place){.path = strdup(path)};
	if (!place->path)
		return -ENOMEM;
	for (int i = 0; i < LINKS_MOST && code > 0; i++)
		code = follow(place);
	if (code)
		return code < 0 ? code : -ELOOP;
	if (stat(place->path, &found))
		return place->is_own ? -errno : 0;
	if (S_ISDIR(found.st_mode))
		return -EISDIR;
	return place->is_own || !S_ISREG(found.st_mode);
}

static int write_special(const char *path, save_writer *write, const void *what)
{
	FILE *out = fopen(path, "ae");
	int code;

	if (!out)
		return -errno;
	code = write_all(out, write, what);
	if (fclose(out) && !code)
		code = -errno;
	return code;
}

/* The only way to read the umask is to set it. */
static mode_t current_umask(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return mask;
}

static char *temporary_name(const char *path)
{
	char *name;

	return asprintf(&name, "%s.XXXXXX", path) < 0 ? NULL : name;
}

static int write_file(const char *path, save_writer *write, const void *what)
{
	char *name = temporary_name(path);
	int fd = name ? mkstemp(name) : -1;
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	int code = 0;

	if (!out) {
		code = -errno;
		if (fd >= 0)
			close(fd);
	} else {
		code = write_all(out, write, what);
		/* mkstemp creates a private file, but a result has the mode of any new file. */
		if (!code && fchmod(fd, 0666 & ~current_umask()))
			code = -errno;
		/* Without fsync, a crash could leave an empty file under the final name. */
		if (!code && (fflush(out) || fsync(fd)))
			code = -errno;
		if (fclose(out) && !code)
			code = -errno;
	}
	if (!code && rename(name, path))
		code = -errno;
	if (code && fd >= 0)
		unlink(name);
	free(name);
	return code;
}

bool save_is_stdout(const char *path)
{
	struct stat link;
	struct stat there;
	struct stat own;

	if (!strcmp(path, "-"))
		return true;
	return !lstat(path, &link) && S_ISLNK(link.st_mode) && !stat(path, &there) &&
	       !fstat(STDOUT_FILENO, &own) && there.st_dev == own.st_dev &&
	       there.st_ino == own.st_ino;
}

bool save_replaces(const char *path)
{
	struct place place = {0};
	bool is_file = !save_is_stdout(path) && !save_find(path, &place);

	free(place.path);
	return is_file;
}

static int write_path(const char *path, save_writer *write, const void *what)
{
	struct place place;
	int code;

	if (save_is_stdout(path))
		return write_all(stdout, write, what);
	code = save_find(path, &place);
	if (code >= 0)
		code = (code ? write_special : write_file)(place.path, write, what);
	free(place.path);
	return code;
}

int save_path(const char *path, save_writer *write, const void *what, struct error *error)
{
	int code = write_path(path, write, what);

	return code ? error_set_errno(error, code, "cannot write %s", path) : 0;
}

int save_output(const char *path, save_writer *write, const void *what, struct error *error)
{
	int code;

	if (path)
		return save_path(path, write, what, error);
	code = write(stdout, what);
	return code ? error_set_errno(error, code, "cannot write standard output") : 0;
}

/* Writes some bytes, because even a full disk accepts an empty file. */
static int try_room(int fd)
{
	static const char page[4096];

	for (ssize_t left = LEAST_ROOM; left > 0;) {
		size_t part = left < (ssize_t)sizeof(page) ? (size_t)left : sizeof(page);
		ssize_t written = write(fd, page, part);

		if (written <= 0)
			return written < 0 ? -errno : -ENOSPC;
		left -= written;
	}
	return 0;
}

static int try_file(const char *path)
{
	char *name = temporary_name(path);
	int fd = name ? mkstemp(name) : -1;
	int code = 0;

	if (fd < 0) {
		code = -errno;
	} else {
		code = try_room(fd);
		close(fd);
		unlink(name);
	}
	free(name);
	return code;
}

static int try_path(const char *path)
{
	struct place place;
	int code = save_find(path, &place);

	if (!code)
		code = try_file(place.path);
	else if (code > 0)
		code = access(place.path, W_OK) ? -errno : 0;
	free(place.path);
	return code;
}

int save_check(const char *path, struct error *error)
{
	int code = save_is_stdout(path) ? 0 : try_path(path);

	return code ? error_set_errno(error, code, "cannot write %s", path) : 0;
}

bool save_is_same(const char *path, const char *other)
{
	struct stat a;
	struct stat b;

	if (stat(path, &a) || stat(other, &b))
		return !strcmp(path, other);
	return S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}
