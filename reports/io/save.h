/* SPDX-License-Identifier: MIT */
/*
 * Files that are written to a temporary name beside their own and renamed, so that
 * nobody ever sees half of one.
 */
#ifndef REPORTS_IO_SAVE_H
#define REPORTS_IO_SAVE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "core/base/error.h"

/* Returns 0 or a negative errno. Errors of out are found later, when it is flushed. */
typedef int save_writer(FILE *out, const void *what);

/*
 * Writes the document and a newline, and releases the document. Returns 0, or -ENOMEM if memory
 * runs out or the document is NULL.
 */
int save_json(FILE *out, json_t *document, size_t flags);

/*
 * path "-" is standard output, and so is a link to it. A device, a pipe, or what a process has
 * open (/dev/fd/3) is written to as it is, behind what is there. Of any other link the file that
 * it leads to is made, or replaced.
 */
int save_path(const char *path, save_writer *write, const void *what, struct error *error);

/*
 * The same for a command's --output, or standard output (NULL): main reports what that does not
 * take.
 */
int save_output(const char *path, save_writer *write, const void *what, struct error *error);

bool save_is_stdout(const char *path);

/* Whether what is written replaces what was: else all of it is there, one after the other. */
bool save_replaces(const char *path);

/* Whether both are one file, which writing would lose; a device or a pipe is none. */
bool save_is_same(const char *path, const char *other);

/* Whether the path could be written to, before there is anything to write. */
int save_check(const char *path, struct error *error);

#endif
