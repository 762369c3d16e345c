/* SPDX-License-Identifier: MIT */
#include "core/base/sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/printable.h"

#define BLANKS " \t\r\n"

struct sysfs_path {
	char text[PATH_MAX];
};

/* A path that is too long becomes empty, which names no file. */
static FORMAT(2, 0) struct sysfs_path make_path(const char *root, const char *format, va_list args)
{
	struct sysfs_path path;
	size_t used = (size_t)snprintf(path.text, sizeof(path.text), "%s", root);

	if (used < sizeof(path.text))
		used += (size_t)vsnprintf(path.text + used, sizeof(path.text) - used, format, args);
	if (used >= sizeof(path.text))
		path.text[0] = '\0';
	return path;
}

/* Builds the path from the format and arguments of the calling function. */
#define MAKE_PATH(path)                                 \
	do {                                            \
		va_list args;                           \
		va_start(args, format);                 \
		(path) = make_path(root, format, args); \
		va_end(args);                           \
	} while (0)

static size_t read_bytes(const struct sysfs_path *path, void *bytes, size_t size)
{
	/* O_NONBLOCK: do not wait for the writer of a pipe. */
	int fd = open(path->text, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t have = 0;

	if (fd < 0)
		return 0;
	while (have < size) {
		ssize_t got = read(fd, (char *)bytes + have, size - have);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		have += (size_t)got;
	}
	close(fd);
	return have;
}

/* Copies the trimmed first line of text to line, which may be the same memory. */
static bool take_line(const char *text, char *line, size_t size)
{
	size_t length;

	text += strspn(text, " \t");
	length = strcspn(text, "\n");
	while (length && strchr(BLANKS, text[length - 1]))
		length--;
	if (length >= size)
		length = size - 1;
	memmove(line, text, length);
	line[length] = '\0';
	printable_copy(line, size, line);
	return length > 0;
}

static bool read_line(const struct sysfs_path *path, char *text, size_t size)
{
	text[read_bytes(path, text, size - 1)] = '\0';
	return take_line(text, text, size);
}

bool sysfs_line(const char *root, char *text, size_t size, const char *format, ...)
{
	struct sysfs_path path;

	MAKE_PATH(path);
	return read_line(&path, text, size);
}

bool sysfs_number(const char *root, int64_t *number, const char *format, ...)
{
	char text[SYSFS_TEXT];
	struct sysfs_path path;
	char *end;
	int64_t value;

	MAKE_PATH(path);
	if (!read_line(&path, text, sizeof(text)))
		return false;
	errno = 0;
	value = strtoll(text, &end, 0);
	if (errno || *end)
		return false;
	*number = value;
	return true;
}

size_t sysfs_bytes(const char *root, void *bytes, size_t size, const char *format, ...)
{
	struct sysfs_path path;

	MAKE_PATH(path);
	return read_bytes(&path, bytes, size);
}

char *sysfs_text(const char *root, size_t limit, const char *format, ...)
{
	char *text = malloc(limit + 1);
	struct sysfs_path path;
	size_t length;

	if (!text)
		return NULL;
	MAKE_PATH(path);
	length = read_bytes(&path, text, limit);
	text[length] = '\0';
	if (!length) {
		free(text);
		return NULL;
	}
	return text;
}

/* Returns the text after the word, if the line starts with it. */
static const char *match(const char *line, const char *word)
{
	size_t length = strlen(word);
	size_t blanks;
	const char *rest;

	if (strncmp(line, word, length) != 0)
		return NULL;
	blanks = strspn(line + length, " \t");
	rest = line + length + blanks;
	if (*rest == ':')
		return rest + 1;
	/* "model name : x" does not match "model". */
	return blanks && !memchr(rest, ':', strcspn(rest, "\n")) ? rest : NULL;
}

bool sysfs_field(const char *text, const char *word, char *value, size_t size)
{
	while (text && *text) {
		const char *found = match(text, word);

		if (found)
			return take_line(found, value, size);
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return false;
}

static bool read_target(const struct sysfs_path *path, char target[static PATH_MAX])
{
	ssize_t length = readlink(path->text, target, PATH_MAX - 1);

	target[length > 0 ? length : 0] = '\0';
	return length > 0;
}

bool sysfs_link(const char *root, char *text, size_t size, const char *format, ...)
{
	char target[PATH_MAX];
	struct sysfs_path path;
	const char *last;

	MAKE_PATH(path);
	if (!read_target(&path, target))
		return false;
	last = strrchr(target, '/');
	return take_line(last ? last + 1 : target, text, size);
}

bool sysfs_target(const char *root, char *text, size_t size, const char *format, ...)
{
	char target[PATH_MAX];
	struct sysfs_path path;

	MAKE_PATH(path);
	return read_target(&path, target) && take_line(target, text, size);
}

bool sysfs_exists(const char *root, const char *format, ...)
{
	struct sysfs_path path;

	MAKE_PATH(path);
	return !access(path.text, F_OK);
}

int sysfs_try(const char *root, const char *format, ...)
{
	struct sysfs_path path;
	int fd;

	MAKE_PATH(path);
	fd = open(path.text, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strverscmp(a, b);
}

static bool add_name(struct sysfs_names *names, const char *name)
{
	char(*larger)[SYSFS_NAME];

	if (name[0] == '.' || strlen(name) >= SYSFS_NAME)
		return true;
	if (names->count == SYSFS_NAMES)
		return false;
	larger = reallocarray(names->name, names->count + 1, sizeof(*larger));
	if (!larger)
		return false;
	names->name = larger;
	snprintf(larger[names->count++], sizeof(*larger), "%s", name);
	return true;
}

void sysfs_names_open(struct sysfs_names *names, const char *root, const char *format, ...)
{
	struct dirent *entry;
	struct sysfs_path path;
	DIR *folder;

	*names = (struct sysfs_names){0};
	MAKE_PATH(path);
	folder = opendir(path.text);
	if (!folder)
		return;
	while ((entry = readdir(folder)) && add_name(names, entry->d_name))
		;
	closedir(folder);
	if (names->count)
		qsort(names->name, names->count, sizeof(*names->name), compare_names);
}

void sysfs_names_close(struct sysfs_names *names)
{
	free(names->name);
	*names = (struct sysfs_names){0};
}
