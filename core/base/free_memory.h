/* SPDX-License-Identifier: MIT */
/*
 * Memory that a program can still allocate, limited by the machine and by the control
 * groups of the process. If a program uses more, the kernel kills that program or others.
 */
#ifndef CORE_BASE_FREE_MEMORY_H
#define CORE_BASE_FREE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"

/*
 * Returns the available bytes, or UINT64_MAX if unknown. root is prepended to /proc and
 * /sys; only tests set it.
 */
uint64_t free_memory_available(const char *root);

/* Returns the bytes that a program could use if no others were running. */
uint64_t free_memory_most(const char *root);

/* Returns a line of /proc/meminfo, in KiB, or 0 if it is missing. */
uint64_t free_memory_info(const char *root, const char *name);

/* Returns whether this process has the capability to exceed RLIMIT_MEMLOCK. */
bool free_memory_is_exempt(const char *root);

/*
 * Sets the error "cannot WHAT" for a failed allocation, with the advice to request less or
 * to raise a limit. Returns -ENOMEM.
 */
int free_memory_refused(struct error *error, const char *what);

#endif
