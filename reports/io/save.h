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

/* 0, or a negative errno: also of what is found out only when out is flushed. */
typedef int save_writer(FILE *out, const void *what);

/*
 * Writes a document, which is its from then on, with a line's end. 0, or -ENOMEM, also for NULL:
 * what is wrong with out is for save_finish to tell.
 */
int save_json(FILE *out, json_t *document, size_t flags);

/* Flushes it: 0 if it has taken all that was written since errno was 0. */
int save_finish(FILE *out);

/*
 * path "-" is standard output, and so is a link to it. A device, a pipe, or what a process has
 * open (/dev/fd/3) is written to as it is, behind what is there. Of any other link the file that
 * it leads to is made, or replaced.
 */
int save_path(const char *path, save_writer *write, const void *what, struct error *error);

bool save_is_stdout(const char *path);

/* Whether what is written replaces what was: else all of it is there, one after the other. */
bool save_replaces(const char *path);

/* Whether both are one file, which writing would lose; a device or a pipe is none. */
bool save_is_same(const char *path, const char *other);

/* Whether the path could be written to, before there is anything to write. */
int save_check(const char *path, struct error *error);

#endif
