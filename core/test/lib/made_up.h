/* SPDX-License-Identifier: MIT */
/* A folder of fake /sys, /proc and /dev files that stands for a machine. */
#ifndef CORE_TEST_LIB_MADE_UP_H
#define CORE_TEST_LIB_MADE_UP_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/test/lib/check.h"

struct made_up {
	char root[32];
};

static inline void made_up_open(struct made_up *machine)
{
	snprintf(machine->root, sizeof(machine->root), "/tmp/made-up.XXXXXX");
	assert_non_null(mkdtemp(machine->root));
}

/* Returns the path below the root and creates its folders. */
static inline void made_up_path(const struct made_up *machine, const char *path, char full[512])
{
	snprintf(full, 512, "%s%s", machine->root, path);
	for (char *slash = strchr(full + strlen(machine->root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
}

static inline void made_up_bytes(const struct made_up *machine, const char *path, const void *bytes,
				 size_t length)
{
	char full[512];
	FILE *file;

	made_up_path(machine, path, full);
	file = fopen(full, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

/* Writes text with a trailing newline, as the kernel does. */
static inline void made_up_file(const struct made_up *machine, const char *path, const char *text)
{
	char line[8192];

	snprintf(line, sizeof(line), "%s\n", text);
	made_up_bytes(machine, path, line, strlen(line));
}

/*
 * Writes many files: each line has a path, a space and the contents, with | for newlines.
 * If bytes is not NULL, every file contains those bytes instead.
 */
static inline void made_up_files(const struct made_up *machine, const char *lines,
				 const void *bytes, size_t length)
{
	char *copy = strdup(lines);
	char *rest = copy;
	char *line;

	assert_non_null(copy);
	while ((line = strsep(&rest, "\n")) && *line) {
		const char *path = strsep(&line, " ");

		for (char *bar = line; bar && (bar = strchr(bar, '|'));)
			*bar = '\n';
		if (bytes)
			made_up_bytes(machine, path, bytes, length);
		else
			made_up_file(machine, path, line ? line : "");
	}
	free(copy);
}

static inline void made_up_folder(const struct made_up *machine, const char *path)
{
	char full[512];

	made_up_path(machine, path, full);
	mkdir(full, 0755);
}

static inline void made_up_link(const struct made_up *machine, const char *path, const char *target)
{
	char full[512];

	made_up_path(machine, path, full);
	assert_int_equal(symlink(target, full), 0);
}

static inline int made_up_remove(const char *path, const struct stat *status, int kind,
				 struct FTW *walk)
{
	return remove(path);
}

static inline void made_up_close(struct made_up *machine)
{
	nftw(machine->root, made_up_remove, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
