/* SPDX-License-Identifier: MIT */
/*
 * Files of /sys, /proc and /dev below a root: "" for this machine, a folder for a test
 * that makes them up. What is missing, cannot be read or is empty is false or NULL,
 * never an error. Every read has a bound, and what comes out as a line is printable
 * ASCII, whatever the file holds. Nothing is kept; from any thread.
 */
#ifndef CORE_BASE_SYSFS_H
#define CORE_BASE_SYSFS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/compiler.h"

#define SYSFS_TEXT  2048
#define SYSFS_NAME  64
#define SYSFS_NAMES 1024

/* What a folder holds, in the order of the numbers in its names. */
struct sysfs_names {
	char (*name)[SYSFS_NAME];
	size_t count;
};

/* The first line, cut to size, without blanks at its ends. */
bool sysfs_line(const char *root, char *text, size_t size, const char *format, ...) FORMAT(4, 5);

/* A file that is one whole number, decimal or with 0x. */
bool sysfs_number(const char *root, int64_t *number, const char *format, ...) FORMAT(3, 4);

/* At most size bytes as they stand; returns how many. */
size_t sysfs_bytes(const char *root, void *bytes, size_t size, const char *format, ...)
	FORMAT(4, 5);

/* The file as a string, cut to limit, for sysfs_field; the caller frees it. */
char *sysfs_text(const char *root, size_t limit, const char *format, ...) FORMAT(3, 4);

/*
 * From lines such as "word : value" or "word value": the value of the first with that
 * word, as sysfs_line would give it. A NULL text has none.
 */
bool sysfs_field(const char *text, const char *word, char *value, size_t size);

/* The last part of what a symbolic link points to. */
bool sysfs_link(const char *root, char *text, size_t size, const char *format, ...) FORMAT(4, 5);

bool sysfs_exists(const char *root, const char *format, ...) FORMAT(2, 3);

/* Opens it to read and write, and closes it. 0 or a negative errno. */
int sysfs_try(const char *root, const char *format, ...) FORMAT(2, 3);

/* None that begins with a dot or is longer than SYSFS_NAME; at most SYSFS_NAMES. */
void sysfs_names_open(struct sysfs_names *names, const char *root, const char *format, ...)
	FORMAT(3, 4);
void sysfs_names_close(struct sysfs_names *names);

#endif
