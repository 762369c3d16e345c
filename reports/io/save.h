/* SPDX-License-Identifier: MIT */
/*
 * Saves files under a temporary name and renames them, so that no reader sees a partial file.
 */
#ifndef REPORTS_IO_SAVE_H
#define REPORTS_IO_SAVE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "core/base/error.h"

/* Returns 0 or a negative errno. Stream errors are detected later, when it is flushed. */
typedef int save_writer(FILE *out, const void *what);

/*
 * Writes the document and a newline, and releases the document. Returns 0, or -ENOMEM if memory
 * runs out or the document is NULL.
 */
int save_json(FILE *out, json_t *document, size_t flags);

/*
 * Writes to a path. "-" is standard output, and so is a link to it. A device, a pipe or an open
 * descriptor (/dev/fd/3) is written in place, appending. Through any other link, the target is
 * created or replaced.
 */
int save_path(const char *path, save_writer *write, const void *what, struct error *error);

/*
 * Writes a command's --output, or standard output (NULL), whose write errors main reports.
 */
int save_output(const char *path, save_writer *write, const void *what, struct error *error);

bool save_is_stdout(const char *path);

/* Whether saving replaces the file; otherwise it appends. */
bool save_replaces(const char *path);

/* Whether both paths are the same regular file, which writing would overwrite. */
bool save_is_same(const char *path, const char *other);

/* Checks that the path can be written, before there is anything to write. */
int save_check(const char *path, struct error *error);

#endif
