/* SPDX-License-Identifier: MIT */
/*
 * Reads files of /sys, /proc and /dev below a root: "" for this machine, or a folder of
 * fake files in tests. A file that is missing, unreadable or empty gives false or NULL,
 * never an error. Every read is bounded, and lines contain only printable ASCII. There is
 * no state; functions may be called from any thread.
 */
#ifndef CORE_BASE_SYSFS_H
#define CORE_BASE_SYSFS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/compiler.h"

#define SYSFS_TEXT  2048
#define SYSFS_NAME  64
#define SYSFS_NAMES 1024

/* Names in a folder, sorted by the numbers in them. */
struct sysfs_names {
	char (*name)[SYSFS_NAME];
	size_t count;
};

/* Reads the first line, truncated to size and trimmed. */
bool sysfs_line(const char *root, char *text, size_t size, const char *format, ...) FORMAT(4, 5);

/* Reads a file with one integer, decimal or hexadecimal with 0x. */
bool sysfs_number(const char *root, int64_t *number, const char *format, ...) FORMAT(3, 4);

/* Reads at most size raw bytes. Returns their number. */
size_t sysfs_bytes(const char *root, void *bytes, size_t size, const char *format, ...)
	FORMAT(4, 5);

/* Returns the file as a string, truncated to limit, for sysfs_field. The caller frees it. */
char *sysfs_text(const char *root, size_t limit, const char *format, ...) FORMAT(3, 4);

/*
 * Finds the first line "word : value" or "word value" and returns its value, like
 * sysfs_line. text may be NULL.
 */
bool sysfs_field(const char *text, const char *word, char *value, size_t size);

/* Returns the last component of a symbolic link's target. */
bool sysfs_link(const char *root, char *text, size_t size, const char *format, ...) FORMAT(4, 5);

/* Returns the whole target. */
bool sysfs_target(const char *root, char *text, size_t size, const char *format, ...) FORMAT(4, 5);

bool sysfs_exists(const char *root, const char *format, ...) FORMAT(2, 3);

/* Tries to open the file for reading and writing. Returns 0 or a negative errno. */
int sysfs_try(const char *root, const char *format, ...) FORMAT(2, 3);

/*
 * Skips names that begin with a dot or are longer than SYSFS_NAME; returns at most
 * SYSFS_NAMES.
 */
void sysfs_names_open(struct sysfs_names *names, const char *root, const char *format, ...)
	FORMAT(3, 4);
void sysfs_names_close(struct sysfs_names *names);

#endif
