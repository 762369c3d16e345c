/* SPDX-License-Identifier: MIT */
/*
 * How much memory a program can still have: of the machine, and of the control groups that
 * it is in. Who touches more than that is killed, or has others killed.
 */
#ifndef CORE_BASE_FREE_MEMORY_H
#define CORE_BASE_FREE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"

/*
 * Bytes; UINT64_MAX where nothing tells. root stands before /proc and /sys: it is empty but
 * for tests.
 */
uint64_t free_memory_available(const char *root);

/* The same of all that it could ever have, if there were no others. */
uint64_t free_memory_most(const char *root);

/* A line of /proc/meminfo, in KiB; 0 if it is not there. */
uint64_t free_memory_info(const char *root, const char *name);

/* Whether this process may lock more than RLIMIT_MEMLOCK: it has the capability. */
bool free_memory_is_exempt(const char *root);

/*
 * What an allocation did not get, and what helps: "cannot" and those words. Of a case alone, that
 * could be a smaller one. Returns -ENOMEM.
 */
int free_memory_refused(struct error *error, const char *what);

#endif
