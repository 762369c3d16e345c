/* SPDX-License-Identifier: MIT */
/*
 * Files of the kernel's that tell one thing in a line, behind its name: "MemTotal: 16 kB". Of a
 * file that tells one thing only the name is empty.
 */
#ifndef CORE_BASE_PROC_LINES_H
#define CORE_BASE_PROC_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is behind the name, as it stands there; false: there is no such line. */
bool proc_lines_text(const char *path, const char *name, char *text, size_t size);

/* The number that it is; false as well where it is none. */
bool proc_lines_number(const char *path, const char *name, uint64_t *value);

#endif
