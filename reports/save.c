/* SPDX-License-Identifier: MIT */
#include "reports/save.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a short result takes. */
#define LEAST_ROOM (64 << 10)

int save_finish(FILE *out)
{
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}

/*
 * A device or a pipe is written to as it is: a file renamed over it would take its
 * place. -EISDIR is for a folder.
 */
static int is_special(const char *path)
{
	struct stat found;

	if (stat(path, &found) || S_ISREG(found.st_mode))
		return 0;
	return S_ISDIR(found.st_mode) ? -EISDIR : 1;
}

static int write_special(const char *path, save_writer *write, const void *what)
{
	FILE *out = fopen(path, "we");
	int code;

	if (!out)
		return -errno;
	code = write(out, what);
	if (fclose(out) && !code)
		code = -errno;
	return code;
}

/* It can only be read by setting it. */
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
		code = write(out, what);
		/* mkstemp makes it private; a result is as public as any new file. */
		if (!code && fchmod(fd, 0666 & ~current_umask()))
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
	return !save_is_stdout(path) && !is_special(path);
}

/* A link stays one: what it leads to is replaced, if there is such a file. */
static char *follow(const char *path)
{
	char *place = realpath(path, NULL);

	return place ? place : strdup(path);
}

static int write_path(const char *path, save_writer *write, const void *what)
{
	int special = is_special(path);
	char *place;
	int code;

	if (save_is_stdout(path))
		return write(stdout, what);
	if (special < 0)
		return special;
	if (special)
		return write_special(path, write, what);
	place = follow(path);
	code = place ? write_file(place, write, what) : -ENOMEM;
	free(place);
	return code;
}

int save_path(const char *path, save_writer *write, const void *what, struct error *error)
{
	int code = write_path(path, write, what);

	return code ? error_set_errno(error, code, "cannot write %s", path) : 0;
}

/* A full disk takes an empty file. */
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

static int try_path(const char *path)
{
	int special = is_special(path);
	int code = 0;
	char *place;
	char *name;
	int fd;

	if (special)
		return special < 0 ? special : access(path, W_OK) ? -errno : 0;
	place = follow(path);
	name = place ? temporary_name(place) : NULL;
	fd = name ? mkstemp(name) : -1;
	if (fd < 0) {
		code = -errno;
	} else {
		code = try_room(fd);
		close(fd);
		unlink(name);
	}
	free(name);
	free(place);
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
