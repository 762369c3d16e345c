/* SPDX-License-Identifier: MIT */
/*
 * Files of the kernel that programs read instead of calling libibverbs: the device node and, in
 * sysfs, the types and interfaces of GIDs (UCX) and counters of the port (perftest). The functions
 * of libc that they use for them find soft0's; all other paths reach the kernel.
 */
#ifndef CORE_SOFT_FILES_H
#define CORE_SOFT_FILES_H

#include <sys/stat.h>

#include "core/soft/export.h"

/* Headers rename the functions to open64 and so on, so the labels set their names. */
SOFT_EXPORT int soft_files_open(const char *path, int flags, ...) __asm__("open");
SOFT_EXPORT int soft_files_stat(const char *path, struct stat *status) __asm__("stat");
SOFT_EXPORT int soft_files_access(const char *path, int mode) __asm__("access");
SOFT_EXPORT ssize_t soft_files_read(int fd, void *into, size_t size) __asm__("read");
SOFT_EXPORT char *soft_files_realpath(const char *path, char *resolved) __asm__("realpath");

#endif
